"""One statement of a claim against the units of the cited sections: who carries it, and what is wrong with it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from custom_postprocessors.evidence import Violation
from custom_postprocessors.negation import Wording, added_turns, dropped_turns
from custom_postprocessors.norms import same_norm
from custom_postprocessors.polarity import bound, found_turns, says_not, says_only, soft_bound
from custom_postprocessors.roles import Roles
from custom_postprocessors.segments import cell_of
from custom_postprocessors.sentences import split_units
from custom_postprocessors.support import EvidenceUnit
from custom_postprocessors.value_roles import COMPARABLE, RoleChecker, Statement, Thresholds, noun_weight
from custom_postprocessors.values import FoundValue, find_values, proves
from custom_postprocessors.words import Word, WordReader, coverage, weighted_coverage


@dataclass(frozen=True, slots=True)
class Verdict:
    """The units that carry a statement (may be empty) and everything against it."""

    units: tuple[EvidenceUnit, ...]
    violations: tuple[Violation, ...]


_CLAUSE = re.compile(r";\s+|,\s+(?:(?:und|sowie|während|wobei|aber|jedoch|dagegen|dazu)\s+)?|\s+(?:und|sowie|während)\s+")


def split_statements(text: str, words: WordReader) -> tuple[Statement, ...]:
    """The statements of a claim: its sentences, and coordinated clauses that each have a noun and a value of their own."""
    pieces: list[str] = []
    for unit in split_units(text):
        sentence = text[unit.start : unit.end]
        begin = 0
        for match in _CLAUSE.finditer(sentence):
            left, right = sentence[begin : match.start()], sentence[match.end() :]
            if match.group()[0] == ";" or (_stands_alone(left, words) and _stands_alone(right, words)):
                pieces.append(left)
                begin = match.end()
        pieces.append(sentence[begin:])
    return tuple(_statement(piece, words) for piece in pieces if piece.strip())


def _statement(text: str, words: WordReader) -> Statement:
    values = find_values(text)
    outside = [word for word in words.words(text) if not any(value.start <= word.start < value.end for value in values)]
    return Statement(text, tuple(outside), values)


def _stands_alone(text: str, words: WordReader) -> bool:
    values = [value for value in find_values(text) if value.kind in ("amount", "rate", "period", "count")]
    nouns = [word for word in words.words(text) if word.is_noun and not any(v.start <= word.start < v.end for v in values)]
    return bool(values and nouns)


class StatementChecker:
    """Finds the unit that carries a statement and compares both, word by word and value by value."""

    def __init__(self, words: WordReader, roles: Roles, thresholds: Thresholds) -> None:
        self._words = words
        self._roles = roles
        self._limits = thresholds
        self._role_checker = RoleChecker(words, roles, thresholds)

    def check(self, statement: Statement, units: Sequence[EvidenceUnit], before_unit: EvidenceUnit | None = None) -> Verdict:
        """The verdict on one statement; `before_unit` carries the statement before it, which it may continue.

        A continuation („…, der Dienstgeber 12,55 %“) says of itself only a role; it must rest on the same unit.
        """
        content = [word for word in statement.words if not self._words.is_neutral(word)]
        ranked = sorted(units, key=lambda unit: -self._score(unit, content, statement.values))
        if not ranked:
            return Verdict((), (_violation("unsupported", "Die zitierten Abschnitte enthalten keinen Satz dazu."),))
        best = ranked[0]
        if before_unit is not None and self._continues(statement, content, before_unit):
            best = before_unit
        near = _near(best, units)
        chosen, missing = _complete(best, near, units, statement.values)
        violations = list(_missing(missing, units))
        share = self._coverage(content, chosen)
        proven = any(value.kind in COMPARABLE for value in statement.values) and not missing
        named = any(word.is_noun for word in content)
        said = proven and named and self._names_all(content, chosen)
        if share < self._least(units, proven=proven) and (named or not proven) and not said:
            violations.append(_violation(*self._why(content, units, chosen)))
        elif self._continued_elsewhere(content, chosen, units):
            violations.append(_violation("merged", "Die Aussage verbindet, was in verschiedenen Einträgen steht; bitte trennen."))
        violations.extend(self._role_checker.wrong_roles(statement, content, best, units))
        violations.extend(self._missing_subjects(content, chosen))
        violations.extend(self._turned(statement, best, chosen))
        return Verdict(chosen, tuple(violations))

    def check_derived(self, text: str, question: str, units: Sequence[EvidenceUnit]) -> Iterator[Violation]:
        """Of a calculated claim: whom it is said of, and what it denies or restricts, must be in its sources or the question.

        Periods and shares are left out, because calculating is how they change (monthly × 14).
        """
        given = " ".join((question, *(f"{unit.above} {unit.text}" for unit in units)))
        said = self._roles.of(given)
        for dimension, groups in self._roles.of(text).items():
            if dimension in self._roles.strict and dimension != "frequency" and not groups <= said.get(dimension, frozenset()):
                yield _violation("subject", f"Die Quellen der Berechnung sagen das nicht in dieser Zuordnung ({dimension}).")
        turns = {turn for turn, _, _ in found_turns(text)}
        if "not" in turns and not says_not(given):
            yield _violation("negation", "Die Quellen der Berechnung verneinen das nicht.")
        if "only" in turns and not says_only(given):
            yield _violation("negation", "Die Quellen der Berechnung sagen nicht „nur“.")

    def _score(self, unit: EvidenceUnit, words: Sequence[Word], values: Sequence[FoundValue]) -> float:
        covered = sum(noun_weight(word) * max(coverage(word, unit.stems), 0.5 * coverage(word, unit.context)) for word in words)
        proven = sum(1 for value in values if any(proves(found, value) for found in unit.values))
        total = sum(noun_weight(word) for word in words) or 1.0
        return covered / total + (1.2 * proven / len(values) if values else 0.0)

    def _coverage(self, words: Sequence[Word], units: Sequence[EvidenceUnit]) -> float:
        own = frozenset(stem for unit in units for stem in unit.stems)
        context = own | frozenset(stem for unit in units for stem in unit.context)
        total = sum(noun_weight(word) for word in words)
        covered = sum(noun_weight(word) * max(coverage(word, own), 0.85 * coverage(word, context)) for word in words)
        return covered / total if total else 1.0

    @staticmethod
    def _names_all(content: Sequence[Word], chosen: Sequence[EvidenceUnit]) -> bool:
        """Whether the carrying units name every noun themselves: with the values proven, other verbs need no support."""
        own = frozenset(stem for unit in chosen for stem in unit.stems)
        return all(coverage(word, own) == 1.0 for word in content if word.is_noun)

    def _least(self, units: Sequence[EvidenceUnit], *, proven: bool) -> float:
        if len({unit.passage.entry_id for unit in units}) > 1:
            return self._limits.coverage_of_several
        return self._limits.coverage_with_value if proven else self._limits.coverage

    def _continued_elsewhere(
        self, content: Sequence[Word], chosen: Sequence[EvidenceUnit], units: Sequence[EvidenceUnit]
    ) -> bool:
        """Whether much of what the carrying units do not say stands in one unit of another entry: two halves put together."""
        known = frozenset(stem for unit in chosen for stem in unit.stems | unit.context)
        rest = [word for word in content if coverage(word, known) < 0.5]
        total, open_weight = sum(map(noun_weight, content)), sum(map(noun_weight, rest))
        if not total or open_weight / total < self._limits.elsewhere:
            return False
        entry = chosen[0].passage.entry_id
        return any(
            sum(noun_weight(word) for word in rest if coverage(word, unit.stems) == 1.0) >= 0.6 * open_weight
            for unit in units
            if unit.passage.entry_id != entry
        )

    def _why(self, words: Sequence[Word], units: Sequence[EvidenceUnit], chosen: Sequence[EvidenceUnit]) -> tuple[str, str]:
        if self._coverage(words, units) >= 0.8:
            return "merged", "Die Aussage verbindet, was an verschiedenen Stellen steht; bitte trennen."
        return "unsupported", "Kein Satz der zitierten Abschnitte sagt das."

    def _continues(self, statement: Statement, content: Sequence[Word], before_unit: EvidenceUnit) -> bool:
        """Whether a statement goes on about the unit before: all its values are there, or it names nothing but a role."""
        if all(any(proves(found, value) for found in before_unit.values) for value in statement.values):
            return True
        return all(not word.is_noun or (not word.parts and self._roles.of(word.text)) for word in content) and bool(
            statement.values
        )

    def _missing_subjects(self, words: Sequence[Word], chosen: Sequence[EvidenceUnit]) -> Iterator[Violation]:
        known = frozenset(stem for unit in chosen for stem in unit.stems | unit.context)
        for word in words:
            if not word.is_noun or word.start == 0:
                continue
            if word.weight >= self._limits.subject_weight and coverage(word, known) < 0.4:
                message = f"„{word.text}“ kommt an der zitierten Stelle nicht vor."
                yield Violation(kind="subject", message=message, value=word.text)

    def _turned(self, statement: Statement, best: EvidenceUnit, chosen: Sequence[EvidenceUnit]) -> Iterator[Violation]:
        yield from self._bounds(statement, best)
        claim = Wording(statement.text, self._words.words(statement.text))
        source = Wording(best.text, best.words)
        nearby = " ".join(unit.text for unit in chosen)
        for turn in dict.fromkeys(dropped_turns(claim, source)):
            yield _violation("negation", f"Die zitierte Stelle sagt hier „{_TURN_WORDS[turn]}“; das fehlt in der Aussage.")
        for turn in dict.fromkeys(added_turns(claim, source)):
            yield _violation("negation", f"Die zitierte Stelle sagt hier nicht „{_TURN_WORDS[turn]}“.")
        if weighted_coverage(best.words, claim.stems) >= self._limits.near_copy and _denials(claim.text) != _denials(source.text):
            yield _violation("negation", "Die Aussage verneint anders als die zitierte Stelle.")
        if any(turn == "not" for turn, _, _ in found_turns(statement.text)) and not says_not(nearby):
            yield _violation("negation", "Die zitierte Stelle verneint das nicht.")
        if any(turn == "only" for turn, _, _ in found_turns(statement.text)) and not says_only(nearby):
            yield _violation("negation", "Die zitierte Stelle sagt nicht „nur“.")

    def _bounds(self, statement: Statement, best: EvidenceUnit) -> Iterator[Violation]:
        for value in statement.values:
            if value.kind not in COMPARABLE or value.unit.startswith("."):
                continue
            places = [found for found in best.values if proves(found, value)]
            if not places:
                continue
            mine, soft_mine = bound(statement.text[: value.start]), soft_bound(statement.text[: value.start])
            sources = [_before(best, found.start) for found in places]
            if not any(_agree(mine, soft_mine, bound(text), soft_bound(text)) for text in sources):
                yield Violation(
                    kind="negation", message=f"„mindestens/höchstens“ bei „{value.text}“ stimmt nicht.", value=value.text
                )


def _denials(text: str) -> int:
    return sum(turn == "not" for turn, _, _ in found_turns(text))


_TURN_WORDS = {"not": "nicht", "only": "nur", "except": "außer"}


def _before(unit: EvidenceUnit, start: int) -> str:
    """What stands before a value in its cell or sentence; a row's label goes before its value."""
    cell = cell_of(unit, start)
    if cell is None:
        return unit.text[:start]
    offset = unit.unit.cells[cell][0] - unit.unit.start
    label = unit.passage.text[slice(*unit.unit.cells[0])] if cell else ""
    return f"{label} {unit.text[offset:start]}"


def _agree(mine: str | None, soft_mine: str | None, theirs: str | None, soft_theirs: str | None) -> bool:
    if mine is not None:
        return soft_theirs == mine
    if theirs is not None:
        return soft_mine == theirs
    return soft_mine is None or soft_theirs is None or soft_mine == soft_theirs


def _near(best: EvidenceUnit, units: Sequence[EvidenceUnit]) -> tuple[EvidenceUnit, ...]:
    """The unit itself, and what completes it: header row, heading, neighbours in its paragraph."""
    same = [unit for unit in units if unit.passage.node_id == best.passage.node_id and unit is not best]
    found = [
        unit
        for unit in same
        if (best.unit.header == (unit.unit.start, unit.unit.end))
        or (unit.unit.kind == "heading" and unit.text == best.unit.heading)
        or (unit.unit.block == best.unit.block and abs(unit.position - best.position) == 1 and unit.unit.kind == "sentence")
    ]
    return (best, *found)


def _complete(
    best: EvidenceUnit, near: Sequence[EvidenceUnit], units: Sequence[EvidenceUnit], values: Sequence[FoundValue]
) -> tuple[tuple[EvidenceUnit, ...], tuple[FoundValue, ...]]:
    """The best unit with the fewest others needed so that every value is quoted, and the values that none proves."""
    chosen = [best]
    missing: list[FoundValue] = []
    for value in values:
        if any(proves(found, value) for unit in chosen for found in unit.values):
            continue
        if value.kind == "norm" and any(same_norm(value.normalized, norm) for unit in chosen for norm in unit.norms):
            continue  # the heading above the quote names it
        pool: Sequence[EvidenceUnit] = units if value.kind in ("norm", "case") else near
        if value.kind == "date" and any(_has_year(found) for found in best.values):
            pool = [unit for unit in near if unit.unit.kind in ("header", "heading")]
        other = next((unit for unit in pool if any(proves(found, value) for found in unit.values)), None)
        if other is None:
            missing.append(value)
        elif other not in chosen:
            chosen.append(other)
    return tuple(chosen), tuple(missing)


def _has_year(value: FoundValue) -> bool:
    return value.kind == "date" and value.normalized[:2] in ("19", "20") and value.normalized[:4].isdigit()


def _missing(values: Sequence[FoundValue], units: Sequence[EvidenceUnit]) -> Iterator[Violation]:
    for value in values:
        elsewhere = any(proves(found, value) for unit in units for found in unit.values)
        if value.kind in ("norm", "case"):
            kind, message = "norm_not_in_source", f"„{value.text}“ steht in keinem zitierten Abschnitt; Normen nie ergänzen."
        elif elsewhere:
            kind, message = "value_wrong_role", f"„{value.text}“ steht im zitierten Abschnitt zu etwas anderem."
        else:
            kind, message = "value_not_in_source", f"„{value.text}“ steht in keinem zitierten Abschnitt."
        yield Violation(kind=kind, message=message, value=value.text)


def _violation(kind: str, message: str) -> Violation:
    return Violation(kind=kind, message=message)
