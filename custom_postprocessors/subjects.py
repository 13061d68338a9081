"""Whether a statement speaks of what its source speaks of: nouns that are missing there, or stand in the place of another."""

from collections.abc import Iterator, Sequence

from custom_postprocessors.evidence import Violation
from custom_postprocessors.near_copies import exchanged_words
from custom_postprocessors.roles import Roles, clash
from custom_postprocessors.support import EvidenceUnit
from custom_postprocessors.value_roles import Statement, Thresholds
from custom_postprocessors.words import Word, WordReader, reach

_TIME_UNITS = frozenset(("Stunde", "Tag", "Woche", "Monat", "Quartal", "Jahr"))


class SubjectChecker:
    """Compares the nouns of a statement with those of the units that carry it."""

    def __init__(self, words: WordReader, roles: Roles, thresholds: Thresholds) -> None:
        self._words = words
        self._roles = roles
        self._limits = thresholds

    def violations(
        self, statement: Statement, content: Sequence[Word], best: EvidenceUnit, chosen: Sequence[EvidenceUnit]
    ) -> Iterator[Violation]:
        """Rare nouns that no carrying unit knows, and words that the best one has another in the place of."""
        yield from self._missing_subjects(content, chosen)
        yield from self._exchanged(statement, best)

    def _missing_subjects(self, words: Sequence[Word], chosen: Sequence[EvidenceUnit]) -> Iterator[Violation]:
        known = frozenset(stem for unit in chosen for stem in unit.stems | unit.context)
        for word in words:
            if not word.is_noun or word.start == 0:
                continue
            if word.weight >= self._limits.subject_weight and reach(word, known) < 0.4:
                written = word.text.rstrip(".")
                message = f"„{written}“ kommt an der zitierten Stelle nicht vor."
                yield Violation(kind="subject", message=message, value=written)

    def _exchanged(self, statement: Statement, best: EvidenceUnit) -> Iterator[Violation]:
        """Words that stand where the source, with the same words around, has another one that is not the same."""
        for written, said in exchanged_words(statement.text, best.text):
            if self._is_other(written, said, best):
                message = f"Die zitierte Stelle sagt das von „{said}“, nicht von „{written}“."
                yield Violation(kind="subject", message=message, value=written)

    def _is_other(self, written: str, said: str, best: EvidenceUnit) -> bool:
        if clash(self._roles.of(written), self._roles.of(said)) is not None or {written, said} <= _TIME_UNITS:
            return True
        mine, theirs = self._words.words(written), self._words.words(said)
        if not mine or not theirs or not (written[0].isupper() and said[0].isupper()):
            return False
        one, other = mine[0], theirs[0]
        if self._words.is_neutral(one) or self._words.is_neutral(other) or reach(one, best.stems) >= 0.4:
            return False
        return reach(one, frozenset(other.stems)) < 0.8 and reach(other, frozenset(one.stems)) < 0.8
