"""Which row of a graduated table applies: „über 2.225,00 € bis 2.427,00 €“, „nach 15 Jahren“, „2. bis 15. Arbeitsjahr“."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from custom_postprocessors.found import FoundValue
from custom_postprocessors.values import find_values

_UNITS = ("jahr", "monat", "woch", "stund", "tag")
_PERSONS = re.compile(r"\.?(?:dienstnehm|arbeitnehm|beschaftigt|mitarbeit|person|leut|angestellt|arbeiter|kopf)")
_LEAST = re.compile(r"(?:\büber|\bab(?: dem)?|\bnach|\bmehr als|\bmindestens|\bvon)\s*$", re.IGNORECASE)
_MOST = re.compile(r"(?:\bbis(?: zu)?|\bhöchstens|\bunter|\bweniger als|\bmaximal|\bbis zum)\s*$", re.IGNORECASE)
_JOINT = re.compile(r"\.?\s*(?:bis(?: zu)?|[–-])\s*", re.IGNORECASE)
_BARE_MONEY = 100


@dataclass(frozen=True, slots=True)
class CaseRange:
    """The cases a row is about: values of one unit from `least` to `most`, both included; None is open."""

    unit: str
    least: Decimal | None
    most: Decimal | None

    def holds(self, number: Decimal) -> bool:
        """Whether a case with this number belongs to the row."""
        return (self.least is None or self.least <= number) and (self.most is None or number <= self.most)


def read_range(label: str) -> CaseRange | None:
    """The range that a row's label names; None when it names none, or more than one quantity."""
    values = [value for value in find_values(label) if value.number is not None and value.kind not in ("date", "norm", "case")]
    if len(values) == 1:
        return _half_open(label, values[0])
    if len(values) == 2 and _unit(values[0]) == _unit(values[1]) and _JOINT.fullmatch(label[values[0].end : values[1].start]):
        return CaseRange(_unit(values[1]), values[0].number, values[1].number)
    return None


def range_fits(ranges: Sequence[CaseRange | None], case: Iterable[FoundValue]) -> list[float]:
    """For each row of one table: 1 when the case's numbers put it there, -1 when they put it elsewhere, else 0.

    Of rows that only say where they begin („nach 5 Jahren“, „nach 10 Jahren“) the last that has begun is the one.
    """
    known = list(case)
    return [0.0 if own is None else _fit(own, [other for other in ranges if other is not None], known) for own in ranges]


def _fit(own: CaseRange, others: Sequence[CaseRange], case: Sequence[FoundValue]) -> float:
    numbers = [value.number for value in case if value.number is not None and _same_unit(own.unit, value)]
    if not numbers:
        return 0.0
    fitting = [number for number in numbers if own.holds(number)]
    if not fitting:
        return -1.0
    if own.most is None:
        begun = [
            other.least
            for other in others
            if other.unit == own.unit and other.most is None and other.least is not None and other.least <= max(fitting)
        ]
        return 1.0 if own.least == max(begun, default=own.least) else -1.0
    return 1.0


def _half_open(label: str, value: FoundValue) -> CaseRange | None:
    before = label[: value.start]
    if _LEAST.search(before):
        return CaseRange(_unit(value), value.number, None)
    if _MOST.search(before):
        return CaseRange(_unit(value), None, value.number)
    return None


def _unit(value: FoundValue) -> str:
    """The unit without its composition: `dienstjahr` and `.arbeitsjahr` are `jahr`, employees of any name `person`."""
    if _PERSONS.match(value.unit):
        return "person"
    return next((unit for unit in _UNITS if value.unit.endswith(unit)), value.unit)


def _same_unit(unit: str, value: FoundValue) -> bool:
    if _unit(value) == unit:
        return True
    # Typed in a hurry, money and heads stand without their unit.
    if value.unit or value.number is None:
        return False
    return value.number >= _BARE_MONEY if unit == "EUR" else unit == "person" and value.number < _BARE_MONEY * 10
