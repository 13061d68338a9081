"""Whether a statement speaks of what its source speaks of: nouns that are missing there, or stand in the place of another."""

import re
from collections.abc import Iterator, Sequence

from custom_postprocessors.evidence import Violation
from custom_postprocessors.near_copies import exchanged_words
from custom_postprocessors.roles import Roles, clash
from custom_postprocessors.support import EvidenceUnit
from custom_postprocessors.value_roles import BURDEN, Statement, Thresholds
from custom_postprocessors.values import find_values
from custom_postprocessors.words import Word, WordReader, reach

_UNITS = frozenset(("Prozent", "Prozentpunkte", "Euro", "Cent", "EUR", "Kilometer"))
_TIME_UNITS = frozenset(("Stunde", "Tag", "Woche", "Monat", "Quartal", "Jahr"))


_LIMIT = re.compile(r"(?:Ober|Höchst)?[Gg]renzen?|Höchstbetrag(?:es|s)?|Deckel(?:ung)?|Limit|Maximum|Höchstmaß")
_LIMITED = re.compile(
    r"\b(?:bis|höchstens|maximal|überschr[ie]|überst[ie]|gedeckelt|begrenzt|beschränkt|mehr als|über)", re.IGNORECASE
)
"""A source that sets a limit need not call it one."""


class SubjectChecker:
    """Compares the nouns of a statement with those of the units that carry it."""

    def __init__(self, words: WordReader, roles: Roles, thresholds: Thresholds) -> None:
        self._words = words
        self._roles = roles
        self._limits = thresholds

    def violations(
        self,
        statement: Statement,
        content: Sequence[Word],
        best: EvidenceUnit,
        chosen: Sequence[EvidenceUnit],
        paragraph: frozenset[str],
    ) -> Iterator[Violation]:
        """Rare nouns that no carrying unit knows, and words that the best one has another in the place of."""
        yield from self._missing_subjects(statement.text, content, chosen, paragraph)
        yield from self._exchanged(statement, best)

    def _missing_subjects(
        self, text: str, words: Sequence[Word], chosen: Sequence[EvidenceUnit], paragraph: frozenset[str]
    ) -> Iterator[Violation]:
        known = paragraph.union(*(unit.stems | unit.context for unit in chosen))
        section = frozenset[str]().union(*{self._words.section_stems(unit.passage.shown_text()) for unit in chosen})
        limited = any(_LIMITED.search(unit.text) for unit in chosen)
        for word in words:
            if not word.is_noun or word.start == 0:
                continue
            if (
                (limited and _LIMIT.fullmatch(word.text))
                or self._is_unnamed_side(text, word)
                or _put_together(word, known, section)
            ):
                continue
            if word.weight >= self._limits.subject_weight and reach(word, known) < 0.4:
                written = word.text.rstrip(".")
                message = f"„{written}“ kommt an der zitierten Stelle nicht vor."
                yield Violation(kind="subject", message=message, value=written)

    def _is_unnamed_side(self, text: str, word: Word) -> bool:
        """Whether a word only names the employee or employer, where nobody bears anything; the roles compare the rest."""
        return not word.parts and self._roles.of(word.text).keys() == {"side"} and not BURDEN.search(text)

    def _exchanged(self, statement: Statement, best: EvidenceUnit) -> Iterator[Violation]:
        """Words that stand where the source, with the same words around, has another one that is not the same."""
        for written, said in exchanged_words(statement.text, best.text):
            if self._is_other(written, said, best):
                message = f"Die zitierte Stelle sagt das von „{said}“, nicht von „{written}“."
                yield Violation(kind="subject", message=message, value=written)

    def _is_other(self, written: str, said: str, best: EvidenceUnit) -> bool:
        if find_values(written) or find_values(said) or written in _UNITS or said in _UNITS:
            return False  # the name of a month is a value, and checked as one; so is what stands with a unit
        if clash(self._roles.of(written), self._roles.of(said)) is not None or {written, said} <= _TIME_UNITS:
            return True
        mine, theirs = self._words.words(written), self._words.words(said)
        if not mine or not theirs or not (written[0].isupper() and said[0].isupper()):
            return False
        one, other = mine[0], theirs[0]
        if self._words.is_neutral(one) or self._words.is_neutral(other) or reach(one, best.stems) >= 0.4:
            return False
        return reach(one, frozenset(other.stems)) < 0.8 and reach(other, frozenset(one.stems)) < 0.8


def _put_together(word: Word, known: frozenset[str], section: frozenset[str]) -> bool:
    """Whether a compound is made of a word of the carrying units and others of their section."""
    return any(part in known for part in word.parts) and all(part in section for part in word.parts)
