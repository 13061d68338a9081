from custom_postprocessors.evidence import Citation, Claim, Conflict, ConflictSide, Formula, Operand
from pipelines.answer_text import answer_text, claim_text, grouped_by_entry, month_name, plan_heading, refusal_text
from pipelines.contracts import Plan

SENTENCE = Citation(entry_id="pv-sv-05", section="Zusammenfassung", stand="2026-01", quote="Es gilt 1 €.", start=0, end=12)
OTHER = SENTENCE.model_copy(update={"entry_id": "pv-sv-06"})
OLDER = SENTENCE.model_copy(update={"entry_id": "pv-sv-07", "stand": "2024-05"})


def test_a_claim_ends_with_its_stand_its_entry_and_a_full_stop() -> None:
    claim = Claim(text="Die Grenze beträgt 551,10 €.", citations=(SENTENCE,))
    assert claim_text(claim) == "Die Grenze beträgt 551,10 € (Stand 2026-01) [pv-sv-05]."


def test_entries_of_one_stand_share_it_and_none_is_named_twice() -> None:
    claim = Claim(text="So ist es", citations=(SENTENCE, SENTENCE, OLDER, OTHER))
    assert claim_text(claim) == "So ist es (Stand 2026-01) [pv-sv-05] [pv-sv-06] (Stand 2024-05) [pv-sv-07]."


def test_a_date_at_the_end_keeps_its_full_stop() -> None:
    claim = Claim(text="Beginn 7.1., frei bis 6.2.", citations=(SENTENCE,))
    assert claim_text(claim) == "Beginn 7.1., frei bis 6.2. (Stand 2026-01) [pv-sv-05]."


def test_a_calculated_claim_shows_its_formula_and_marks() -> None:
    formula = Formula(expression="2 * 3", operands=(Operand(value="2", entry_id="question"),), result="6")
    claim = Claim(text="Das sind 6 €.", derived=True, formula=formula, marks=("secondary_source",), citations=(SENTENCE,))
    assert claim_text(claim) == "Das sind 6 € (berechnet: 2 * 3 = 6; laut Sekundärquelle) (Stand 2026-01) [pv-sv-05]."


def test_both_sides_of_a_conflict_carry_the_warning_sign() -> None:
    sides = tuple(
        ConflictSide(entry_id=e, section="Kernwerte & Fristen", stand=s, value=v, quote="| x |", start=0, end=5)
        for e, s, v in [("pv-nsch-01", "2026-01", "3,80 %"), ("pv-sv-03", "2025-06", "3,70 %")]
    )
    conflict = Conflict(id="k1", quantity="Nachtschwerarbeits-Beitrag", sides=sides, note="möglicherweise überholt")
    claim = Claim(
        text="Der Beitrag beträgt 3,80 %.",
        citations=(
            Citation(entry_id="pv-nsch-01", section="Kernwerte & Fristen", stand="2026-01", quote="| x |", start=0, end=5),
        ),
    )
    assert answer_text([claim], [conflict]) == (
        "⚠ Der Beitrag beträgt 3,80 % (Stand 2026-01) [pv-nsch-01].\n\n"
        "⚠ **Widersprüchliche Angaben: Nachtschwerarbeits-Beitrag** (möglicherweise überholt):\n\n"
        "- ⚠ 3,80 % (Stand 2026-01) [pv-nsch-01]\n"
        "- ⚠ 3,70 % (Stand 2025-06) [pv-sv-03]"
    )


def test_open_parts_and_the_question_back_come_last() -> None:
    claim = Claim(text="A gilt.", citations=(SENTENCE,))
    assert answer_text([claim], unanswered=["Teil B"], follow_up="Welcher KV gilt?") == (
        "A gilt (Stand 2026-01) [pv-sv-05].\n\nNicht belegt beantwortet: Teil B.\n\nRückfrage: Welcher KV gilt?"
    )


def test_months_have_their_austrian_names() -> None:
    assert [month_name("2026-01"), month_name("2025-12")] == ["Jänner 2026", "Dezember 2025"]


def test_the_period_is_told_only_when_it_was_named() -> None:
    plan = Plan(type="value", queries=("x",), as_of="2025-07", as_of_named=True)
    assert plan_heading(plan) == "**Zeitraum: Juli 2025**"
    assert plan_heading(plan.model_copy(update={"as_of_named": False})) is None
    calculated = plan.model_copy(update={"assumptions": ("14 Bezüge im Jahr", "kein Kostenbeitrag")})
    assert plan_heading(calculated) == (
        "**Zeitraum: Juli 2025**\n\n**Annahmen, soweit die Frage nichts anderes sagt: 14 Bezüge im Jahr; kein Kostenbeitrag**"
    )


def test_a_refusal_says_what_was_searched_and_what_is_nearest() -> None:
    plan = Plan(type="value", queries=("Wann ist die UVA abzugeben?",), scopes=("gesetz",), as_of="2026-06")
    assert refusal_text("kb_silent", plan=plan, sections=772, nearest=[("pv-sv-01", "Werte")]) == (
        "Dazu enthält die Wissensbasis keine Aussage.\n\n"
        "Gesucht wurde nach „Wann ist die UVA abzugeben?“ (für Juni 2026; Gesetz; 772 Abschnitte).\n\n"
        "Am nächsten liegen:\n\n- Werte [pv-sv-01]"
    )


def test_a_failure_of_the_model_does_not_speak_of_the_knowledge_base() -> None:
    plan = Plan(type="value", queries=("x",), as_of="2026-06")
    text = refusal_text("model_unavailable", plan=plan, sections=1, nearest=[("a", "b")], detail="Läuft Ollama?")
    assert text == "Das Sprachmodell ist nicht erreichbar. Es wurde keine Antwort erstellt. Läuft Ollama?"


def test_an_overview_has_the_claims_of_each_entry_under_its_title() -> None:
    claims = [
        Claim(text="Erstens.", citations=(SENTENCE,)),
        Claim(text="Zweitens.", citations=(OTHER,)),
        Claim(text="Drittens.", citations=(SENTENCE,)),
    ]
    text = answer_text(grouped_by_entry(claims), titles={"pv-sv-05": "Grenze", "pv-sv-06": "Folgen"})
    assert text == (
        "**Grenze**\n\nErstens (Stand 2026-01) [pv-sv-05].\n\nDrittens (Stand 2026-01) [pv-sv-05].\n\n"
        "**Folgen**\n\nZweitens (Stand 2026-01) [pv-sv-06]."
    )
