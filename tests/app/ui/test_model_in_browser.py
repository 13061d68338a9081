"""The chat in a real browser with models behind Ollama's protocol: chosen, streaming, lying, waiting, gone."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import fake_models as fake
from tests.app.test_answers_with_ollama import ENTRIES
from tests.app.ui.pages import ChatPage
from tests.app.ui.test_product_in_browser import served
from tests.conftest import BUNDLED_FOLDER
from tests.fake_ollama import FakeOllama
from tests.fake_wire import FakeModel

pytestmark = pytest.mark.browser

QUESTION = "Wie hoch ist die Geringfügigkeitsgrenze 2026?"
WATCH = """
window.pvSeen = [];
new MutationObserver(() => {
  const claims = document.querySelectorAll(".pv-turn .pv-claim").length;
  if (claims && claims !== window.pvSeen.at(-1)?.[0]) window.pvSeen.push([claims, window.pvShift]);
}).observe(document.body, { subtree: true, childList: true });
"""
"""Notes how many claims there are whenever that changes, and how far the page has shifted by then."""
HONEST, LIAR = "qwen3.8:27b", "luegner:7b"


@pytest.fixture(scope="module")
def ollama() -> Iterator[FakeOllama]:
    models = [
        FakeModel(HONEST, fake.slow(fake.honest(most=3), first_seconds=2.5, piece_seconds=0.04)),
        FakeModel(LIAR, fake.altering(fake.honest(), "551,10", "511,10")),
        FakeModel("bge-m3:latest", capabilities=("embedding",)),
        FakeModel("gpt-oss:120b-cloud", fake.honest(), remote_host="https://ollama.example"),
    ]
    with FakeOllama(models) as server:
        yield server


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory, ollama: FakeOllama) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("with-model")
    documents = folder / "kb" / "dokumente"
    documents.mkdir(parents=True)
    for entry_id in ENTRIES:
        (documents / f"{entry_id}.md").write_bytes((BUNDLED_FOLDER / "dokumente" / f"{entry_id}.md").read_bytes())
    with served(folder / "data", folder / "log", PV_KB_DIR=str(folder / "kb"), PV_OLLAMA_URL=ollama.url) as url:
        yield url


@pytest.fixture
def chat(browser, product: str) -> Iterator[ChatPage]:
    page = ChatPage(browser, product)
    yield page
    page.close()


def choose(chat: ChatPage, name: str) -> None:
    chat.page.locator("#pv-model input").click()
    chat.page.get_by_role("option", name=name).click()


def test_installed_models_are_offered_and_no_cloud_model(chat: ChatPage) -> None:
    chat.page.locator("#pv-model input").click()
    chat.page.get_by_role("option", name=HONEST).wait_for()
    assert [text.strip("✓ \n") for text in chat.page.get_by_role("option").all_inner_texts()] == [
        "Automatisch",
        "Zitatmodus",
        HONEST,
        LIAR,
    ]


def test_checked_claims_stream_in_without_moving_anything(chat: ChatPage) -> None:
    assert HONEST in chat.page.locator("#pv-header").inner_text()
    chat.page.evaluate(WATCH)
    turn = chat.ask(QUESTION)
    turn.locator(".pv-status", has_text="jede Aussage wird vorher geprüft").wait_for()
    turn.locator(".pv-actions").wait_for()
    assert chat.page.evaluate("window.pvSeen.map(([claims]) => claims)") == [1, 2, 3]
    shifts = chat.page.evaluate("window.pvSeen.map(([, shift]) => shift)")
    assert [*shifts, chat.shift()] == [shifts[0]] * 4
    assert HONEST in turn.locator(".pv-status").inner_text()
    turn.locator(".pv-claim .pv-chip").first.click()
    chat.pane().locator("mark.pv-hit").first.wait_for()


def test_a_lying_model_is_told_to_write_anew_and_then_nothing_of_it_is_shown(chat: ChatPage, ollama: FakeOllama) -> None:
    before = len(ollama.chats)
    choose(chat, LIAR)
    turn = chat.answer(QUESTION)
    assert "Keine belegbare Antwort." in turn.locator(".pv-refused").inner_text()
    assert "511,10" not in turn.locator(".pv-claim, .pv-refused").all_inner_texts()
    assert turn.locator(".pv-claim").count() == 0
    assert len(ollama.chats) == before + 2


def test_who_waits_for_the_model_is_told_so(browser, product: str, chat: ChatPage) -> None:
    other = ChatPage(browser, product)
    chat.ask(QUESTION).locator(".pv-status", has_text="geprüft").wait_for()
    second = other.ask("Wie hoch ist der UV-Beitrag des Dienstgebers?")
    second.locator(".pv-status", has_text="in der Warteschlange des Sprachmodells").wait_for()
    second.locator(".pv-actions").wait_for()
    other.close()


def test_a_model_that_went_away_is_a_fault_and_not_a_refusal(chat: ChatPage, ollama: FakeOllama) -> None:
    choose(chat, HONEST)
    ollama.down()
    try:
        turn = chat.answer(QUESTION)
        assert "Ollama ist nicht erreichbar." in turn.locator(".pv-unavailable").inner_text()
        assert "Das ist eine Störung und keine Aussage über die Wissensbasis." in turn.inner_text()
        turn.get_by_role("button", name="Im Zitatmodus antworten").click()
        chat.page.locator('[data-turn="t2"] .pv-claim').first.wait_for()
    finally:
        ollama.up()
