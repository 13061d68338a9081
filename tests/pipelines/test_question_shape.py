import pytest

from custom_postprocessors.evidence import Citation, Claim, Value
from pipelines.question_shape import answers_asked_value, asked_kinds, question_shape


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("Wie viel Prozent zahlt der Dienstgeber?", {"rate"}),
        ("Wie viele Werktage Urlaub gebühren, und wie hoch ist das Urlaubsentgelt?", {"period", "amount", "rate"}),
        ("Wie hoch ist die Geringfügigkeitsgrenze 2026?", {"amount", "rate"}),
        ("Welcher DZ-Satz galt 2024 in Wien?", {"rate"}),
        ("Wie lange muss der Betrieb voll zahlen?", {"period"}),
        ("Bis wann ist die mBGM zu übermitteln?", {"date", "period"}),
        ("wieviele wochen ham wir dafuer", {"period"}),
        ("Darf der Betrieb Krankenentgelt kürzen?", set()),
        ("Warum ist das so?", set()),
    ],
)
def test_asked_kinds(question, kinds):
    assert asked_kinds(question) == kinds


def test_shape_has_years_and_the_values_of_the_case():
    shape = question_shape("Lehrling, 540 € im Monat, Eintritt 2002: wie hoch ist heuer der Beitrag?", "2026-06")
    assert shape.years == {2002, 2026}
    assert [value.normalized for value in shape.case_values] == ["540 EUR"]
    assert not shape.weighs
    assert question_shape("was is günstiger", "2026-06").weighs


def claim(*values: tuple[str, str]) -> Claim:
    place = Citation(entry_id="pv-x-01", section="Zusammenfassung", stand="2026-01", quote="x", start=0, end=1)
    found = tuple(Value(text=normal, kind=kind, normalized=normal, entry_id="pv-x-01") for kind, normal in values)
    return Claim(text="x", citations=(place,), values=found)


def test_question_for_a_value_needs_one_of_its_kind():
    question = "Wie hoch ist die Grenze?"
    assert answers_asked_value(question, [claim(("period", "4 woch")), claim(("amount", "551.1 EUR"))])
    assert not answers_asked_value(question, [claim(("period", "4 woch"))])
    assert not answers_asked_value(question, [])


def test_value_of_the_question_answers_nothing():
    question = "Wie hoch ist der Beitrag bei 400 €?"
    assert not answers_asked_value(question, [claim(("amount", "400 EUR"))])


def test_question_for_no_value_is_answered_by_any_claim():
    assert answers_asked_value("Darf der Betrieb das?", [claim()])
