import pytest

from custom_postprocessors.evidence import Citation, Claim
from pipelines.premises import FalsePremise, false_premise, premise_text

ROW = "| Geringfügigkeitsgrenze monatlich | 551,10 € | 2026 | § 5 Abs 2 ASVG |"


def claim(text: str = "Geringfügigkeitsgrenze monatlich: 551,10 € (2026)", quote: str = ROW) -> Claim:
    place = Citation(entry_id="pv-sv-05", section="Kernwerte & Fristen", stand="2026-01", quote=quote, start=0, end=len(quote))
    return Claim(text=text, citations=(place,))


@pytest.mark.parametrize(
    "question",
    [
        "Stimmt es, dass die Geringfügigkeitsgrenze 2026 monatlich 518,44 € beträgt?",
        "Die Geringfügigkeitsgrenze beträgt 2026 doch 518,44 €, oder?",
        "Ist es richtig, dass die Geringfügigkeitsgrenze bei 518,44 € liegt?",
        "Warum ist die Geringfügigkeitsgrenze 2026 nur 518,44 €?",
    ],
)
def test_an_affirmed_value_that_the_quotes_give_otherwise_is_corrected(question: str) -> None:
    assert false_premise(question, [claim()]) == FalsePremise("518,44 €", "551,10 €")


@pytest.mark.parametrize(
    "question",
    [
        "Stimmt es, dass die Geringfügigkeitsgrenze 2026 bei 551,10 € liegt?",
        "Wie hoch ist die Geringfügigkeitsgrenze 2026, wenn jemand 518,44 € verdient?",
        "Unser Lehrling verdient 540 €, den melden wir als geringfügig an, gell?",
        "Stimmt es, dass die Frist drei Wochen beträgt?",
    ],
)
def test_a_proven_value_a_value_of_the_case_and_another_kind_are_no_false_premise(question: str) -> None:
    assert false_premise(question, [claim()]) is None


def test_nothing_is_corrected_by_a_claim_with_several_values_of_the_kind() -> None:
    both = claim("Grenze: 551,10 € (2025: 551,10 €, 2024: 518,44 €)", "551,10 € und 518,44 €")
    assert false_premise("Stimmt es, dass die Grenze 500 € beträgt?", [both]) is None


def test_the_sentence_names_both_values() -> None:
    text = premise_text(FalsePremise("518,44 €", "551,10 €"))
    assert text == "**Die Frage geht von 518,44 € aus; das belegt keine Fundstelle. Belegt ist 551,10 €:**"
