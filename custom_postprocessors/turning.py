"""Whether a statement denies, restricts and bounds as the units that carry it do."""

import re
from collections.abc import Iterator, Sequence

from custom_postprocessors.evidence import Violation
from custom_postprocessors.near_copies import turned_words
from custom_postprocessors.negation import Wording, added_turns, dropped_turns
from custom_postprocessors.polarity import (
    bound,
    denied_clauses,
    denies_more,
    found_turns,
    is_doubly_denied,
    says_only,
    soft_bound,
    soft_denials,
)
from custom_postprocessors.segments import cell_of
from custom_postprocessors.support import EvidenceUnit
from custom_postprocessors.value_roles import COMPARABLE, Statement, Thresholds
from custom_postprocessors.values import find_values, proves
from custom_postprocessors.words import WordReader, weighted_coverage

_STRESS_REACH = 6
_FREE = re.compile(r"(?P<of>\w{4,}?)s?(?:frei|los)(?:e[nrsm]?)?\.?")
"""„formfrei“, „folgenlos“: without Form, without Folge."""
_LEAST_SHARED = 0.5
_TURN_WORDS = {"not": "nicht", "only": "nur", "except": "außer"}


class TurnChecker:
    """Compares the turning words (nicht, kein, nur, außer, mindestens, höchstens) of a statement with its source's."""

    def __init__(self, words: WordReader, thresholds: Thresholds) -> None:
        self._words = words
        self._limits = thresholds

    def violations(self, statement: Statement, best: EvidenceUnit, chosen: Sequence[EvidenceUnit]) -> Iterator[Violation]:
        """Negations, restrictions, exceptions and bounds that the statement drops or adds."""
        yield from self._bounds(statement, best)
        claim = Wording(statement.text, self._words.words(statement.text))
        source = Wording(best.text, best.words)
        nearby = " ".join(unit.text for unit in chosen)
        for turn in dict.fromkeys(dropped_turns(claim, source)):
            yield _violation(f"Die zitierte Stelle sagt hier „{_TURN_WORDS[turn]}“; das fehlt in der Aussage.")
        for turn in dict.fromkeys(added_turns(claim, source)):
            yield _violation(f"Die zitierte Stelle sagt hier nicht „{_TURN_WORDS[turn]}“.")
        for word in dict.fromkeys(turned_words(best.text, statement.text)):
            yield _violation(f"Die zitierte Stelle sagt hier „{word}“; das fehlt in der Aussage.")
        for word in dict.fromkeys(turned_words(statement.text, best.text)):
            yield _violation(f"Die zitierte Stelle sagt hier nicht „{word}“.")
        if weighted_coverage(best.words, claim.stems) >= self._limits.near_copy and _denials(claim.text) != _denials(source.text):
            yield _violation("Die Aussage verneint anders als die zitierte Stelle.")
        denied = [clause for clause in denied_clauses(statement.text) if not self._affirms(clause, chosen)]
        if not all(self._denies(clause, chosen) for clause in denied):
            yield _violation("Die zitierte Stelle verneint das nicht.")
        if _restricts(statement) and not says_only(nearby):
            yield _violation("Die zitierte Stelle sagt nicht „nur“.")

    def _denies(self, clause: str, chosen: Sequence[EvidenceUnit]) -> bool:
        """Whether the source denies something of which a denying clause of the claim speaks, and the clause not once more.

        „nicht ausgenommen“ is not proven by „ausgenommen“. A clause without words of its own is proven by any denial.
        """
        mine = self._content_stems(clause)
        for unit in chosen:
            for said in soft_denials(unit.text):
                theirs = self._content_stems(said)
                same = not mine or not theirs or not mine.isdisjoint(theirs)
                if same and not denies_more(clause, said):
                    return True
        return False

    def _affirms(self, clause: str, chosen: Sequence[EvidenceUnit]) -> bool:
        """Whether a clause denies a denial („nicht verloren“) and no carrying unit denies anything of what it speaks of."""
        if not is_doubly_denied(clause):
            return False
        mine = self._content_stems(clause)
        said = (self._content_stems(denial) for unit in chosen for denial in soft_denials(unit.text))
        return all(mine.isdisjoint(theirs) for theirs in said)

    def _content_stems(self, text: str) -> frozenset[str]:
        """The stems of a clause without neutral words and values."""
        values = find_values(text)
        outside = [word for word in self._words.words(text) if not any(v.start <= word.start < v.end for v in values)]
        stems = {stem for word in outside if not self._words.is_neutral(word) for stem in word.stems}
        for word in outside:
            free = _FREE.fullmatch(word.text)
            if free is not None:
                stems |= self._words.stems(free["of"].capitalize())
        return frozenset(stems)

    def _bounds(self, statement: Statement, best: EvidenceUnit) -> Iterator[Violation]:
        for value in statement.values:
            if value.kind not in COMPARABLE or value.unit.startswith("."):
                continue
            places = [found for found in best.values if proves(found, value)]
            if not places:
                continue
            mine, soft_mine = bound(statement.text[: value.start]), soft_bound(statement.text[: value.start])
            sources = [text for found in places for text in _before(best, found.start)]
            if not any(_agree(mine, soft_mine, bound(text), soft_bound(text)) for text in sources):
                yield Violation(
                    kind="negation", message=f"„mindestens/höchstens“ bei „{value.text}“ stimmt nicht.", value=value.text
                )

    def with_denial(
        self, statement: Statement, chosen: tuple[EvidenceUnit, ...], units: Sequence[EvidenceUnit]
    ) -> tuple[EvidenceUnit, ...]:
        """The chosen units, and the sentence of its paragraph where only that denies what the statement denies."""
        best = chosen[0]
        for clause in denied_clauses(statement.text):
            if self._denies(clause, chosen):
                continue
            words = [word for word in self._words.words(clause) if not self._words.is_neutral(word)]
            for unit in units:
                if (
                    _is_beside(unit, best)
                    and self._denies(clause, (unit,))
                    and weighted_coverage(words, unit.stems) >= _LEAST_SHARED
                ):
                    return (*chosen, unit)
        return chosen


def _violation(message: str) -> Violation:
    return Violation(kind="negation", message=message)


def _is_beside(unit: EvidenceUnit, best: EvidenceUnit) -> bool:
    """Whether it is another sentence of the same paragraph."""
    return unit.passage.node_id == best.passage.node_id and unit.paragraph == best.paragraph and unit is not best


def _restricts(statement: Statement) -> bool:
    """Whether a statement says „nur“ of more than a value: „nur 50 %“ stresses what „50 %“ says."""
    return any(
        turn == "only" and not any(0 <= value.start - end <= _STRESS_REACH for value in statement.values)
        for turn, _, end in found_turns(statement.text)
    )


def _denials(text: str) -> int:
    return sum(turn == "not" for turn, _, _ in found_turns(text))


def _before(unit: EvidenceUnit, start: int) -> tuple[str, ...]:
    """What stands before a value in its cell or sentence; a row's label goes before its value, and before each of several."""
    cell = cell_of(unit, start)
    if cell is None:
        return (unit.text[:start],)
    offset = unit.unit.cells[cell][0] - unit.unit.start
    label = unit.passage.text[slice(*unit.unit.cells[0])] if cell else ""
    own = f"{label} {unit.text[offset:start]}"
    return (own, f"{label} ") if cell else (own,)


def _agree(mine: str | None, soft_mine: str | None, theirs: str | None, soft_theirs: str | None) -> bool:
    if mine is not None:
        return soft_theirs == mine
    if theirs is not None:
        return soft_mine == theirs
    return soft_mine is None or soft_theirs is None or soft_mine == soft_theirs
