"""The interface in a real browser, over a service whose outcomes can be chosen."""

import re
import threading
import time
from collections.abc import Iterator

import pytest

from app.access.person import LOCAL_PERSON
from tests.app.ui.conftest import served_page
from tests.app.ui.fake_service import FakeService
from tests.app.ui.pages import ChatPage

pytestmark = pytest.mark.browser


@pytest.fixture
def chat(browser, fake_url) -> Iterator[ChatPage]:
    page = ChatPage(browser, fake_url)
    yield page
    page.close()


def test_first_screen_says_what_it_is_and_what_it_knows(chat):
    header = chat.page.locator("#pv-header").inner_text()
    assert "190 Einträge · 25 Themen · neuester Stand 2026-03" in header
    assert "Ollama ist nicht erreichbar, daher antwortet der Zitatmodus." in header
    assert chat.page.locator(".pv-example").count() == 6


def test_a_list_of_models_that_is_opened_too_early_is_filled_while_it_is_open(browser):
    known = threading.Event()

    class Slow(FakeService):
        def models(self) -> tuple[str, ...] | None:
            return super().models() if known.is_set() else None

    with served_page(Slow(), lambda _: LOCAL_PERSON) as url:
        chat = ChatPage(browser, url)
        chat.page.locator("#pv-model input").click()
        chat.page.get_by_role("option", name="Zitatmodus").wait_for()
        assert chat.page.get_by_role("option").count() == 2
        known.set()
        chat.page.get_by_role("option", name="gemma4:12b").click()
        assert chat.page.input_value("#pv-model input") == "gemma4:12b"
        chat.close()


def test_an_example_is_asked_with_one_click(chat):
    chat.page.locator(".pv-example").first.click()
    turn = chat.page.locator('[data-turn="t1"]')
    turn.locator(".pv-actions").wait_for()
    assert turn.locator(".pv-question").inner_text() == "Wie hoch ist die Geringfügigkeitsgrenze 2026?"
    assert chat.page.locator(".pv-welcome").count() == 0
    assert chat.page.input_value("#pv-question textarea") == ""


def test_a_citation_opens_the_entry_at_the_cited_row(chat):
    turn = chat.answer("Wie hoch ist die Geringfügigkeitsgrenze?")
    chip = turn.locator(".pv-chip").nth(1)
    assert chip.inner_text() == "pv-sv-05 · Stand 2026-01"
    chip.click()
    row = chat.pane().locator("tr.pv-hit-row")
    row.wait_for()
    assert row.inner_text().split("\t")[:2] == ["Geringfügigkeitsgrenze monatlich", "551,10\N{NO-BREAK SPACE}€"]
    assert chat.pane().locator("mark.pv-hit").count() == 4
    box, frame = row.bounding_box(), chat.pane().bounding_box()
    assert frame["y"] < box["y"] < frame["y"] + frame["height"] - box["height"]
    text = chat.pane().inner_text()
    assert "§ 5 Abs 2 ASVG" in text
    assert "Österreichische Gesundheitskasse (ÖGK): Veränderliche Werte 2026 (2026-01)" in text
    assert chip.get_attribute("aria-current") == "true"


def test_a_citation_highlights_the_sentence_and_nothing_else(chat):
    turn = chat.answer("Wie hoch ist die Geringfügigkeitsgrenze?")
    turn.locator(".pv-chip").first.click()
    chat.pane().locator("mark.pv-hit").first.wait_for()
    marked = "".join(chat.pane().locator("mark.pv-hit").all_inner_texts())
    assert marked == "Die monatliche Geringfügigkeitsgrenze beträgt 2026 unverändert 551,10\N{NO-BREAK SPACE}€."


def test_cross_references_lead_on(chat):
    turn = chat.answer("Wie hoch ist die Geringfügigkeitsgrenze?")
    turn.locator(".pv-chip").first.click()
    chat.pane().get_by_role("button", name=re.compile(r"\[pv-sv-07\]")).click()
    chat.page.locator(".pv-pane-meta", has_text="pv-sv-07").wait_for()


def test_hostile_text_stays_text(chat):
    turn = chat.answer("böse Frage <script>window.pwned = 9</script><img src=x onerror='window.pwned=8'>")
    assert "<script>window.pwned = 1</script>" in turn.locator(".pv-claim").inner_text()
    turn.locator(".pv-chip").click()
    chat.pane().locator("mark.pv-hit").first.wait_for()
    assert "![x](https://evil.example/pixel.png)" in chat.pane().inner_text()
    assert chat.page.evaluate("window.pwned") is None
    assert chat.page.locator(".pv-turn img, .pv-pane-body img, .pv-turn script, .pv-pane-body script").count() == 0


def test_a_refusal_looks_like_none_of_the_others(chat):
    turn = chat.answer("Wann ist die UVA abzugeben?")
    banner = turn.locator(".pv-refused")
    assert "Dazu enthält die Wissensbasis keine Aussage." in banner.inner_text()
    assert "Gesucht wurde: „Wann ist die UVA abzugeben?“" in banner.inner_text()
    assert banner.locator(".pv-near li").count() == 3
    assert turn.locator(".pv-claim, .pv-unavailable, .pv-error").count() == 0


def test_an_unreachable_model_is_a_fault_and_offers_the_zitatmodus(chat, fake_service: FakeService):
    turn = chat.answer("Geht Ollama?")
    banner = turn.locator(".pv-unavailable")
    assert "Ollama ist nicht erreichbar." in banner.inner_text()
    banner.get_by_role("button", name="Im Zitatmodus antworten").click()
    second = chat.page.locator('[data-turn="t2"]')
    second.locator(".pv-actions").wait_for()
    assert second.locator(".pv-claim").count() == 3
    assert fake_service.asked[-1].model == "extractive"
    assert fake_service.asked[-1].text == "Geht Ollama?"


def test_a_defect_is_shown_as_one(chat):
    turn = chat.ask("defekt")
    turn.locator(".pv-error").wait_for()
    assert "Es gibt noch keinen Index" in turn.inner_text()
    assert turn.locator(".pv-refused, .pv-claim").count() == 0
    assert chat.page.locator("#pv-ask").is_visible()


def test_claims_appear_one_by_one_without_moving_what_is_there(chat):
    turn = chat.ask("Bitte langsam")
    turn.locator(".pv-claim").first.wait_for()
    assert turn.locator(".pv-claim").count() == 1
    before = chat.shift()
    turn.locator(".pv-actions").wait_for()
    assert turn.locator(".pv-claim").count() == 3
    assert chat.shift() == before


def test_stopping_reaches_the_engine_and_keeps_what_was_checked(chat, fake_service: FakeService):
    fake_service.was_cancelled.clear()
    turn = chat.ask("Bitte langsam")
    turn.locator(".pv-claim").first.wait_for()
    chat.page.locator("#pv-stop").click()
    turn.locator(".pv-stopped").wait_for()
    assert fake_service.was_cancelled.wait(2)
    assert turn.locator(".pv-claim").count() >= 1
    assert turn.locator(".pv-actions").count() == 0
    assert chat.page.locator("#pv-ask").is_visible()


def test_leaving_the_page_stops_the_engine(browser, fake_url, fake_service: FakeService):
    fake_service.was_cancelled.clear()
    chat = ChatPage(browser, fake_url)
    chat.ask("Bitte langsam").locator(".pv-claim").first.wait_for()
    chat.close()
    assert fake_service.was_cancelled.wait(5)


def test_a_rejected_draft_disappears(chat):
    turn = chat.ask("neu schreiben")
    turn.locator(".pv-claim", has_text="511,10").wait_for()
    turn.locator(".pv-actions").wait_for()
    assert "511,10" not in turn.inner_text()


def test_both_sides_of_a_conflict_are_shown_and_open(chat):
    turn = chat.answer("konflikt")
    box = turn.locator(".pv-conflict")
    assert "⚠" in box.inner_text()
    assert [c.split(" · ")[0] for c in box.locator(".pv-chip").all_inner_texts()] == ["pv-sv-05", "pv-sv-07"]
    box.locator(".pv-chip").nth(1).click()
    chat.page.locator(".pv-pane-meta", has_text="pv-sv-07").wait_for()


def test_derived_claims_show_their_calculation(chat):
    turn = chat.answer("rechne")
    assert "berechnet" in turn.locator(".pv-label").all_inner_texts()
    assert turn.locator(".pv-formula").inner_text() == "551,10 * 1,5 = 826,65"
    assert "laut Sekundärquelle" in turn.locator(".pv-label").all_inner_texts()


def test_degraded_search_is_said(chat):
    assert "Bedeutungssuche ist ausgefallen" in chat.answer("degradiert").inner_text()


def test_personal_data_is_replaced_and_said(chat, fake_service: FakeService):
    turn = chat.answer("Was gilt für erika@example.com?")
    assert "erika@example.com" not in fake_service.asked[-1].text
    assert fake_service.asked[-1].notices[0] in turn.inner_text()


def test_a_follow_up_carries_the_questions_before_and_shows_how_it_was_read(chat, fake_service: FakeService):
    chat.answer("Wie hoch ist die Geringfügigkeitsgrenze 2026?")
    turn = chat.answer("und 2025?")
    assert [t.question for t in fake_service.asked[-1].history] == ["Wie hoch ist die Geringfügigkeitsgrenze 2026?"]
    assert "Verstanden als: „Wie hoch ist die Geringfügigkeitsgrenze 2025?“" in turn.inner_text()
    turn.get_by_role("button", name="bearbeiten").click()
    assert chat.page.input_value("#pv-question textarea") == "Wie hoch ist die Geringfügigkeitsgrenze 2025?"


def test_scope_and_month_are_asked_for(chat, fake_service: FakeService):
    chat.page.locator("#pv-as-of input").click()
    chat.page.get_by_role("option", name="Jänner 2025").click()
    chat.page.locator("#pv-scopes").get_by_label("KV").check()
    chat.answer("Wie hoch ist die Grenze?")
    asked = fake_service.asked[-1]
    assert (asked.as_of, asked.scopes) == ("2025-01", ("kv",))


def test_ratings_comments_and_gaps_are_kept(chat, fake_service: FakeService):
    turn = chat.answer("Wie hoch ist die Grenze?")
    request = f"r-{len(fake_service.asked)}"
    feedback = turn.locator(".pv-feedback")
    turn.get_by_label("Hilfreich", exact=True).click()
    feedback.filter(has_text="Danke").wait_for()
    turn.locator(".pv-comment textarea").fill("Bitte die Quelle prüfen")
    turn.get_by_role("button", name="Senden").click()
    feedback.filter(has_text="Kommentar gespeichert").wait_for()
    turn.get_by_role("button", name="Lücke melden").click()
    feedback.filter(has_text="Lücke gemeldet").wait_for()
    assert (fake_service.ratings[-1], fake_service.comments[-1]) == ((request, True), (request, "Bitte die Quelle prüfen"))
    assert fake_service.gaps[-1] == request
    assert turn.locator(".pv-comment textarea").input_value() == ""


def test_a_comment_being_written_survives_the_next_answer(chat):
    turn = chat.answer("Wie hoch ist die Grenze?")
    turn.locator(".pv-comment textarea").fill("halb geschrieben")
    chat.answer("konflikt")
    assert turn.locator(".pv-comment textarea").input_value() == "halb geschrieben"


def test_copying_takes_the_citations_along(chat):
    chat.context.grant_permissions(["clipboard-read", "clipboard-write"])
    turn = chat.answer("Wie hoch ist die Grenze?")
    turn.get_by_role("button", name="Mit Belegen kopieren").click()
    turn.locator(".pv-feedback", has_text="Kopiert").wait_for()
    copied = chat.page.evaluate("navigator.clipboard.readText()")
    assert "551,10 € (Stand 2026-01) [pv-sv-05]" in copied


def test_the_evidence_sheet_is_a_download(chat, fake_service: FakeService):
    turn = chat.answer("Wie hoch ist die Grenze?")
    with chat.page.expect_download() as download:
        turn.get_by_role("button", name="Beweisblatt").click()
    assert download.value.suggested_filename == f"beweisblatt-r-{len(fake_service.asked)}.html"


def test_the_keyboard_is_enough(chat):
    chat.page.keyboard.press("Tab")
    chat.page.locator("#pv-question textarea").focus()
    chat.page.keyboard.type("Wie hoch ist die Grenze?")
    chat.page.keyboard.press("Enter")
    turn = chat.page.locator('[data-turn="t1"]')
    turn.locator(".pv-actions").wait_for()
    turn.locator(".pv-chip").first.focus()
    chat.page.keyboard.press("Enter")
    chat.pane().locator("mark.pv-hit").first.wait_for()
    assert chat.page.evaluate("document.activeElement.className") == "pv-pane-title"
    chat.page.keyboard.press("Escape")
    assert "pv-chip" in chat.page.evaluate("document.activeElement.className")


def test_search_explains_every_channel_and_the_context(chat):
    chat.page.get_by_role("tab", name="Suche").click()
    chat.page.fill("#pv-search-box textarea", "Geringfügigkeitsgrenze")
    chat.page.press("#pv-search-box textarea", "Enter")
    table = chat.page.locator(".pv-ranking")
    table.wait_for()
    cells = table.locator("tbody tr").nth(2).locator("td").all_inner_texts()
    assert [c.replace("\n", " ") for c in cells[2:]] == [
        "3. 12,50",
        "4. 0,610",
        "–",
        "0,0900",
        "– nicht im Kontext zu schwacher Beleg: Ähnlichkeit unter der Schwelle",
    ]
    assert "geringfugig + grenz" in chat.page.locator(".pv-analysis").inner_text()
    table.get_by_role("button").first.click()
    chat.page.locator("#pv-search-pane .pv-pane-meta", has_text="pv-sv-05").wait_for()


def test_nothing_is_kept_in_the_browser_and_nothing_is_english(chat):
    chat.answer("Wie hoch ist die Grenze?")
    chat.page.reload()
    chat.page.wait_for_selector(".pv-example")
    assert chat.page.locator(".pv-turn").count() == 0
    assert chat.page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])") == "[{},{}]"
    assert chat.page.evaluate("document.documentElement.lang") == "de"
    seen = chat.page.locator("body").inner_text()
    seen += " ".join(
        chat.page.eval_on_selector_all(
            "[aria-label], [title], [placeholder]",
            "all => all.filter(e => e.checkVisibility()).map(e => [e.ariaLabel, e.title, e.placeholder].join(' '))",
        )
    )
    english = re.findall(r"\b(?:Built|Gradio|Settings|Submit|Clear|Loading|Error|the|of|and|with|Show|Hide|Search|More)\b", seen)
    assert english == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser, fake_url, scheme):
    chat = ChatPage(browser, fake_url, scheme=scheme)
    assert chat.accessibility_faults() == []
    for question in ("konflikt", "rechne", "UVA", "Ollama", "defekt"):
        chat.ask(question).locator(".pv-actions, .pv-error").first.wait_for()
    chat.page.locator(".pv-chip").first.click()
    chat.pane().locator("mark.pv-hit").first.wait_for()
    chat.page.locator("details").evaluate_all("all => all.forEach((d) => { d.open = true; })")
    assert chat.accessibility_faults() == []
    chat.page.get_by_role("tab", name="Suche").click()
    chat.page.fill("#pv-search-box textarea", "Grenze")
    chat.page.press("#pv-search-box textarea", "Enter")
    chat.page.locator(".pv-ranking").wait_for()
    assert chat.accessibility_faults() == []
    chat.close()


def test_on_a_tablet_the_evidence_covers_the_answer_until_it_is_closed(browser, fake_url):
    chat = ChatPage(browser, fake_url, size={"width": 820, "height": 1180})
    assert not chat.pane().is_visible()
    turn = chat.answer("Wie hoch ist die Grenze?")
    turn.locator(".pv-chip").first.click()
    chat.pane().locator("mark.pv-hit").first.wait_for()
    assert chat.pane().is_visible()
    chat.page.get_by_role("button", name="Beleg schließen").click()
    assert not chat.pane().is_visible()
    assert chat.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    chat.close()


def test_an_answer_is_there_half_a_second_after_enter(chat):
    chat.answer("Zum Aufwärmen")
    seconds = []
    for _ in range(5):  # the best of five: what else the machine does is not the product's
        started = time.perf_counter()
        chat.ask("Wie hoch ist die Grenze?").locator(".pv-claim").first.wait_for()
        seconds.append(time.perf_counter() - started)
        chat.page.locator(".pv-turn:last-child .pv-actions").wait_for()
    assert min(seconds) <= 0.5
