from datetime import date

import pytest

from custom_postprocessors.evidence import Validity
from custom_postprocessors.validity import (
    ValidAt,
    coverage,
    is_silent_about_year,
    month_span,
    overlaps,
    period_coverage,
    superseded,
    year_span,
)
from tests.custom_postprocessors.grounding_parts import SmallIndex, fact
from tests.retrieval_parts import section

OF_2025 = fact("a#k", "Grenze", "5 €", date(2025, 1, 1), date(2026, 1, 1))
OF_2026 = fact("b#k", "Grenze", "6 €", date(2026, 1, 1), date(2027, 1, 1))
UNKNOWN = fact("c#k", "Grenze", "7 €", None, None, known=False)


def test_spans_are_half_open():
    assert month_span("2026-12") == (date(2026, 12, 1), date(2027, 1, 1))
    assert year_span("2026-12") == (date(2026, 1, 1), date(2027, 1, 1))


@pytest.mark.parametrize(
    ("start", "end", "month", "expected"),
    [
        (date(2026, 1, 1), date(2026, 7, 1), "2026-06", True),
        (date(2026, 1, 1), date(2026, 7, 1), "2026-07", False),
        (date(2026, 6, 30), None, "2026-06", True),
        (date(2026, 7, 1), None, "2026-06", False),
        (date(2026, 1, 1), None, "2040-01", True),
        (None, date(2025, 1, 1), "2024-12", True),
        (None, date(2025, 1, 1), "2007-12", False),
    ],
)
def test_a_validity_covers_the_months_it_touches(start, end, month, expected):
    assert overlaps(Validity(raw="", start=start, end=end, known=True), month_span(month)) is expected


def test_an_unread_validity_covers_nothing_and_excludes_nothing():
    assert overlaps(UNKNOWN.validity, month_span("2026-06")) is None
    assert coverage([UNKNOWN, OF_2025], month_span("2026-06")) == "unknown"
    assert coverage([UNKNOWN, OF_2026], month_span("2026-06")) == "covered"
    assert coverage([OF_2025], month_span("2026-06")) == "not_covered"
    assert coverage([], month_span("2026-06")) == "unknown"


def test_a_fact_is_superseded_when_another_holds_in_its_place():
    assert superseded(OF_2025, [OF_2025, OF_2026], "2026-06")
    assert not superseded(OF_2025, [OF_2025], "2026-06")
    assert not superseded(OF_2025, [OF_2025, OF_2026], "2025-06")
    assert not superseded(OF_2026, [OF_2025, OF_2026], "2026-06")


def test_moves_what_missed_the_month_back_and_drops_nothing():
    sections = [section(f"{name}#k", "Die Grenze.", section="Kernwerte & Fristen") for name in "abcdef"]
    index = SmallIndex(sections, [OF_2025, OF_2026])
    hits = index.hits(*(f"{name}#k" for name in "abcdef"))
    moved = ValidAt(index, as_of="2026-06").postprocess_nodes(hits)

    assert [hit.node.node_id[0] for hit in moved] == list("bcdaef")
    assert [hit.node.node_id[0] for hit in ValidAt(index, as_of="2025-06").postprocess_nodes(hits)] == list("acdebf")


@pytest.mark.parametrize(
    ("text", "as_of", "expected"),
    [
        ("Die Grenze steigt jährlich.", "2019-12", "not_covered"),
        ("Die Grenze steigt jährlich.", "2025-12", "covered"),
        ("Im Jahr 2019 betrug die Grenze 4,50 €.", "2019-12", "covered"),
        ("Die Grenze steigt jährlich. Seit 2019 gibt es ein Formular.", "2019-12", "not_covered"),
    ],
)
def test_a_year_is_covered_by_facts_or_by_a_sentence_with_a_figure(text, as_of, expected):
    index = SmallIndex([section("a#k", text)], [OF_2025])

    def worth(said: str) -> float:
        return float("Grenze" in said)

    assert period_coverage(index.hits("a#k"), index, worth, as_of) == expected


@pytest.mark.parametrize(
    ("text", "facts", "year", "expected"),
    [
        ("Die Grenze steigt jährlich.", [OF_2025], 2016, True),
        ("Die Grenze steigt jährlich.", [OF_2025], 2025, False),
        ("Die Grenze steigt jährlich.", [], 2016, False),
        ("Im Jahr 2016 galt eine andere Grenze.", [OF_2025], 2016, False),
        ("Die Frist beträgt vier Wochen.", [], 2028, False),
        ("Die Frist beträgt vier Wochen.", [], 2029, True),
        ("Ab 2029 beträgt die Frist vier Wochen.", [], 2029, False),
    ],
)
def test_an_entry_is_silent_about_years_that_none_of_its_values_reaches(text, facts, year, expected):
    index = SmallIndex([section("a#k", text)], facts)

    assert is_silent_about_year("a", index, year, newest_stand=2026) is expected


def test_an_open_end_reaches_two_years_ahead_and_no_further():
    index = SmallIndex([section("a#k", "Die Grenze.")], [fact("a#k", "Grenze", "6 €", date(2026, 1, 1), None)])

    assert not is_silent_about_year("a", index, 2028, newest_stand=2026)
    assert is_silent_about_year("a", index, 2029, newest_stand=2026)
