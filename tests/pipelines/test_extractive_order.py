from datetime import date

import pytest

from custom_postprocessors.evidence import Fact, Validity
from pipelines.extractive_order import in_reading_order
from pipelines.extractive_ranking import Candidate
from pipelines.extractive_selection import Excerpt
from pipelines.extractive_units import QuotableCache
from pipelines.german import GermanAnalyzer
from tests.pipelines.quoting import made_up

ROWS = (
    "| Kennzahl | Wert | Gültig |\n|---|---|---|\n"
    "| Grenze monatlich | 518,44 € | 2024 |\n| Grenze monatlich | 551,10 € | 2026 |\n| Beitrag | 14,12 % | 2026 |"
)


@pytest.fixture(scope="module")
def excerpts(bundled_nodes) -> dict[str, Excerpt]:
    """The rows by their value; the two of the limit cover all of the question, the third nothing."""
    passage = made_up(ROWS, section="Kernwerte & Fristen")
    pieces = QuotableCache(GermanAnalyzer.build(bundled_nodes)).of(passage)
    return {
        value: Excerpt((Candidate(passage, number, piece, 1.0, coverage=1.0 if "Grenze" in piece.text else 0.1),))
        for number, piece in enumerate(pieces)
        for value in ("518,44", "551,10", "14,12")
        if value in piece.text
    }


def fact(value: str, year: int) -> Fact:
    start = ROWS.index(value)
    validity = Validity(str(year), date(year, 1, 1), date(year + 1, 1, 1), known=True)
    place = ("pv-x-01#kernwerte & fristen", "pv-x-01", "Kernwerte & Fristen", "2026-01")
    return Fact(value, *place, "Grenze", value, "", "", start, start + 4, validity)


def ordered(excerpts: dict[str, Excerpt], *values: str, as_of: str) -> list[str]:
    facts = [fact("518,44", 2024), fact("551,10", 2026), fact("14,12", 2026)]
    given = [excerpts[value] for value in values]
    found = in_reading_order(given, facts, as_of)
    return [value for one in found for value, other in excerpts.items() if one is other]


def test_what_names_the_asked_thing_is_read_before_its_neighbours(excerpts):
    assert ordered(excerpts, "14,12", "551,10", as_of="2026-06") == ["551,10", "14,12"]


def test_what_holds_is_read_before_what_had_ended(excerpts):
    assert ordered(excerpts, "518,44", "14,12", "551,10", as_of="2026-06") == ["551,10", "518,44", "14,12"]
    assert ordered(excerpts, "518,44", "551,10", as_of="2024-06") == ["518,44", "551,10"]


def test_nothing_else_moves(excerpts):
    assert in_reading_order([], [], "2026-06") == []
    assert in_reading_order([excerpts["518,44"], excerpts["551,10"]], [], "2026-06") == [excerpts["518,44"], excerpts["551,10"]]
