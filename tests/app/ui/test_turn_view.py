"""What a turn shows in each of its states, as blocks."""

from collections.abc import Iterator

import pytest

from app.ui.turn_view import claim_html, turn_blocks
from app.ui.turns import Conversation, ShownTurn
from custom_postprocessors.evidence import Citation, Claim
from pipelines.contracts import ClaimEvent, Event, FinalEvent, Question, RegeneratingEvent
from tests.app.ui.fake_service import FakeService
from tests.app.ui.test_markup import Reader


def never() -> bool:
    return False


def events(text: str, **fields: object) -> Iterator[Event]:
    return FakeService().ask_events(Question(text=text, **fields), never)


def shown(text: str) -> ShownTurn:
    turn = ShownTurn("t1", text)
    for event in events(text):
        turn.take(event)
    return turn


def keys(turn: ShownTurn) -> list[str]:
    return [key for key, _ in turn_blocks(turn)]


def html(turn: ShownTurn) -> str:
    return "".join(block for _, block in turn_blocks(turn))


def test_an_answer_has_its_claims_then_details_then_actions():
    assert keys(shown("Grenze")) == ["question", "status", "claim-0", "claim-1", "claim-2", "details", "actions"]


def test_a_block_that_was_shown_never_changes_while_claims_arrive():
    turn = ShownTurn("t1", "Grenze")
    before: dict[str, str] = {}
    for event in events("Grenze"):
        turn.take(event)
        now = dict(turn_blocks(turn))
        assert {key: now[key] for key in before if key.startswith(("question", "claim"))} == {
            key: block for key, block in before.items() if key.startswith(("question", "claim"))
        }
        before = now
    assert "claim-2" in before


def test_a_rejected_draft_leaves_nothing():
    turn = ShownTurn("t1", "x")
    citation = Citation(entry_id="pv-sv-05", section="Zusammenfassung", stand="2026-01", quote="x", start=0, end=1)
    turn.take(ClaimEvent(0, Claim(text="511,10 €", citations=(citation,))))
    turn.take(RegeneratingEvent(()))
    assert keys(turn) == ["question", "status"]
    assert "511,10" not in html(turn)


@pytest.mark.parametrize(
    ("question", "css", "others"),
    [
        ("UVA", "pv-refused", ("pv-unavailable", "pv-error", "pv-claim")),
        ("Ollama", "pv-unavailable", ("pv-refused", "pv-error", "pv-claim")),
    ],
)
def test_states_are_told_apart(question: str, css: str, others: tuple[str, ...]):
    text = html(shown(question))
    assert css in text
    assert all(f'"{other}' not in text and f" {other}" not in text for other in others)


def test_an_unavailable_model_names_no_answerer():
    assert dict(turn_blocks(shown("Ollama")))["status"].startswith(
        '<p class="pv-status" role="status">Keine Antwort · für März 2026'
    )


def test_nothing_is_taken_after_a_stop():
    turn = ShownTurn("t1", "Grenze")
    stream = events("Grenze")
    turn.take(next(stream))
    turn.stop()
    for event in stream:
        turn.take(event)
    assert (turn.phase, turn.outcome, turn.claims) == ("stopped", None, [])


def test_a_failed_turn_keeps_no_claim():
    turn = ShownTurn("t1", "Grenze")
    for event in events("Grenze"):
        if isinstance(event, FinalEvent):
            break
        turn.take(event)
    turn.fail("kaputt")
    assert keys(turn) == ["question", "status", "error"]


def test_history_holds_standalone_questions_of_answered_turns_only():
    conversation = Conversation()
    for text in ("Grenze", "und 2025?"):
        turn = conversation.begin(text)
        for event in events(text):
            turn.take(event)
    conversation.begin("läuft noch")
    assert [t.question for t in conversation.history()] == ["Grenze", "Wie hoch ist die Geringfügigkeitsgrenze 2025?"]


def test_a_new_question_stops_the_one_before():
    conversation = Conversation()
    first = conversation.begin("eins")
    conversation.begin("zwei")
    assert (first.phase, first.cancelled.is_set()) == ("stopped", True)


def test_a_chip_carries_every_place_of_its_section():
    places = [
        Citation(entry_id="pv-sv-05", section="Zusammenfassung", stand="2026-01", quote="a", start=0, end=1),
        Citation(entry_id="pv-sv-05", section="Zusammenfassung", stand="2026-01", quote="b", start=4, end=5),
        Citation(entry_id="pv-sv-07", section="Kernwerte & Fristen", stand="2025-12", quote="c", start=2, end=3),
    ]
    text = claim_html(Claim(text="a", citations=tuple(places)))
    assert text.count('class="pv-chip"') == 2
    assert 'data-spans="0-1,4-5"' in text
    assert 'data-section="Kernwerte &amp; Fristen"' in text


@pytest.mark.parametrize("hostile", ['"><script>x</script>', "<img src=x onerror=y>", "' onmouseover='z"])
def test_everything_that_comes_from_outside_is_escaped(hostile: str):
    place = Citation(entry_id=hostile, section=hostile, stand=hostile, quote=hostile, start=0, end=1)
    turn = ShownTurn("t1", hostile)
    turn.take(ClaimEvent(0, Claim(text=hostile, citations=(place,))))
    turn.error = hostile
    reader = Reader(html(turn))
    assert reader.tags == {"h2", "p", "span", "div", "button"}
    assert not {name for name in reader.attributes if name.startswith("on")}
