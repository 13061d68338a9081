from custom_postprocessors.evidence import Citation, Claim, Value
from evaluation.recheck import recheck

TEXT = "Die Grenze beträgt 551,10 €. Mehr nicht."
SECTIONS = {("pv-sv-05", "Zusammenfassung"): TEXT}


def claim(text: str = "Die Grenze liegt bei EUR 551,1.", *, quote: str = TEXT[:28], start: int = 0) -> Claim:
    citation = Citation(
        entry_id="pv-sv-05", section="Zusammenfassung", stand="2026-01", quote=quote, start=start, end=start + len(quote)
    )
    return Claim(text=text, citations=(citation,))


def test_a_sound_claim_has_no_violations() -> None:
    assert recheck([claim()], SECTIONS) == ()


def test_a_quote_that_is_no_slice_is_found() -> None:
    assert "quote_mismatch" in [item.kind for item in recheck([claim(quote="Die Grenze beträgt 511,10 €.")], SECTIONS)]
    assert "quote_mismatch" in [item.kind for item in recheck([claim(quote="")], SECTIONS)]
    assert [item.kind for item in recheck([claim(start=1)], SECTIONS)] == ["quote_mismatch"]


def test_a_value_in_no_quote_is_found() -> None:
    assert [item.kind for item in recheck([claim("Die Grenze liegt bei 511,10 €.")], SECTIONS)] == ["value_not_in_source"]


def test_an_entry_that_was_not_given_is_found() -> None:
    assert [item.kind for item in recheck([claim()], SECTIONS, given_ids=["pv-sv-06"])] == ["unknown_source"]


def test_only_a_norm_may_stand_in_title_or_heading_instead_of_the_quote() -> None:
    named = claim("Die Grenze liegt nach § 5 ASVG bei EUR 551,1.")
    assert recheck([named], SECTIONS, titles={"pv-sv-05": "§ 5 Abs 2 ASVG: Grenze 2027"}) == ()
    assert [item.value for item in recheck([named], SECTIONS)] == ["§ 5 ASVG"]
    dated = claim("Die Grenze liegt 2027 bei EUR 551,1.")
    assert [item.value for item in recheck([dated], SECTIONS, titles={"pv-sv-05": "Grenze 2027"})] == ["2027"]


def test_a_derived_result_is_excused_and_nothing_else() -> None:
    result = Value(text="6.613,20 €", kind="amount", normalized="6613.2 EUR", entry_id=None)
    derived = claim("12 × 551,10 € sind 6.613,20 €.").model_copy(update={"derived": True, "values": (result,)})
    assert [item.value for item in recheck([derived], SECTIONS)] == ["12"]
