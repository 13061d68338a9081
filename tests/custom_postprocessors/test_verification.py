import pytest

from custom_postprocessors.evidence import Citation, Claim, DraftClaim, DraftFormula, Formula, Operand, Rejected, Value
from custom_postprocessors.verification import Verifier
from tests.custom_postprocessors.passages import StemAnalyzer, context, passage

GFG = passage(
    "pv-sv-05",
    "Die monatliche Geringfügigkeitsgrenze beträgt 2026 **551,10 €**. Eine tägliche Grenze gibt es nicht mehr.\n\n"
    "Der Dienstgeber zahlt 1,10 % UV, der Dienstnehmer zahlt 0,00 %.",
)
ROWS = passage(
    "pv-sv-01",
    "| Kennzahl | Wert | Gültig | Grundlage |\n|---|---|---|---|\n"
    "| HBG täglich | 231,00 € | ab 01.01.2026 (2025: 215,00 €) | § 45 ASVG |\n"
    "| HBG monatlich | 6.930,00 € | ab 01.01.2026 | § 45 ASVG |",
    section="Kernwerte & Fristen",
)
CONTEXT = context(GFG, ROWS)


def check(text: str, *sources: str, question: str = "", **rest: object) -> Claim | Rejected:
    return Verifier(StemAnalyzer()).check(DraftClaim(text, sources, **rest), CONTEXT, question)  # type: ignore[arg-type]


def kinds(outcome: Claim | Rejected) -> set[str]:
    assert isinstance(outcome, Rejected), outcome
    return {violation.kind for violation in outcome.violations}


def test_a_proven_claim_carries_the_sentence_and_its_values() -> None:
    assert check("2026 liegt die Geringfügigkeitsgrenze monatlich bei EUR 551,1.", "pv-sv-05") == Claim(
        text="2026 liegt die Geringfügigkeitsgrenze monatlich bei EUR 551,1.",
        citations=(
            Citation(
                entry_id="pv-sv-05",
                section="Zusammenfassung",
                stand="2026-01",
                quote="Die monatliche Geringfügigkeitsgrenze beträgt 2026 **551,10 €**.",
                start=0,
                end=64,
            ),
        ),
        values=(
            Value(text="2026", kind="date", normalized="2026", entry_id="pv-sv-05"),
            Value(text="EUR 551,1", kind="amount", normalized="551.1 EUR", entry_id="pv-sv-05"),
        ),
    )


@pytest.mark.parametrize(
    ("text", "sources", "expected"),
    [
        ("Die monatliche Geringfügigkeitsgrenze beträgt 2026 511,10 €.", ("pv-sv-05",), "value_not_in_source"),
        ("Die monatliche Geringfügigkeitsgrenze beträgt 2026 551,10 €.", ("pv-xx-01",), "unknown_source"),
        ("Die monatliche Geringfügigkeitsgrenze beträgt 2026 551,10 €.", (), "uncited"),
        ("Die monatliche Geringfügigkeitsgrenze beträgt 2026 551,10 € [pv-xx-01].", ("pv-sv-05",), "unknown_source"),
        ("Die monatliche Geringfügigkeitsgrenze beträgt 2026 551,10 € [8].", ("pv-sv-05",), "unknown_source"),
        ("Nach § 5 Abs 2 ASVG beträgt die monatliche Geringfügigkeitsgrenze 551,10 €.", ("pv-sv-05",), "norm_not_in_source"),
        ("Die jährliche Geringfügigkeitsgrenze beträgt 2026 551,10 €.", ("pv-sv-05",), "value_wrong_role"),
        ("Der Dienstnehmer zahlt 1,10 % UV.", ("pv-sv-05",), "value_wrong_role"),
        ("Eine tägliche Grenze gibt es.", ("pv-sv-05",), "negation"),
        ("Die monatliche Geringfügigkeitsgrenze beträgt 2026 nicht 551,10 €.", ("pv-sv-05",), "negation"),
        ("Die monatliche Geringfügigkeitsgrenze der Lehrlinge beträgt 2026 551,10 €.", ("pv-sv-05",), "subject"),
        ("Gutscheine sind immer steuerfrei.", ("pv-sv-05",), "unsupported"),
        ("HBG täglich: 6.930,00 €", ("pv-sv-01",), "value_wrong_role"),
        ("2025 beträgt die HBG täglich 231,00 €.", ("pv-sv-01",), "value_wrong_role"),
        ("<b>Die Grenze</b> beträgt 551,10 €.", ("pv-sv-05",), "malformed"),
        ("![x](http://a.example/?q) Die Grenze beträgt 551,10 €.", ("pv-sv-05",), "malformed"),
    ],
)
def test_a_lie_is_rejected_and_named(text: str, sources: tuple[str, ...], expected: str) -> None:
    assert expected in kinds(check(text, *sources))


def test_a_value_that_only_the_question_names_proves_nothing() -> None:
    outcome = check("Die monatliche Geringfügigkeitsgrenze beträgt 600,00 €.", "pv-sv-05", question="Sind es 600 Euro?")
    assert "value_only_in_question" in kinds(outcome)


def test_marks_of_given_sources_and_stand_are_stripped() -> None:
    outcome = check("⚠ **Die monatliche Geringfügigkeitsgrenze** beträgt 2026 551,10 € (Stand 2020-01) [pv-sv-05].", "pv-sv-05")
    assert isinstance(outcome, Claim)
    assert outcome.text == "Die monatliche Geringfügigkeitsgrenze beträgt 2026 551,10 €."


def test_a_row_shown_as_a_statement_has_the_row_as_its_quote() -> None:
    row = "| HBG monatlich | 6.930,00 € | ab 01.01.2026 | § 45 ASVG |"
    start = ROWS.text.index(row)
    text = "HBG monatlich: 6.930,00 € (ab 01.01.2026)"
    outcome = check(text, ROWS.block_id, quotes=((ROWS.block_id, start, start + len(row)),))
    assert isinstance(outcome, Claim)
    assert (outcome.text, [citation.quote for citation in outcome.citations]) == (text, [row])


@pytest.mark.parametrize("text", ["HBG monatlich: 6.390,00 €", "HBG monatlich: 6.930,00 € (ab 01.01.2026), und mehr"])
def test_a_quoted_claim_says_nothing_but_its_quote(text: str) -> None:
    row = "| HBG monatlich | 6.930,00 € | ab 01.01.2026 | § 45 ASVG |"
    start = ROWS.text.index(row)
    assert kinds(check(text, ROWS.block_id, quotes=((ROWS.block_id, start, start + len(row)),))) == {"quote_mismatch"}


def test_a_place_that_was_not_given_is_no_quote() -> None:
    assert kinds(check("x", GFG.block_id, quotes=((GFG.block_id, 0, 9999),))) == {"quote_mismatch"}


def test_a_calculation_with_cited_and_asked_operands_passes() -> None:
    outcome = check(
        "Für 14 Monate ergibt die HBG monatlich 97.020,00 €.",
        "pv-sv-01",
        question="Was ist das in 14 Monaten?",
        derived=True,
        formula=DraftFormula("14 × 6.930,00 €", "97.020,00 €"),
    )
    assert isinstance(outcome, Claim)
    assert outcome.formula == Formula(
        expression="14 * 6930.00",
        operands=(Operand(value="14", entry_id="question"), Operand(value="6930", entry_id="pv-sv-01")),
        result="97020",
    )
    assert [(value.text, value.entry_id) for value in outcome.values] == [("14 Monate", None), ("97.020,00 €", None)]


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        (DraftFormula("14 * 6930", "97021"), "arithmetic"),
        (DraftFormula("14 * 6930 ** 2", "97020"), "arithmetic"),
        (DraftFormula("15 * 6468", "97020"), "value_not_in_source"),
        (None, "arithmetic"),
    ],
)
def test_a_wrong_calculation_is_rejected(formula: DraftFormula | None, expected: str) -> None:
    text = "Für 14 Monate ergibt die HBG monatlich 97.020,00 €."
    outcome = check(text, "pv-sv-01", question="Was ist das in 14 Monaten?", derived=True, formula=formula)
    assert expected in kinds(outcome)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (
            "Nach einem Unfall 8 Wochen, ab 15 Jahren 10 Wochen volles Entgelt.",
            "Nach einem Unfall sind es 8 Wochen volles Entgelt.",
        ),
        ("| Kennzahl | Wert | Gültig |\n|---|---|---|\n| Löhne | 1,8 % | 2026 |", "Die Löhne steigen 2026 um 1,8 Prozent."),
    ],
)
def test_a_true_claim_in_other_words_passes(source: str, text: str) -> None:
    given = passage("pv-xx-09", source)
    outcome = Verifier(StemAnalyzer()).check(DraftClaim(text, (given.block_id,)), context(given), "")
    assert isinstance(outcome, Claim), outcome


class KnowingAnalyzer(StemAnalyzer):
    """Knows the words that the test's compounds are made of."""

    def rarity(self, token: str) -> float:
        return 2.0 if token in ("bonus", "abreis") else 3.0


@pytest.mark.parametrize(
    ("text", "passes"), [("Der Ankunftsbonus gebührt im Juni.", True), ("Der Ankunftslohn gebührt im Juni.", False)]
)
def test_the_half_of_a_compound_is_read_with_the_end_of_the_other(text: str, *, passes: bool) -> None:
    given = passage("pv-xx-09", "Ankunfts- und Abreisebonus gebühren im Juni.")
    outcome = Verifier(KnowingAnalyzer()).check(DraftClaim(text, (given.block_id,)), context(given), "")
    assert isinstance(outcome, Claim) == passes, outcome


LAW = passage("ris-asvg-49", "(1) Unter Entgelt sind die Geld- und Sachbezüge zu verstehen.", section="§ 49 ASVG Entgelt")


@pytest.mark.parametrize("norm", ["§ 49 ASVG", "§ 49 Abs 1 ASVG"])
def test_a_norm_may_stand_in_the_heading_of_its_quote(norm: str) -> None:
    text = f"Unter Entgelt sind nach {norm} die Geld- und Sachbezüge zu verstehen."
    outcome = Verifier(StemAnalyzer()).check(DraftClaim(text, (LAW.block_id,)), context(LAW), "")
    assert isinstance(outcome, Claim), outcome
    assert [(value.text, value.entry_id) for value in outcome.values] == [(norm, "ris-asvg-49")]


@pytest.mark.parametrize("norm", ["§ 49 Abs 2 ASVG", "§ 48 ASVG", "§ 49 EStG", "§ 49 Abs 1 Z 3 ASVG"])
def test_a_heading_proves_no_other_norm(norm: str) -> None:
    text = f"Unter Entgelt sind nach {norm} die Geld- und Sachbezüge zu verstehen."
    outcome = Verifier(StemAnalyzer()).check(DraftClaim(text, (LAW.block_id,)), context(LAW), "")
    assert kinds(outcome) == {"norm_not_in_source"}


@pytest.mark.parametrize(
    "written", ["551,1O €", "5S1,10 €", "DXL½ Euro", "Ⅻ Euro", "511,10\u00a0€", "fünfhundertelf Euro", "５１１,１０ €"]
)
def test_a_number_in_disguise_is_no_way_around_the_check(written: str) -> None:
    assert "value_not_in_source" in kinds(check(f"Die monatliche Geringfügigkeitsgrenze beträgt 2026 {written}.", "pv-sv-05"))


def test_a_derived_claim_that_calculates_nothing_is_checked_as_a_statement() -> None:
    formula = DraftFormula("231,00 * 1", "231,00")
    assert "value_wrong_role" in kinds(check("HBG monatlich: 231,00 €", "pv-sv-01", derived=True, formula=formula))
    plain = check("HBG täglich: 231,00 €", "pv-sv-01", derived=True, formula=formula)
    assert isinstance(plain, Claim)
    assert (plain.derived, plain.formula) == (False, None)


@pytest.mark.parametrize("text", ["", " ", "[pv-sv-05]", "⚠", "…", "x" * 5000, "\u200b\u202e"])
def test_text_that_says_nothing_or_too_much_is_malformed(text: str) -> None:
    assert "malformed" in kinds(check(text, "pv-sv-05"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Für 14 Monate ergibt die HBG monatlich für Lehrlinge 97.020,00 €.", "subject"),
        ("Für 14 Monate ergibt die HBG monatlich in Wien 97.020,00 €.", "subject"),
        ("Für 14 Monate ergibt die HBG monatlich nicht 97.020,00 €.", "negation"),
        ("Für 14 Monate ergibt nur die HBG monatlich 97.020,00 €.", "negation"),
    ],
)
def test_a_calculation_is_said_of_what_its_sources_say(text: str, expected: str) -> None:
    formula = DraftFormula("14 * 6930", "97020")
    assert expected in kinds(check(text, "pv-sv-01", question="Und in 14 Monaten?", derived=True, formula=formula))


LIST = "Seit 1.1.2026 gilt für Löhne:\n\n- für Facharbeiter plus 4,5 %,\n- für Lehrlinge plus 6 %."
FREE = "Ausgenommen sind Lehrlinge und freie Dienstnehmer. Für Zulagen, Prämien und Löhne gilt 2,6 %, für Honorare 2,4 %."


@pytest.mark.parametrize(
    ("source", "text", "passes"),
    [
        (LIST, "Die Löhne der Facharbeiter steigen 2026 um 4,5 %, Lehrlinge 6 %.", True),
        (LIST, "Die Löhne der Facharbeiter steigen 2026 um 6 %.", False),
        (FREE, "Für Prämien gilt 2,6 %.", True),
        (FREE, "Für Prämien gilt 2,4 %.", False),
        (FREE, "Lehrlinge sind nicht ausgenommen.", False),
        (FREE, "Lehrlinge sind ausgenommen.", True),
    ],
)
def test_lists_enumerations_and_double_denials_are_read(source: str, text: str, *, passes: bool) -> None:
    outcome = Verifier(StemAnalyzer()).check(DraftClaim(text, ("pv-x-01",)), context(passage("pv-x-01", source)), "")
    assert isinstance(outcome, Claim) is passes, outcome


def test_a_validity_that_is_worded_as_a_stand_stays_behind_a_dash() -> None:
    row = "| Kennzahl | Wert | Gültig | Grundlage |\n|---|---|---|---|\n| Freibetrag | 45,00 € | Stand Mitte 2018 | x |"
    given = context(passage("pv-x-01", row, section="Kernwerte & Fristen"))
    outcome = Verifier(StemAnalyzer()).check(DraftClaim("Freibetrag: 45,00 € (Stand Mitte 2018)", ("pv-x-01",)), given, "")
    assert isinstance(outcome, Claim)
    assert outcome.text == "Freibetrag: 45,00 € – Stand Mitte 2018"
