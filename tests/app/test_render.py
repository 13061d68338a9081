"""An outcome as text for the clipboard and the terminal."""

from app.render import markdown, plain_text
from pipelines.contracts import FinalEvent, Outcome, Question
from tests.app.ui.fake_service import FakeService


def outcome(text: str) -> Outcome:
    last = list(FakeService().ask_events(Question(text=text), lambda: False))[-1]
    assert isinstance(last, FinalEvent)
    return last.outcome


def test_plain_text_keeps_every_citation_and_no_emphasis():
    text = plain_text(outcome("Wie hoch ist die Grenze?"))
    assert text.startswith("Wie hoch ist die Grenze?\n\nDie monatliche Geringfügigkeitsgrenze beträgt 2026 unverändert 551,10 € ")
    assert "**" not in text
    assert text.count("(Stand 2026-01) [pv-sv-05].") == 2
    assert "- [pv-sv-05] Geringfügigkeitsgrenze und geringfügige Beschäftigung 2026 (Stand 2026-01)" in text


def test_markdown_of_a_refusal_names_no_source():
    text = markdown(outcome("UVA"))
    assert "Dazu enthält die Wissensbasis keine Aussage." in text
    assert "- [pv" not in text
