"""The running product in a real browser: `python -m app serve` over the bundled knowledge base, without Ollama.

With `PV_TEST_SCREENSHOTS=docs/images` the screenshots of the documentation are taken anew.
"""

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.app.bundled import copied
from tests.app.ui.conftest import free_port
from tests.app.ui.pages import ChatPage

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[3]
START_SECONDS = 400
TIMED = (
    "Wie hoch ist die Geringfügigkeitsgrenze 2026?",
    "Bis wann ist die mBGM zu übermitteln?",
    "Welche Kündigungsfristen gelten für Angestellte?",
    "Wie hoch ist der BV-Beitrag?",
)
ANSWER_CLOCK = """
window.pvAnswers = [];
let pressed = 0;
let turns = 0;
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter") { pressed = performance.now(); turns = document.querySelectorAll(".pv-turn").length; }
}, true);
new MutationObserver(() => {
  const last = [...document.querySelectorAll(".pv-turn")].at(-1);
  if (pressed && document.querySelectorAll(".pv-turn").length > turns && last.querySelector(".pv-actions")) {
    const began = pressed;
    pressed = 0;
    requestAnimationFrame(() => window.pvAnswers.push(performance.now() - began));
  }
}).observe(document.body, { subtree: true, childList: true });
"""
"""Milliseconds from each Enter until the frame that shows the whole answer."""
HOSTILE_ENTRY = """---
id: pv-test-01
title: "Probetag <script>window.pwned = 1</script> & Co"
stand: "2026-01"
work: pv
topic: probe
tags: ["Probetag"]
legal_bases: ["§ 1 AngG"]
cross_refs: []
sources:
  - publisher: "ÖGK"
    title: "Probe <img src=x onerror='window.pwned = 2'>"
    url: "https://www.gesundheitskasse.at/probe"
    as_of: "2026-01"
---

# Probetag <script>window.pwned = 1</script> & Co

## Zusammenfassung

Der Probetag dauert höchstens **8 Stunden**.

Mehr steht hier: <script>window.pwned = 3</script> <img src="https://evil.example/x.png" onerror="window.pwned = 6">

## Kernwerte & Fristen

| Kennzahl | Wert | Gültig | Grundlage |
|---|---|---|---|
| Dauer des Probetags | 8 Stunden | 2026 | § 1 AngG |
| Probe <b onclick="window.pwned = 4">x</b> | 1 Tag | 2026 | [klick](javascript:window.pwned=5) |
"""


@contextmanager
def served(data: Path, log: Path, **settings: str) -> Iterator[str]:
    """The product on a free port, with its own data folder and settings."""
    port = free_port()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PV_")}
    environment |= {
        "PV_DATA_DIR": str(data),
        "PV_OLLAMA_URL": f"http://127.0.0.1:{free_port()}",
        "PV_EMBED_MODEL": "embedded",
        "PV_TODAY": "2026-03-16",
        **settings,
    }
    url = f"http://127.0.0.1:{port}/"
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "app", "serve", "--port", str(port)], cwd=ROOT, env=environment, stdout=output, stderr=output
        )
        try:
            _wait(process, url, log)
            yield url
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(10)
                raise


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    for _ in range(START_SECONDS * 2):
        if process.poll() is not None:
            pytest.fail(f"the product ended at its start:\n{log.read_text(encoding='utf-8')}")
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.5)
    pytest.fail(f"the product did not start in {START_SECONDS} s:\n{log.read_text(encoding='utf-8')}")


@pytest.fixture(scope="module")
def product(tmp_path_factory, bundled_data) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("product")
    copied(bundled_data, folder / "data")
    with served(folder / "data", folder / "log") as url:
        yield url


@pytest.fixture(scope="module")
def hostile_product(tmp_path_factory) -> Iterator[str]:
    """Its only entry is hostile, and its model is named but not there."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "kb" / "dokumente").mkdir(parents=True)
    (folder / "kb" / "dokumente" / "pv-test-01.md").write_text(HOSTILE_ENTRY, encoding="utf-8")
    with served(folder / "data", folder / "log", PV_KB_DIR=str(folder / "kb"), PV_LLM_MODEL="qwen3.8:27b") as url:
        yield url


@pytest.fixture
def pictures(tmp_path) -> Path:
    folder = Path(os.environ.get("PV_TEST_SCREENSHOTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def test_every_tab_is_there_in_its_order(browser, product):
    chat = ChatPage(browser, product)
    chat.page.get_by_role("tab", name="Protokoll").wait_for()
    assert chat.tabs() == ["Fragen", "Suche", "Modellvergleich", "Auswertung", "Verwaltung", "Protokoll"]
    chat.close()


def test_first_paint_and_first_answer_are_quick(browser, product, record_property):
    """The best of several; `-s` or the report shows the figures.

    On two cores with nothing else to do they are to be below 2 s and 500 ms; the bounds leave room for a busy machine.
    """
    paints = []
    for _ in range(3):
        chat = ChatPage(browser, product)
        chat.page.locator(".pv-example").first.wait_for()
        paints.append(float(chat.page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")))
        chat.close()
    chat = ChatPage(browser, product)
    chat.answer("Zum Aufwärmen: Wie hoch ist der BV-Beitrag?")
    chat.page.evaluate(ANSWER_CLOCK)
    for number, question in enumerate(TIMED, start=1):
        chat.answer(question)
        chat.page.wait_for_function(f"window.pvAnswers.length === {number}")
    answers = [float(value) for value in chat.page.evaluate("window.pvAnswers")]
    chat.close()
    record_property("first_paint_ms", paints)
    record_property("answer_ms", answers)
    sys.stdout.write(f"first paint {min(paints):.0f} ms of {paints}, answer {min(answers):.0f} ms of {answers}\n")
    assert min(paints) <= 4000
    assert min(answers) <= 2000


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_question_is_answered_and_its_evidence_opened(browser, product, pictures, scheme):
    chat = ChatPage(browser, product, scheme=scheme)
    assert "190 Einträge" in chat.page.locator("#pv-header").inner_text()
    chat.page.screenshot(path=pictures / f"start-{scheme}.png")
    turn = chat.answer("Wie hoch ist die Geringfügigkeitsgrenze 2026?")
    claim = turn.locator(".pv-claim", has_text="551,10").filter(has_text="pv-sv-05").first
    claim.locator(".pv-chip", has_text="pv-sv-05").first.click()
    marks = chat.pane().locator("mark.pv-hit")
    marks.first.wait_for()
    assert "551,10" in "".join(marks.all_inner_texts())
    assert "Zitatmodus" in turn.locator(".pv-status").inner_text()
    chat.page.screenshot(path=pictures / f"answer-{scheme}.png")
    chat.close()


def test_every_citation_of_an_answer_highlights_its_place(browser, product):
    chat = ChatPage(browser, product)
    turn = chat.answer("Welche Kündigungsfristen gelten für Angestellte?")
    chips = turn.locator(".pv-claim .pv-chip")
    assert chips.count() > 0
    for number in range(chips.count()):
        chip = chips.nth(number)
        chip.click()
        chat.page.locator(".pv-pane-meta", has_text=chip.get_attribute("data-entry")).wait_for()
        chat.pane().locator("#pv-cited mark.pv-hit").first.wait_for()
        assert chat.pane().locator(".pv-stopped").count() == 0
    chat.close()


def test_what_the_knowledge_base_does_not_say_is_refused(browser, product, pictures):
    chat = ChatPage(browser, product)
    turn = chat.answer("Wann ist die UVA abzugeben?")
    assert "Dazu enthält die Wissensbasis keine Aussage." in turn.locator(".pv-refused").inner_text()
    assert turn.locator(".pv-claim").count() == 0
    chat.page.screenshot(path=pictures / "refusal.png")
    chat.close()


def test_ratings_and_comments_reach_the_store(browser, product):
    chat = ChatPage(browser, product)
    turn = chat.answer("Wie hoch ist der BV-Beitrag?")
    feedback = turn.locator(".pv-feedback")
    turn.get_by_label("Hilfreich", exact=True).click()
    feedback.filter(has_text="Danke").wait_for()
    turn.locator(".pv-comment textarea").fill("Gut belegt")
    turn.get_by_role("button", name="Senden").click()
    feedback.filter(has_text="Kommentar gespeichert").wait_for()
    turn.get_by_role("button", name="Lücke melden").click()
    feedback.filter(has_text="Lücke gemeldet").wait_for()
    chat.close()


def test_search_shows_what_the_chat_uses(browser, product, pictures):
    chat = ChatPage(browser, product)
    turn = chat.answer("Wie hoch ist die Geringfügigkeitsgrenze 2026?")
    used = {text.rsplit("[", 1)[1].rstrip("]") for text in turn.locator(".pv-sources .pv-link").all_text_contents()}
    chat.page.get_by_role("tab", name="Suche").click()
    chat.page.fill("#pv-search-box textarea", "Wie hoch ist die Geringfügigkeitsgrenze 2026?")
    chat.page.press("#pv-search-box textarea", "Enter")
    chat.page.locator(".pv-ranking").wait_for()
    shown = {text.rsplit("[", 1)[1].rstrip("]") for text in chat.page.locator(".pv-in .pv-link").all_text_contents()}
    assert shown == used
    chat.page.locator(".pv-ranking .pv-link").first.click()
    chat.page.locator("#pv-search-pane .pv-pane-meta").wait_for()
    chat.page.screenshot(path=pictures / "search.png")
    chat.close()


def test_on_a_tablet(browser, product, pictures):
    chat = ChatPage(browser, product, size={"width": 820, "height": 1180})
    turn = chat.answer("Wie hoch ist die Geringfügigkeitsgrenze 2026?")
    chat.page.screenshot(path=pictures / "tablet.png")
    turn.locator(".pv-chip").first.click()
    chat.pane().locator("mark.pv-hit").first.wait_for()
    chat.close()


def test_hostile_entries_stay_text_and_a_missing_model_is_a_fault(browser, hostile_product, pictures):
    chat = ChatPage(browser, hostile_product)
    turn = chat.answer("Wie lange dauert der Probetag?")
    assert "Ollama ist nicht erreichbar." in turn.locator(".pv-unavailable").inner_text()
    chat.page.screenshot(path=pictures / "unavailable.png")
    turn.get_by_role("button", name="Im Zitatmodus antworten").click()
    second = chat.page.locator('[data-turn="t2"]')
    second.locator(".pv-chip").first.wait_for()
    for number in range(second.locator(".pv-claim .pv-chip").count()):
        second.locator(".pv-claim .pv-chip").nth(number).click()
        chat.pane().locator("mark.pv-hit").first.wait_for()
    assert "<script>window.pwned = 3</script>" in chat.pane().inner_text()
    assert "<script>window.pwned = 1</script>" in chat.pane().inner_text()
    chat.page.locator("details").evaluate_all("all => all.forEach((d) => { d.open = true; })")
    assert chat.page.evaluate("window.pwned") is None
    assert chat.page.locator(".pv-log img, .pv-pane-body img, .pv-log script, .pv-pane-body script").count() == 0
    chat.close()
