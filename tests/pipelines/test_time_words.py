import pytest

from pipelines.time_words import TimeReading, read_time, shift_month

BASE = "2026-06"


@pytest.mark.parametrize(
    ("question", "as_of"),
    [
        ("Welcher DZ-Satz galt 2024 in Wien?", "2024-12"),
        ("was setz ich 2027 pro monat an", "2027-01"),
        ("Wie hoch ist die Grenze im Jahr 2026?", "2026-06"),
        ("ab 1.7.2026", "2026-07"),
        ("gilt das ab 1. 7. 2028 noch", "2028-07"),
        ("was kriegt er ab jänner 26", "2026-01"),
        ("was kriegt er ab jaenner 2027 u wieviel", "2027-01"),
        ("im Juli", "2026-07"),
        ("voriges Jahr im Juli", "2025-07"),
        ("nächstes Jahr", "2027-01"),
        ("naechstes jahr", "2027-01"),
        ("und letztes jahr", "2025-12"),
        ("nächsten Monat", "2026-07"),
        ("was galt vorigen monat", "2026-05"),
        ("seit heuer", "2026-06"),
        ("derzeit", "2026-06"),
        ("Ist das 2025 und 2026 steuerfrei?", "2026-06"),
        ("2023 und 2024", "2024-12"),
        ("Werte 2024/2025", "2025-12"),
        ("heuer 2026? und wars voriges jahr gleich viel", "2026-06"),
    ],
)
def test_resolves_the_time_a_question_names(question, as_of):
    reading = read_time(question, BASE)

    assert (reading.as_of, reading.named) == (as_of, True)


@pytest.mark.parametrize(
    "question",
    [
        "Wie hoch ist die Geringfügigkeitsgrenze?",
        "dienst beginn 1.2.2001, wieviele monatsgehälter",
        "kollegin, eintritt 2002 (altes system)",
        "gebrauchter wagen, erstzulassung märz 2024",
        "Wie hoch sind 2000 Euro netto?",
        "BGBl I 2016/44",
        "Altersteilzeit mit Beginn 2027",
        "war bis 22.8. bei uns, fängt am 1.9. wieder an",
        "10 Überstunden im März und 5 im Oktober",
        "laut Urteil vom 19.12.2024",
    ],
)
def test_takes_dates_of_the_case_for_no_time(question):
    assert read_time(question, BASE) == TimeReading(as_of=BASE, named=False)


def test_resolves_relative_words_against_the_given_month():
    assert read_time("nächstes Jahr", "2024-12").as_of == "2025-01"
    assert read_time("heuer", "2024-12").as_of == "2024-12"


@pytest.mark.parametrize(
    ("month", "by", "expected"), [("2026-01", -1, "2025-12"), ("2026-12", 1, "2027-01"), ("2026-06", 0, "2026-06")]
)
def test_shifts_months_over_the_turn_of_the_year(month, by, expected):
    assert shift_month(month, by) == expected
