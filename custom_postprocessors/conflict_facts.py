"""Conflicts among the rows of „Kernwerte & Fristen“ of different entries."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from custom_postprocessors.conflict_parts import Entries, by_unit, conflict_of_sides, values_by_year
from custom_postprocessors.evidence import Conflict, ConflictSide, Fact, Validity
from custom_postprocessors.sentences import plain_markdown
from custom_postprocessors.values import FoundValue, find_values
from custom_postprocessors.words import Word, WordReader, coverage, weighted_coverage

_LEAST_LABEL = 0.74
_LEAST_LABEL_RELATED = 0.66
_LEAST_PART = 0.6
_PAST = re.compile(
    r"\b(?:überholt\w*|aF|Altwert|bisher\w*|ausgelaufen\w*|früher\w*|vor (?:19|20)\d\d|vor dem|Vorjahre?"
    r"|alte[rsn]? (?:Wert|Satz))\b",
    re.IGNORECASE,
)
_ABBREVIATION = re.compile(r"\((?:[A-ZÄÖÜ]{1,5})(?:/[A-Z]{1,5})?\)")
_POPULATIONS = ("lehrling", "freie", "geringfügig", "vorstand", "sonderzahlung", "fahrrad", "ausland")
_FREQUENCIES = (
    ("täglich", "pro tag", "je tag", "kalendertäglich"),
    ("wöchentlich", "pro woche", "je woche"),
    ("monatlich", "mtl", "pro monat", "je monat", "im monat"),
    ("jährlich", "p. a.", "pro jahr", "je jahr", "im jahr", "pro kalenderjahr", "jahres"),
    ("stündlich", "je stunde", "pro stunde"),
)


@dataclass(frozen=True, slots=True)
class _Statement:
    """A fact with its label's words and its value's values."""

    fact: Fact
    label: tuple[Word, ...]
    label_stems: frozenset[str]
    title_stems: frozenset[str]
    label_values: frozenset[str]
    values: tuple[FoundValue, ...]


def fact_conflicts(facts: Sequence[Fact], entries: Entries, words: WordReader) -> Iterator[Conflict]:
    """Facts of different entries with the same label, differing values and validities that may overlap, as groups."""
    statements = [_statement(fact, entries, words) for fact in facts if fact.entry_id in entries.sections]
    by_stem: dict[str, list[int]] = defaultdict(list)
    for position, statement in enumerate(statements):
        for stem in statement.label_stems:
            by_stem[stem].append(position)
    groups = _Groups(len(statements))
    agreed = _Agreement(statements).agreed
    for position, statement in enumerate(statements):
        near = {other for stem in statement.label_stems for other in by_stem[stem] if other > position}
        for other in sorted(near):
            if _conflict(statement, statements[other], entries) and not agreed(statement, statements[other]):
                groups.join(position, other)
    for members in groups.several():
        yield _conflict_of([statements[member] for member in members], entries)


def _statement(fact: Fact, entries: Entries, words: WordReader) -> _Statement:
    label = words.words(_ABBREVIATION.sub("", fact.quantity))
    numbers = frozenset(value.normalized for value in find_values(fact.quantity) if value.kind != "norm")
    stems = frozenset(stem for word in label for stem in word.stems)
    return _Statement(fact, label, stems, entries.title_stems[fact.entry_id], numbers, find_values(fact.value))


def _conflict(one: _Statement, other: _Statement, entries: Entries) -> bool:
    a, b = one.fact, other.fact
    if a.entry_id == b.entry_id or one.label_values != other.label_values or not _values_differ(one, other):
        return False
    if not _overlap(a.validity, b.validity) or _is_past(a) or _is_past(b):
        return False
    related = entries.related(a.entry_id, b.entry_id)
    if {a.entry_id[:3], b.entry_id[:3]} & {"kv-"} and a.entry_id.rpartition("-")[0] != b.entry_id.rpartition("-")[0]:
        return False
    named = max(weighted_coverage(one.label, one.title_stems), weighted_coverage(other.label, other.title_stems)) >= 0.5
    if not named and not entries.same_field(a.entry_id, b.entry_id):
        return False
    return _same_label(one, other, related=related) and _same_frequency(a, b) and _same_population(one, other, entries)


def _same_label(one: _Statement, other: _Statement, *, related: bool) -> bool:
    if not one.label or not other.label or one.fact.quantity.startswith("Beispiel"):
        return False
    mine, yours = _said(one.label, other), _said(other.label, one)
    if related and max(mine, yours) >= 0.95 and min(mine, yours) >= _LEAST_PART:
        return True
    return min(mine, yours) >= (_LEAST_LABEL_RELATED if related else _LEAST_LABEL)


def _same_population(one: _Statement, other: _Statement, entries: Entries) -> bool:
    """Whether both speak of the same group of people or payments (apprentices, special payments …)."""
    return _populations(one.fact, entries) == _populations(other.fact, entries)


def _populations(fact: Fact, entries: Entries) -> set[str]:
    text = f"{entries.sections[fact.entry_id][0].title} {fact.quantity} {fact.value}".lower()
    return {name for name in _POPULATIONS if name in text}


def _said(label: Sequence[Word], by: _Statement) -> float:
    """How far a label's words are said by the other label, in [0, 1]."""
    return sum(word.weight * _exactly(word, by.label_stems) for word in label) / sum(word.weight for word in label)


def _exactly(word: Word, stems: frozenset[str]) -> float:
    share = coverage(word, stems)
    return share if share == 1.0 else 0.3 * share


def _values_differ(one: _Statement, other: _Statement) -> bool:
    """Whether both have values of one kind and unit, and no value of any such kind is common to both."""
    by_year = values_by_year(one.fact.value), values_by_year(other.fact.value)
    if shared_years := by_year[0].keys() & by_year[1].keys():
        return any(by_year[0][year] != by_year[1][year] for year in shared_years)
    mine, yours = by_unit(one.values), by_unit(other.values)
    shared = mine.keys() & yours.keys()
    return bool(shared) and all(_sets_differ(mine[unit], yours[unit]) for unit in shared)


def _sets_differ(mine: dict[str, None], yours: dict[str, None]) -> bool:
    """Whether no value is common, or the first ones differ and neither is a part of the other (8 and 4 Wochen, 4 and 2)."""
    if not mine.keys() & yours.keys():
        return True
    part = mine.keys() <= yours.keys() or yours.keys() <= mine.keys()
    return not part and next(iter(mine)) != next(iter(yours))


def _overlap(one: Validity, other: Validity) -> bool:
    if not one.known or not other.known:
        return True
    starts_before_end = one.start is None or other.end is None or one.start < other.end
    return starts_before_end and (other.start is None or one.end is None or other.start < one.end)


def _is_past(fact: Fact) -> bool:
    return _PAST.search(f"{fact.quantity} {fact.valid}") is not None


def _same_frequency(one: Fact, other: Fact) -> bool:
    mine, yours = _frequency(one), _frequency(other)
    return not mine or not yours or mine == yours


def _frequency(fact: Fact) -> set[int]:
    text = f"{fact.quantity} {fact.value}".lower()
    return {number for number, words in enumerate(_FREQUENCIES) if any(word in text for word in words)}


class _Agreement:
    """Which values an entry gives for a label, over all of its rows."""

    def __init__(self, statements: Sequence[_Statement]) -> None:
        self._values: dict[tuple[str, frozenset[str]], set[str]] = defaultdict(set)
        self._entries: dict[frozenset[str], set[str]] = defaultdict(set)
        for statement in statements:
            key = (statement.fact.entry_id, statement.label_stems)
            if re.search(r"(?:19|20)\d\d", statement.fact.valid):
                self._entries[statement.label_stems].add(statement.fact.entry_id)
                continue
            self._values[key] |= {value.normalized for value in statement.values if value.kind != "norm"}
            self._entries[statement.label_stems].add(statement.fact.entry_id)

    def agreed(self, one: _Statement, other: _Statement) -> bool:
        """Whether some row of either entry gives the other's first value, or the label says too little to compare."""
        if len(one.label) == 1 and len(self._entries[one.label_stems]) > 2:
            return True
        return self._covers(one, other) or self._covers(other, one)

    def _covers(self, one: _Statement, other: _Statement) -> bool:
        known = self._values[one.fact.entry_id, one.label_stems]
        firsts = [value.normalized for value in other.values if value.kind != "norm"]
        return bool(firsts) and firsts[0] in known


class _Groups:
    """Disjoint sets of positions."""

    def __init__(self, size: int) -> None:
        self._parents = list(range(size))

    def _root(self, position: int) -> int:
        while self._parents[position] != position:
            position = self._parents[position]
        return position

    def join(self, one: int, other: int) -> None:
        a, b = sorted((self._root(one), self._root(other)))
        self._parents[b] = a

    def several(self) -> Iterator[list[int]]:
        members: dict[int, list[int]] = defaultdict(list)
        for position in range(len(self._parents)):
            members[self._root(position)].append(position)
        return (group for group in members.values() if len(group) > 1)


def _conflict_of(statements: Sequence[_Statement], entries: Entries) -> Conflict:
    facts = [statement.fact for statement in statements]
    quantity = max((fact.quantity for fact in facts), key=len)
    return conflict_of_sides(quantity, [_side(fact, entries.text(fact)) for fact in facts])


def _side(fact: Fact, text: str) -> ConflictSide:
    value = f"{fact.value} ({fact.valid})" if fact.valid else fact.value
    return ConflictSide(
        entry_id=fact.entry_id,
        section=fact.section,
        stand=fact.stand,
        value=plain_markdown(value),
        quote=text[fact.start : fact.end],
        start=fact.start,
        end=fact.end,
    )
