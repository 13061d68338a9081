"""The login in a real browser: the form is sent, the page opens for its person, queued events know who it is."""

import gradio as gr
import pytest
from fastapi import FastAPI

from app.access.guards import make_guards
from app.api.application import guarded, make_api
from app.settings import Settings
from app.store.accounts import Accounts
from app.store.database import Database
from app.ui.application import CONTENT_SECURITY_POLICY
from app.ui.environment import keep_gradio_local
from app.ui.person import person_of
from app.ui.theme import head
from tests.app.api.port import Port, wait_for
from tests.app.ui.pages import accessibility_faults

pytestmark = pytest.mark.browser
PASSWORD = "vier lange Wörter hier"


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """A guarded page with one button that tells who pressed it."""
    keep_gradio_local()

    def whoami(request: gr.Request) -> str:
        return person_of(request).name

    with gr.Blocks() as blocks:
        out = gr.Textbox(elem_id="who")
        gr.Button("Wer", elem_id="ask").click(whoami, None, out)
    settings = Settings(data_dir=tmp_path_factory.mktemp("login"))
    database = Database(settings.data_dir)
    Accounts(database).add("maria", PASSWORD, ["analyst"])
    page = gr.mount_gradio_app(FastAPI(), blocks, path="/", head=head())
    with Port(guarded(make_api(), settings, make_guards(settings, database), page, CONTENT_SECURITY_POLICY)) as port:
        yield port.url
    database.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_login_page_has_no_accessibility_faults(browser, url, scheme):
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    page.goto(url)
    assert page.title() == "Anmelden – pv-agent"
    page.fill("#name", "maria")
    page.fill("#password", "falsch")
    page.keyboard.press("Enter")
    page.wait_for_selector("[role=alert]")
    assert accessibility_faults(page) == []
    context.close()


def test_a_login_opens_the_page_and_its_events_know_who_it_is(browser, url):
    context = browser.new_context()
    page = context.new_page()
    page.goto(url)
    page.fill("#name", "maria")
    page.fill("#password", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_selector("#ask")
    page.click("#ask")
    wait_for(lambda: page.input_value("#who textarea") == "maria")
    assert page.evaluate("document.cookie") == ""
    page.goto(url + "/logout")
    page.goto(url)
    assert page.title() == "Anmelden – pv-agent"
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_whose_session_has_ended_says_so_and_leads_to_the_login(browser, url, scheme):
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    page.goto(url)
    page.fill("#name", "maria")
    page.fill("#password", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_selector("#ask")
    assert page.locator("#pv-expired").count() == 0
    context.clear_cookies()
    page.click("#ask")
    told = page.get_by_role("alert").filter(has_text="Die Anmeldung ist abgelaufen. Bitte neu anmelden.")
    told.wait_for()
    assert [fault for fault in accessibility_faults(page) if "pv-expired" in fault] == []
    told.get_by_role("link").click()
    page.wait_for_selector("#password")
    assert page.title() == "Anmelden – pv-agent"
    context.close()
