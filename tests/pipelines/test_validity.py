from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from custom_postprocessors.evidence import Validity
from pipelines.facts import facts_of
from pipelines.validity import read_remarks, read_validity

YEARS = (date(2025, 1, 1), date(2026, 1, 1), date(2027, 1, 1))


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2026", date(2026, 1, 1), date(2027, 1, 1)),
        ("1.7.2026", date(2026, 7, 1), date(2026, 7, 2)),
        ("01.07.2026", date(2026, 7, 1), date(2026, 7, 2)),
        ("1. 7. 2026", date(2026, 7, 1), date(2026, 7, 2)),
        ("1. Juli 2026", date(2026, 7, 1), date(2026, 7, 2)),
        ("Juli 2026", date(2026, 7, 1), date(2026, 8, 1)),
        ("Jänner 2026", date(2026, 1, 1), date(2026, 2, 1)),
        ("Januar 2026", date(2026, 1, 1), date(2026, 2, 1)),
        ("Feber 2024", date(2024, 2, 1), date(2024, 3, 1)),
        ("Dezember 2026", date(2026, 12, 1), date(2027, 1, 1)),
        ("2025 und 2026", date(2025, 1, 1), date(2027, 1, 1)),
        ("2024, 2025 und 2026", date(2024, 1, 1), date(2027, 1, 1)),
        ("2018/2019", date(2018, 1, 1), date(2020, 1, 1)),
        ("2024 bis 2026", date(2024, 1, 1), date(2027, 1, 1)),
        ("2024–2026", date(2024, 1, 1), date(2027, 1, 1)),
        ("2024-2026", date(2024, 1, 1), date(2027, 1, 1)),
        ("1.5.2025–30.4.2026", date(2025, 5, 1), date(2026, 5, 1)),
        ("1.5.2025 – 30.4.2026", date(2025, 5, 1), date(2026, 5, 1)),
        ("01.05.2025 bis 30.04.2026", date(2025, 5, 1), date(2026, 5, 1)),
        ("1.1.–31.12.2025", date(2025, 1, 1), date(2026, 1, 1)),
        ("Oktober 2024 bis September 2025", date(2024, 10, 1), date(2025, 10, 1)),
        ("Juli bis Dezember 2026", date(2026, 7, 1), date(2027, 1, 1)),
        ("Juli 2026–2027", date(2026, 7, 1), date(2028, 1, 1)),
        ("ab 2026", date(2026, 1, 1), None),
        ("ab 1.7.2026", date(2026, 7, 1), None),
        ("ab Juli 2026", date(2026, 7, 1), None),
        ("Ab dem 1.7.2026", date(2026, 7, 1), None),
        ("seit Jänner 2026", date(2026, 1, 1), None),
        ("seit 2016", date(2016, 1, 1), None),
        ("bis 2026", None, date(2027, 1, 1)),
        ("bis 30.6.2026", None, date(2026, 7, 1)),
        ("bis Juni 2026", None, date(2026, 7, 1)),
        ("bis 28.2.2025", None, date(2025, 3, 1)),
        ("bis 31.12.2025", None, date(2026, 1, 1)),
        ("2026 (unverändert)", date(2026, 1, 1), date(2027, 1, 1)),
        ("2026 (unverändert zu 2025)", date(2026, 1, 1), date(2027, 1, 1)),
        ("2026 (2025: 53,20 €)", date(2026, 1, 1), date(2027, 1, 1)),
        ("ab 1.7.2025 (davor 0,50 €)", date(2025, 7, 1), None),
        ("  2026  ", date(2026, 1, 1), date(2027, 1, 1)),
    ],
)
def test_reads_half_open_time(text: str, start: date | None, end: date | None) -> None:
    assert read_validity(text) == Validity(text.strip(), start, end, known=True)


@pytest.mark.parametrize(
    "text",
    [
        "Geburten ab 1.11.2023",
        "Arbeitsjahre ab 1.7.2018",
        "Beginn vor 1.1.2026",
        "Beitragsjahre bis 2018",
        "Vereinbarungen vor dem 1.4.2025",
        "Antrag nach dem 12.9.2023",
        "Erstzulassung 2025 und 2026",
        "Verträge seit Jänner 2016",
    ],
)
def test_a_noun_before_the_date_is_a_condition_on_the_case(text: str) -> None:
    assert read_validity(text) == Validity(text, condition=text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "laufend",
        "monatlich",
        "Stand 2022",
        "Stand März 2026",
        "Rechtsstand Jänner 2026",
        "Stand Mitte 2018",
        "vor 2024",
        "31.2.2026",
        "0.1.2026",
        "1.13.2026",
        "ab 31.2.2026",
        "2026 bis 2024",
        "1.5.2026–30.4.2025",
        "2022 und 2026",
        "2024/25",
        "26",
        "12026",
        "1826",
        "2026,5",
        "2026 €",
        "ab 25 Dienstnehmern",
        "ab 2026 laut Kurzinformation",
        "seit 1.1.2025, auch 2026",
        "2026, alle Länder außer Wien",
        "bis 42. Tag",
        "411,00 €",
        "überholt",
        "(2025)",
        "ab",
        "–",
    ],
)
def test_everything_else_is_unknown(text: str) -> None:
    assert read_validity(text) == Validity(text)


def test_covers_the_days_of_its_time_and_no_others() -> None:
    validity = read_validity("1.5.2025–30.4.2026")
    days = [date(2025, 4, 30), date(2025, 5, 1), date(2026, 4, 30), date(2026, 5, 1)]
    assert [validity.covers(day) for day in days] == [False, True, True, False]
    assert read_validity("laufend").covers(days[0]) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026 (2025: 53,20 €)", [("53,20 €", "2025", date(2025, 1, 1), date(2026, 1, 1))]),
        ("ab 1.7.2025 (davor 0,50 €)", [("0,50 €", "bis 30.6.2025", None, date(2025, 7, 1))]),
        ("ab 1.7.2025 (davor: 0,50 €)", [("0,50 €", "bis 30.6.2025", None, date(2025, 7, 1))]),
        ("ab 1.7.2025 (1.1.–30.6.2025: 0,50 €)", [("0,50 €", "1.1.–30.6.2025", date(2025, 1, 1), date(2025, 7, 1))]),
        ("ab 1.1.2024 (bis 2023: 10 Jahre)", [("10 Jahre", "bis 2023", None, date(2024, 1, 1))]),
        ("2026 (ab 2027: 85,00 €)", [("85,00 €", "ab 2027", date(2027, 1, 1), None)]),
        ("2026 (ab 2027 85,00 €)", [("85,00 €", "ab 2027", date(2027, 1, 1), None)]),
        ("2026 (danach 85,00 €)", [("85,00 €", "ab 1.1.2027", date(2027, 1, 1), None)]),
        (
            "2026 (2027: 85,00 €, 2028: 100,00 €)",
            [("85,00 €", "2027", date(2027, 1, 1), date(2028, 1, 1)), ("100,00 €", "2028", date(2028, 1, 1), date(2029, 1, 1))],
        ),
        (
            "2026 (2024: 1,00 €; 2025: 2,00 €)",
            [("1,00 €", "2024", date(2024, 1, 1), date(2025, 1, 1)), ("2,00 €", "2025", date(2025, 1, 1), date(2026, 1, 1))],
        ),
    ],
)
def test_a_remark_with_a_value_is_read(text: str, expected: list[tuple[str, str, date | None, date | None]]) -> None:
    found = [(remark.value, remark.valid, remark.validity.start, remark.validity.end) for remark in read_remarks(text)]
    assert found == expected
    assert all(remark.validity.known for remark in read_remarks(text))


@pytest.mark.parametrize(
    "text", ["2026", "2026 (unverändert zu 2025)", "2025 (laut BVwG-Fall)", "2026 ()", "ab 1.5.2025 (Ankündigung 2024)"]
)
def test_a_remark_without_a_value_gives_nothing(text: str) -> None:
    assert read_remarks(text) == ()


def test_before_an_unknown_time_is_unknown() -> None:
    (remark,) = read_remarks("laufend (davor 0,50 €)")
    assert (remark.value, remark.valid, remark.validity) == ("0,50 €", "davor", Validity("davor"))


@given(st.text(max_size=60))
def test_any_text_is_read_or_unknown(text: str) -> None:
    validity = read_validity(text)
    assert validity.raw == text.strip()
    assert validity.known or (validity.start, validity.end) == (None, None)
    read_remarks(text)


days = st.dates(date(1990, 1, 1), date(2090, 12, 31))


@given(first=days, last=days)
def test_every_range_of_days_includes_both_its_ends(first: date, last: date) -> None:
    first, last = sorted((first, last))
    written = f"{first.day}.{first.month}.{first.year}–{last.day:02}.{last.month:02}.{last.year}"
    validity = read_validity(written)
    assert (validity.known, validity.covers(first), validity.covers(last)) == (True, True, True)
    assert (validity.start, validity.end and (validity.end - last).days) == (first, 1)


def test_most_of_what_the_bundled_entries_say_about_time_is_read(bundled_nodes) -> None:
    said = {fact.validity.raw: fact.validity for node in bundled_nodes for fact in facts_of(node)}
    dated = {raw: validity for raw, validity in said.items() if "20" in raw and not raw.startswith(("Stand", "Rechtsstand"))}
    read = [raw for raw, validity in dated.items() if validity.known or validity.condition]
    assert len(read) / len(dated) > 0.85
