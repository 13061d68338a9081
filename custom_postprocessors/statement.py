"""One statement of a claim against the units of the cited sections: who carries it, and what is wrong with it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from custom_postprocessors.evidence import Violation
from custom_postprocessors.negation import Wording, added_turns, dropped_turns
from custom_postprocessors.polarity import bound, found_turns, says_not, says_only, soft_bound
from custom_postprocessors.roles import Found, Roles, clash
from custom_postprocessors.segments import around, cell_of, split_segments, surroundings
from custom_postprocessors.sentences import split_units
from custom_postprocessors.support import EvidenceUnit
from custom_postprocessors.values import FoundValue, find_values, proves
from custom_postprocessors.words import Word, WordReader, coverage, weighted_coverage


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Chosen on the calibration half of the labelled pairs (`python -m evaluation verification`).

    Coverages are shares in [0, 1] of a statement's words by weight; `margin` is how much better another unit with a value
    of the same kind may cover them; `subject_weight` is the least rarity of a noun that must not be missing.
    """

    coverage: float = 0.62
    coverage_with_value: float = 0.5
    coverage_of_several: float = 0.7
    near_copy: float = 0.9
    margin: float = 0.22
    subject_weight: float = 2.2
    segment_margin: float = 1.0
    elsewhere: float = 0.15


@dataclass(frozen=True, slots=True)
class Statement:
    """A clause of a claim that says one thing, with its content words and values (offsets in `text`)."""

    text: str
    words: tuple[Word, ...]
    values: tuple[FoundValue, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The units that carry a statement (may be empty) and everything against it."""

    units: tuple[EvidenceUnit, ...]
    violations: tuple[Violation, ...]


_CLAUSE = re.compile(r";\s+|,\s+(?:(?:und|sowie|während|wobei|aber|jedoch|dagegen|dazu)\s+)?|\s+(?:und|sowie|während)\s+")
_COMPARABLE = ("amount", "rate", "period", "count")


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
        proven = any(value.kind in _COMPARABLE for value in statement.values) and not missing
        named = any(word.is_noun for word in content)
        if share < self._least(units, proven=proven) and (named or not proven):
            violations.append(_violation(*self._why(content, units, chosen)))
        elif self._continued_elsewhere(content, chosen, units):
            violations.append(_violation("merged", "Die Aussage verbindet, was in verschiedenen Einträgen steht; bitte trennen."))
        violations.extend(self._wrong_roles(statement, content, best, units))
        violations.extend(self._missing_subjects(content, chosen))
        violations.extend(self._turned(statement, best, chosen))
        return Verdict(chosen, tuple(violations))

    def _score(self, unit: EvidenceUnit, words: Sequence[Word], values: Sequence[FoundValue]) -> float:
        covered = sum(self._weight(word) * max(coverage(word, unit.stems), 0.5 * coverage(word, unit.context)) for word in words)
        proven = sum(1 for value in values if any(proves(found, value) for found in unit.values))
        total = sum(self._weight(word) for word in words) or 1.0
        return covered / total + (1.2 * proven / len(values) if values else 0.0)

    def _weight(self, word: Word) -> float:
        return word.weight if word.is_noun else 0.3 * word.weight

    def _coverage(self, words: Sequence[Word], units: Sequence[EvidenceUnit]) -> float:
        own = frozenset(stem for unit in units for stem in unit.stems)
        context = own | frozenset(stem for unit in units for stem in unit.context)
        total = sum(self._weight(word) for word in words)
        covered = sum(self._weight(word) * max(coverage(word, own), 0.85 * coverage(word, context)) for word in words)
        return covered / total if total else 1.0

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
        total, open_weight = sum(map(self._weight, content)), sum(map(self._weight, rest))
        if not total or open_weight / total < self._limits.elsewhere:
            return False
        entry = chosen[0].passage.entry_id
        return any(
            sum(self._weight(word) for word in rest if coverage(word, unit.stems) == 1.0) >= 0.6 * open_weight
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

    # --- values in the same role -------------------------------------------------------------------------------------

    def _wrong_roles(
        self, statement: Statement, content: Sequence[Word], best: EvidenceUnit, units: Sequence[EvidenceUnit]
    ) -> Iterator[Violation]:
        clause_roles = self._roles.of(statement.text)
        yield from self._role_clash(statement.text, clause_roles, best)
        rival = self._better_unit(statement, content, best, units)
        if rival is not None:
            value = next((v for v in statement.values if v.kind in _COMPARABLE or v.kind == "date"), None)
            text = value.text if value else statement.text
            yield Violation(kind="value_wrong_role", message=f"„{text}“ steht dort zu etwas anderem.", value=text)
        for value in statement.values:
            if value.kind not in _COMPARABLE:
                continue
            yield from self._segment_clash(statement, value, best)

    def _role_clash(self, text: str, claimed: Found, best: EvidenceUnit) -> Iterator[Violation]:
        dimension = clash(claimed, best.roles)
        if dimension is None:
            only_context = {name: groups for name, groups in best.context_roles.items() if name not in best.roles}
            dimension = clash(claimed, only_context)
        if dimension is None:
            said = best.roles.keys() | best.context_roles.keys()
            dimension = next((name for name in claimed if name in self._roles.strict and name not in said), None)
        if dimension is None:
            for name, groups in claimed.items():
                both = best.roles.get(name, frozenset()) | best.context_roles.get(name, frozenset())
                own = best.roles.get(name, frozenset())
                replaced = bool(groups - own) and bool(own - groups)
                if name in self._roles.strict and (not groups <= both or replaced):
                    dimension = name
        if dimension is not None:
            kind = "value_wrong_role" if dimension in ("frequency", "pay", "measure", "share", "time") else "subject"
            yield Violation(
                kind=kind,
                message=f"Die zitierte Stelle sagt das nicht in dieser Zuordnung ({_GERMAN.get(dimension, dimension)}).",
            )

    def _better_unit(
        self, statement: Statement, content: Sequence[Word], best: EvidenceUnit, units: Sequence[EvidenceUnit]
    ) -> EvidenceUnit | None:
        """A unit with a rival value that fits the statement's words clearly better than the one with its value."""
        values = [value for value in statement.values if value.kind in _COMPARABLE]
        if not values:
            return None
        mine = self._own_share(best, content, statement)
        for unit in units:
            if unit is best or unit.unit.kind in ("header", "heading"):
                continue
            rivals = any(
                found.kind == value.kind and _same_class(found, value) and not proves(found, value)
                for value in values
                for found in unit.values
            )
            proven = all(any(proves(found, value) for found in unit.values) for value in values)
            if rivals and not proven and self._own_share(unit, content, statement) > mine + self._limits.margin:
                return unit
        return None

    def _own_share(self, unit: EvidenceUnit, content: Sequence[Word], statement: Statement) -> float:
        stems = _own_stems(unit)
        covered = sum(self._weight(word) * coverage(word, stems) for word in content)
        total = sum(self._weight(word) for word in content)
        for value in statement.values:
            if value.kind == "date":
                total += 3.0
                covered += 3.0 if any(proves(found, value) for found in unit.values) else 0.0
        return covered / total if total else 0.0

    def _segment_clash(self, statement: Statement, value: FoundValue, best: EvidenceUnit) -> Iterator[Violation]:
        """Whether the words right around a value belong, in the source, to a rival value of the same unit."""
        places = [found for found in best.values if proves(found, value)]
        rivals = [
            found
            for found in best.values
            if found.kind == value.kind
            and _same_class(found, value)
            and not any(proves(found, other) for other in statement.values if other.kind == value.kind)
        ]
        if not places:
            return
        local = self._marks(_local(statement, value))
        if sum(other.kind in _COMPARABLE for other in statement.values) == 1:
            local |= {f"#{other.normalized}" for other in statement.values if other.kind == "date"}
        local_roles = self._roles.of(_local(statement, value))
        own_marks = frozenset[str]()
        role_ok = False
        for place in places:
            around_place = surroundings(best, place.start)
            own_marks |= self._marks(around_place)
            role_ok = role_ok or clash(local_roles, self._roles.of(around_place)) is None
        if not role_ok:
            yield Violation(kind="value_wrong_role", message=f"„{value.text}“ steht dort zu etwas anderem.", value=value.text)
            return
        for rival in rivals:
            theirs = self._marks(surroundings(best, rival.start))
            if self._mass(local & (theirs - own_marks)) > self._mass(local & (own_marks - theirs)) + self._limits.segment_margin:
                yield Violation(kind="value_wrong_role", message=f"„{value.text}“ steht dort zu etwas anderem.", value=value.text)
                return

    def _marks(self, text: str) -> frozenset[str]:
        """Stems and dates of a stretch of text: what tells one value's place from another's."""
        stems = {stem for word in self._words.words(text) if not self._words.is_neutral(word) for stem in word.stems}
        stems |= {f"#{value.normalized}" for value in find_values(text) if value.kind == "date" or value.unit.startswith(".")}
        return frozenset(stems)

    def _mass(self, marks: frozenset[str]) -> float:
        return sum(3.0 if mark.startswith("#") else self._words.weight(mark) for mark in marks)

    # --- negation and bounds -----------------------------------------------------------------------------------------

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
            if value.kind not in _COMPARABLE or value.unit.startswith("."):
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
_GERMAN = {
    "frequency": "Zeitraum",
    "side": "Dienstnehmer/Dienstgeber",
    "place": "Bundesland",
    "people": "Personengruppe",
    "agency": "Stelle",
    "insurance": "Versicherungszweig",
}


def _own_stems(unit: EvidenceUnit) -> frozenset[str]:
    """The stems of a unit; of a Kernwerte row without its basis, which says nothing of the quantity."""
    if unit.unit.columns[:2] != ("Kennzahl", "Wert") or len(unit.unit.cells) < 4:
        return unit.stems
    basis = unit.unit.cells[3][0] - unit.unit.start
    return frozenset(stem for word in unit.words if word.start < basis for stem in word.stems)


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


def _local(statement: Statement, value: FoundValue) -> str:
    segments = split_segments(statement.text)
    own = segments[around(segments, value.start)]
    return statement.text[own.start : own.end]


def _same_class(one: FoundValue, other: FoundValue) -> bool:
    return one.kind != "count" or one.unit == other.unit


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
