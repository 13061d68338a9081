from decimal import Decimal

import pytest

from custom_postprocessors.values import find_values
from pipelines.case_ranges import CaseRange, range_fits, read_range


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("AV-Anteil DN über 2.225,00 € bis 2.427,00 €", CaseRange("EUR", Decimal("2225.00"), Decimal("2427.00"))),
        ("2. bis 15. Arbeitsjahr", CaseRange("jahr", Decimal(2), Decimal(15))),
        ("Teilpension bei 25–40 % Reduktion", CaseRange("%", Decimal(25), Decimal(40))),
        ("nach 15 Jahren", CaseRange("jahr", Decimal(15), None)),
        ("Dienstgeberkündigung, bis 2 Jahre", CaseRange("jahr", None, Decimal(2))),
        ("Zuschuss bis 10 Dienstnehmer", CaseRange("person", None, Decimal(10))),
        ("Geringfügigkeitsgrenze 2024", None),
        ("Grenzwert", None),
        ("100 % oder 50 %", None),
    ],
)
def test_reads_the_range_of_a_label(label, expected):
    assert read_range(label) == expected


@pytest.mark.parametrize(
    ("question", "fits"),
    [
        ("bei 17 Dienstjahren", [-1.0, -1.0, 1.0, -1.0]),
        ("nach 1 Jahr", [1.0, -1.0, -1.0, -1.0]),
        ("nach 30 Jahren", [-1.0, -1.0, -1.0, 1.0]),
        ("mit 17 Wochen", [0.0, 0.0, 0.0, 0.0]),
        ("ohne Angabe", [0.0, 0.0, 0.0, 0.0]),
    ],
)
def test_only_the_last_step_that_was_reached_fits(question, fits):
    steps = [read_range(label) for label in ("bis 2 Jahre", "nach 2 Jahren", "nach 15 Jahren", "nach 25 Jahren")]
    assert range_fits(steps, find_values(question)) == fits


def test_money_and_heads_may_stand_without_their_unit():
    brackets = [
        read_range("bis 2.225,00 €"),
        read_range("über 2.427,00 € bis 2.630,00 €"),
        read_range("bis 10 Dienstnehmer"),
        None,
    ]
    assert range_fits(brackets, find_values("gehalt 2.600, sind 8 leut")) == [-1.0, 1.0, 1.0, 0.0]
