from dataclasses import replace
from datetime import date

from custom_postprocessors.evidence import (
    ChannelScores,
    Citation,
    Claim,
    Fact,
    GroundedContext,
    Passage,
    Validity,
)
from custom_postprocessors.marks import with_marks

TEXT = "| Grenze | 518,44 € | 2024 | x |\n| Grenze | 551,10 € | 2026 | x |"


def fact(number: int, value: str, year: int) -> Fact:
    validity = Validity(str(year), date(year, 1, 1), date(year + 1, 1, 1), known=True)
    start = TEXT.index(f"| Grenze | {value}")
    return Fact(
        f"f{number}",
        "pv-sv-05#k",
        "pv-sv-05",
        "Kernwerte & Fristen",
        "2026-01",
        "Grenze",
        value,
        str(year),
        "x",
        start,
        start + 31,
        validity,
    )


def context(*, secondary: bool = False) -> GroundedContext:
    passage = Passage(
        block_id="pv-sv-05",
        node_id="pv-sv-05#k",
        entry_id="pv-sv-05",
        section="Kernwerte & Fristen",
        title="Grenze",
        stand="2026-01",
        work="pv",
        topic="sv",
        text=TEXT,
        shown=((0, len(TEXT)),),
        scores=ChannelScores(),
        secondary_source=secondary,
    )
    return GroundedContext((passage,), facts=(fact(1, "518,44 €", 2024), fact(2, "551,10 €", 2026)))


def claim(value: str, stand: str = "2026-01") -> Claim:
    start = TEXT.index(f"| Grenze | {value}")
    citation = Citation(
        entry_id="pv-sv-05",
        section="Kernwerte & Fristen",
        stand=stand,
        quote=TEXT[start : start + 31],
        start=start,
        end=start + 31,
    )
    return Claim(text=f"Die Grenze beträgt {value}.", citations=(citation,))


def marks(one: Claim, *, as_of: str = "2026-06", secondary: bool = False) -> tuple[str, ...]:
    return with_marks(one, context(secondary=secondary), as_of=as_of, outdated_after_months=24).marks


def test_a_current_official_value_has_no_mark() -> None:
    assert marks(claim("551,10 €")) == ()


def test_a_value_that_ended_while_another_row_holds_is_superseded() -> None:
    assert marks(claim("518,44 €")) == ("superseded",)


def test_for_the_month_in_which_it_held_the_same_value_is_not_superseded() -> None:
    assert marks(claim("518,44 €"), as_of="2024-06") == ()


def test_only_a_stand_beyond_the_limit_is_outdated() -> None:
    assert marks(claim("551,10 €", stand="2024-06")) == ()
    assert marks(claim("551,10 €", stand="2024-05")) == ("outdated",)


def test_an_entry_without_an_official_publisher_is_a_secondary_source() -> None:
    assert marks(claim("551,10 €"), secondary=True) == ("secondary_source",)


def test_a_row_that_tells_the_value_before_beside_the_one_that_holds_is_not_superseded() -> None:
    row = "| Grenze | 551,10 € | 2026 (2024: 518,44 €) | x |"
    of_2026 = replace(fact(2, "551,10 €", 2026), start=0, end=len(row))
    remark = replace(fact(1, "518,44 €", 2024), start=0, end=len(row))
    passage = replace(context().passages[0], text=row, shown=((0, len(row)),))
    citation = claim("551,10 €").citations[0].model_copy(update={"quote": row, "start": 0, "end": len(row)})
    told = GroundedContext((passage,), facts=(of_2026, remark))
    both = Claim(text="Grenze: 551,10 € (2026 (2024: 518,44 €))", citations=(citation,))
    old = Claim(text="Grenze: 518,44 €", citations=(citation,))
    assert with_marks(both, told, as_of="2026-06", outdated_after_months=24).marks == ()
    assert with_marks(old, told, as_of="2026-06", outdated_after_months=24).marks == ("superseded",)
