from custom_postprocessors.evidence import Citation, Claim, Conflict, ConflictSide, DraftClaim, Rejected, Value, Violation
from pipelines.conclusion import NotShown, Shown, all_violations, conclude, touched_conflicts
from pipelines.contracts import DraftEnd
from pipelines.drafting import CheckedDraft

CITATION = Citation(entry_id="pv-sv-05", section="Zusammenfassung", stand="2026-01", quote="x", start=10, end=40)
AMOUNT = Claim(
    text="Die Grenze beträgt 551,10 €.",
    citations=(CITATION,),
    values=(Value(text="551,10 €", kind="amount", normalized="551.10 EUR", entry_id="pv-sv-05"),),
)
WORDS = Claim(text="Sie gilt monatlich.", citations=(CITATION,))
BAD = Rejected(
    DraftClaim("Es sind 511,10 €.", ("pv-sv-05",)), (Violation(kind="value_not_in_source", message="511,10 € fehlt."),)
)
VALUE_QUESTION = "Wie hoch ist die Geringfügigkeitsgrenze?"


def draft(*claims: Claim, rejected: tuple[Rejected, ...] = (), end: DraftEnd | None = None) -> CheckedDraft:
    return CheckedDraft(claims, rejected, end or DraftEnd())


def test_claims_that_all_hold_are_an_answer() -> None:
    assert conclude(VALUE_QUESTION, draft(AMOUNT), None) == Shown("answered", (AMOUNT,), (), None, 0)


def test_nothing_claimed_means_that_the_knowledge_base_is_silent() -> None:
    assert conclude(VALUE_QUESTION, draft(end=DraftEnd(silent=True)), None) == NotShown("kb_silent", 0)


def test_only_failed_claims_are_refused() -> None:
    verdict = conclude(VALUE_QUESTION, draft(rejected=(BAD,)), draft(rejected=(BAD, BAD)))
    assert verdict == NotShown("verification_failed", 2)


def test_a_dropped_claim_makes_the_rest_partial_and_says_what_is_missing() -> None:
    verdict = conclude(VALUE_QUESTION, draft(rejected=(BAD,)), draft(AMOUNT, rejected=(BAD,)))
    assert verdict == Shown("partial", (AMOUNT,), (f"Teile der Frage „{VALUE_QUESTION}“",), None, 1)


def test_what_is_left_must_bring_the_value_that_was_asked_for() -> None:
    assert conclude(VALUE_QUESTION, draft(WORDS, rejected=(BAD,)), draft(WORDS, rejected=(BAD,))) == NotShown(
        "verification_failed", 1
    )


def test_the_first_draft_counts_where_nothing_of_the_second_holds() -> None:
    verdict = conclude(VALUE_QUESTION, draft(AMOUNT, rejected=(BAD,)), draft(end=DraftEnd(silent=True)))
    assert isinstance(verdict, Shown)
    assert (verdict.status, verdict.claims) == ("partial", (AMOUNT,))


def test_a_question_back_makes_it_a_clarification() -> None:
    verdict = conclude("Darf ich?", draft(WORDS, end=DraftEnd(follow_up="Welcher Kollektivvertrag gilt?")), None)
    assert verdict == Shown("clarification", (WORDS,), (), "Welcher Kollektivvertrag gilt?", 0)


def test_unproven_remarks_must_not_bring_values_links_or_marks() -> None:
    end = DraftEnd(
        follow_up="Gilt der Satz von 21 %?",
        unanswered=(
            "siehe [pv-sv-99]",
            "mehr auf https://example.org",
            "die 3.000 Euro aus der Frage",
            "x" * 301,
            "die Höhe 2027",
        ),
    )
    verdict = conclude("Wie ist es bei 3.000,00 € Gehalt?", draft(AMOUNT, end=end), None)
    assert isinstance(verdict, Shown)
    assert verdict.follow_up is None
    assert verdict.unanswered == ("die 3.000 Euro aus der Frage",)


def test_violations_of_both_drafts_are_kept() -> None:
    assert all_violations(draft(rejected=(BAD,)), draft(rejected=(BAD,))) == BAD.violations * 2
    assert all_violations(draft(AMOUNT), None) == ()


def test_a_conflict_is_touched_where_a_quote_overlaps_a_side() -> None:
    def conflict(start: int, end: int, section: str = "Zusammenfassung") -> Conflict:
        side = ConflictSide(entry_id="pv-sv-05", section=section, stand="2026-01", value="1", quote="x", start=start, end=end)
        return Conflict(id=f"{start}", quantity="q", sides=(side, side.model_copy(update={"entry_id": "pv-sv-06"})))

    overlapping, before, after, elsewhere = conflict(39, 60), conflict(0, 10), conflict(40, 50), conflict(10, 40, "Kernwerte")
    assert touched_conflicts([AMOUNT], [overlapping, before, after, elsewhere]) == (overlapping,)
