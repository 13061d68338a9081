"""Auswertung and Protokoll in a real browser, and which tabs whom are shown.

With `PV_TEST_SCREENSHOTS` the tabs are photographed into that folder.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import Request

from app.access.person import ROLES, Person
from app.ui.protocol.answer_log import AnswerLog
from app.ui.protocol.export import export_route
from app.ui.reports.handlers import ReportHandlers
from app.ui.reports.shelf import ReportShelf
from tests.app.ui.conftest import WIDE, served_page
from tests.app.ui.fake_service import FakeService
from tests.app.ui.pages import ChatPage
from tests.app.ui.protocol.conftest import answers, database  # noqa: F401 - fixtures
from tests.app.ui.reports.conftest import Served, data_dir, gaps  # noqa: F401 - fixtures

pytestmark = pytest.mark.browser
TABLET = {"width": 820, "height": 1180}


def person_named(request: Request) -> Person:
    """Whom the test's header names; every role without it."""
    role = next((one for one in ROLES if one == request.headers.get("x-role")), "admin")
    return Person("anna <b>", frozenset({role}))


@pytest.fixture(scope="module")
def url(answers: AnswerLog, data_dir: Path, gaps: tuple[object, ...]) -> Iterator[str]:  # noqa: F811
    from app.ui.protocol.tab import protocol_tab  # Gradio takes seconds to import
    from app.ui.reports.tab import reports_tab

    reports = ReportHandlers(ReportShelf(data_dir), Served(), lambda: gaps)  # type: ignore[arg-type, return-value]
    tabs = [reports_tab(reports), protocol_tab(answers)]
    with served_page(FakeService(), person_named, tabs, [export_route(answers)]) as url:
        yield url


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = Path(os.environ.get("PV_TEST_SCREENSHOTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def chat(browser, url: str) -> Iterator[ChatPage]:
    page = ChatPage(browser, url)
    yield page
    page.close()


def test_who_evaluates_sees_every_tab_and_who_is_logged_in(chat: ChatPage) -> None:
    chat.page.get_by_role("tab", name="Protokoll").wait_for()
    assert chat.tabs() == ["Fragen", "Suche", "Auswertung", "Protokoll"]
    assert "anna <b> · Abmelden" in chat.page.locator(".pv-who").inner_text()
    assert chat.page.get_by_role("link", name="Abmelden").get_attribute("href") == "/logout"


def test_an_analyst_sees_only_question_and_search(browser, url: str) -> None:
    chat = ChatPage(browser, url, headers={"x-role": "analyst"})
    chat.page.locator(".pv-who").wait_for()
    chat.answer("Wie hoch ist die Grenze?")
    assert chat.tabs() == ["Fragen", "Suche"]
    chat.close()


def test_the_log_lists_filters_and_shows_an_answer(chat: ChatPage) -> None:
    chat.open_tab("Protokoll")
    rows = chat.page.locator("#pv-protocol-list li")
    rows.nth(4).wait_for()
    assert "✓ Kette unversehrt · 5 Zeilen" in chat.page.locator("#pv-protocol-chain").inner_text()
    chat.page.get_by_label("Rückmeldung").select_option("down")
    chat.page.get_by_role("button", name="Anzeigen", exact=True).click()
    rows.nth(1).wait_for(state="detached")
    assert "nicht hilfreich" in rows.first.inner_text()
    rows.first.get_by_role("button").click()
    detail = chat.page.locator("#pv-protocol-detail .pv-detail")
    detail.wait_for()
    assert detail.locator(".pv-quote", has_text="nicht mehr da").count() == 1
    assert "Bitte <b>prüfen</b>" in detail.inner_text()


def test_a_citation_in_the_log_opens_its_entry_and_closes_again(chat: ChatPage) -> None:
    chat.open_tab("Protokoll")
    chat.page.locator("#pv-protocol-list").get_by_role("button", name="Wie hoch ist die Grenze?").click()
    chat.page.locator("#pv-protocol-detail .pv-chip").first.click()
    drawer = chat.page.locator("#pv-protocol-pane")
    drawer.locator("mark.pv-hit").first.wait_for()
    chat.page.keyboard.press("Escape")
    drawer.wait_for(state="hidden")


def test_the_log_is_searched_by_keyboard_and_exported(chat: ChatPage) -> None:
    chat.open_tab("Protokoll")
    field = chat.page.get_by_label("Text in Frage oder Antwort")
    field.fill("uva")
    field.press("Enter")
    chat.page.locator("#pv-protocol-list li").nth(1).wait_for(state="detached")
    assert "abgelehnt" in chat.page.locator("#pv-protocol-list li").first.inner_text()
    chat.page.get_by_role("button", name="Überholte Antworten suchen").click()
    chat.page.locator("#pv-protocol-list", has_text="Keine Antwort dieser Auswahl zitiert etwas").wait_for()
    with chat.page.expect_download() as download:
        chat.page.get_by_role("button", name="Als JSONL exportieren").click()
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["metadata"]["request_id"] for line in lines] == ["r-2"]


def test_a_sheet_is_downloaded_from_the_log(chat: ChatPage) -> None:
    chat.open_tab("Protokoll")
    chat.page.locator("#pv-protocol-list").get_by_role("button", name="Wie hoch ist die Grenze?").click()
    with chat.page.expect_download() as download:
        chat.page.locator("#pv-protocol-detail").get_by_role("button", name="Beweisblatt").click()
    assert download.value.suggested_filename == "beweisblatt-r-1.html"


def test_a_failure_of_a_run_leads_to_the_search_and_to_the_chat(chat: ChatPage) -> None:
    chat.open_tab("Auswertung")
    chat.page.locator("#pv-reports-list").get_by_role("button", name="bakeoff-2").click()
    failure = chat.page.locator("#pv-reports-detail details", has_text="Wann ist die UVA").first
    failure.locator("summary").click()
    failure.get_by_role("button", name="In der Suche ansehen").click()
    chat.page.locator(".pv-ranking").wait_for()
    assert chat.page.input_value("#pv-search-box textarea") == "Wann ist die UVA abzugeben?"
    chat.open_tab("Auswertung")
    failure.get_by_role("button", name="Frage übernehmen").click()
    assert chat.page.input_value("#pv-question textarea") == "Wann ist die UVA abzugeben?"
    assert chat.page.locator("#pv-question textarea").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, TABLET], ids=["wide", "tablet"])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_page(browser, url, pictures, scheme, size) -> None:
    chat = ChatPage(browser, url, scheme=scheme, size=size)
    name = f"{scheme}-{size['width']}"
    chat.open_tab("Auswertung")
    chat.page.locator("#pv-reports-list").get_by_role("button", name="bakeoff-2").click()
    chat.page.locator("#pv-reports-detail details summary").first.click()
    chat.page.screenshot(path=pictures / f"reports-{name}.png")
    assert chat.accessibility_faults() == []
    assert chat.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for tab in chat.tabs() if size is WIDE else []:
        chat.open_tab(tab)
        assert chat.page.evaluate("document.documentElement.scrollHeight - innerHeight") <= 0, tab
    chat.open_tab("Protokoll")
    chat.page.locator("#pv-protocol-list").get_by_role("button", name="Wie hoch ist die Grenze?").click()
    chat.page.locator("#pv-protocol-detail .pv-chip").first.wait_for()
    chat.page.screenshot(path=pictures / f"protocol-{name}.png")
    assert chat.accessibility_faults() == []
    assert chat.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    chat.close()
