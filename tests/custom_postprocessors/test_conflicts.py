from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest

from custom_postprocessors.conflicts import detect_conflicts, judged, load_verdicts
from custom_postprocessors.evidence import Conflict, Fact, Validity
from tests.custom_postprocessors.passages import StemAnalyzer


@dataclass(frozen=True)
class Section:
    entry_id: str
    text: str
    section: str = "Kernwerte & Fristen"
    title: str = "Nachtschwerarbeits-Beitrag"
    stand: str = "2026-01"
    topic: str = "sv"
    work: str = "pv"
    cross_refs: tuple[str, ...] = ()

    @property
    def node_id(self) -> str:
        return f"{self.entry_id}#{self.section}"


def year(first: int, last: int) -> Validity:
    return Validity(raw=f"{first}", start=date(first, 1, 1), end=date(last + 1, 1, 1), known=True)


UNKNOWN = Validity(raw="laufend")


def row(entry_id: str, quantity: str, value: str, validity: Validity = UNKNOWN, stand: str = "2026-01") -> tuple[Section, Fact]:
    text = f"| {quantity} | {value} | {validity.raw} | – |"
    section = Section(entry_id, text, stand=stand)
    fact = Fact(
        fact_id=f"{entry_id}/1",
        node_id=section.node_id,
        entry_id=entry_id,
        section=section.section,
        stand=stand,
        quantity=quantity,
        value=value,
        valid=validity.raw,
        basis="",
        start=0,
        end=len(text),
        validity=validity,
    )
    return section, fact


def detected(*rows: tuple[Section, Fact]) -> tuple[Conflict, ...]:
    return detect_conflicts([fact for _, fact in rows], [section for section, _ in rows], StemAnalyzer())


def test_two_entries_with_different_values_conflict_and_both_sides_are_quoted() -> None:
    (conflict,) = detected(
        row("pv-sv-01", "Nachtschwerarbeits-Beitrag", "3,80 %"), row("pv-sv-02", "Nachtschwerarbeits-Beitrag (NB)", "3,70 %")
    )
    assert conflict.status == "open"
    assert conflict.note == ""
    assert [(side.entry_id, side.quote) for side in conflict.sides] == [
        ("pv-sv-01", "| Nachtschwerarbeits-Beitrag | 3,80 % | laufend | – |"),
        ("pv-sv-02", "| Nachtschwerarbeits-Beitrag (NB) | 3,70 % | laufend | – |"),
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("Beitrag Nachtarbeit", "3,80 %", year(2025, 2025)), ("Beitrag Nachtarbeit", "3,70 %", year(2026, 2026))),
        (("Beitrag Nachtarbeit", "3,80 %", UNKNOWN), ("Beitrag Nachtarbeit", "3,8 Prozent", UNKNOWN)),
        (("Beitrag Nachtarbeit", "3,80 %", UNKNOWN), ("Frist Meldung", "3,70 %", UNKNOWN)),
        (("Beitrag Nachtarbeit", "3,80 %", UNKNOWN), ("Beitrag Nachtarbeit", "80,00 €", UNKNOWN)),
        (("Grenze monatlich", "551,10 €", UNKNOWN), ("Grenze jährlich", "6.613,20 €", UNKNOWN)),
        (("Beitrag Nachtarbeit", "3,80 %", UNKNOWN), ("Beitrag Nachtarbeit bisher", "3,70 %", UNKNOWN)),
    ],
    ids=["series", "same value", "other quantity", "other kind", "other frequency", "past"],
)
def test_no_conflict(one: tuple[str, str, Validity], other: tuple[str, str, Validity]) -> None:
    assert detected(row("pv-sv-01", *one), row("pv-sv-02", *other)) == ()


def test_facts_of_one_entry_never_conflict() -> None:
    section, fact = row("pv-sv-01", "Beitrag Nachtarbeit", "3,80 %")
    _, other = row("pv-sv-01", "Beitrag Nachtarbeit", "3,70 %")
    assert detect_conflicts([fact, other], [section], StemAnalyzer()) == ()


def test_an_older_side_stays_a_conflict_with_a_note() -> None:
    (conflict,) = detected(
        row("pv-sv-01", "Beitrag Nachtarbeit", "3,80 %"), row("pv-sv-02", "Beitrag Nachtarbeit", "3,70 %", stand="2021-06")
    )
    assert conflict.note == "möglicherweise überholt"


def test_a_sentence_that_announces_a_deviation_leads_to_the_other_statement() -> None:
    mine = Section(
        "pv-azt-10",
        "Drei Blöcke zu zehn Minuten gelten als unzulässige Teilung. Das Serviceportal nennt dagegen mehr, siehe [pv-azt-07].",
        section="Zusammenfassung",
    )
    yours = Section("pv-azt-07", "Drei Blöcke zu zehn Minuten gelten als Teilung der Pause.", section="Zusammenfassung")
    (conflict,) = detect_conflicts([], [mine, yours], StemAnalyzer())
    assert [side.quote for side in conflict.sides] == [
        "Drei Blöcke zu zehn Minuten gelten als unzulässige Teilung.",
        "Drei Blöcke zu zehn Minuten gelten als Teilung der Pause.",
    ]


def test_verdicts_judge_what_they_name_and_add_what_was_not_detected(tmp_path: Path) -> None:
    rows = (row("pv-sv-01", "Beitrag Nachtarbeit", "3,80 %"), row("pv-sv-02", "Beitrag Nachtarbeit", "3,70 %"))
    sections = [section for section, _ in rows]
    path = tmp_path / "conflicts.yaml"
    path.write_text(
        """
- {quantity: Nachtschwerarbeit, status: explained, note: älter, sides: [
    {entry: pv-sv-01, section: Kernwerte & Fristen, value: "3,80 % (laufend)"},
    {entry: pv-sv-02, section: Kernwerte & Fristen, value: "3,70 % (laufend)"}]}
- {quantity: Von Hand, status: open, sides: [
    {entry: pv-sv-01, section: Kernwerte & Fristen, value: Beitrag Nachtarbeit},
    {entry: pv-sv-02, section: Kernwerte & Fristen, value: Beitrag Nachtarbeit}]}
- {quantity: Veraltet, status: open, sides: [
    {entry: pv-sv-01, section: Kernwerte & Fristen, value: steht nicht mehr da},
    {entry: pv-sv-02, section: Kernwerte & Fristen, value: Beitrag Nachtarbeit}]}
""",
        encoding="utf-8",
    )
    result = judged(detected(*rows), load_verdicts(path), sections)
    assert [(conflict.quantity, conflict.status, conflict.note) for conflict in result] == [
        ("Nachtschwerarbeit", "explained", "älter"),
        ("Von Hand", "open", ""),
    ]


def test_no_file_is_no_verdict(tmp_path: Path) -> None:
    assert load_verdicts(tmp_path / "none.yaml") == ()
