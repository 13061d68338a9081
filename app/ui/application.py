"""The user interface as one Gradio application, and how it is mounted beside the API."""

from collections.abc import Sequence

import gradio as gr
import matplotlib.pyplot  # noqa: F401 - Gradio imports it with the first event, and the first question would wait for it
from fastapi import FastAPI

from app.access.person import Person
from app.ui import messages, page, strings
from app.ui.chat_handlers import error_text
from app.ui.chat_tab import build_chat_tab
from app.ui.controls import carrier, hidden_button
from app.ui.entry_pane import empty_pane
from app.ui.environment import keep_gradio_local
from app.ui.person import person_of
from app.ui.search_tab import build_search_tab
from app.ui.service import Overview, UiService
from app.ui.tabs import Tab
from app.ui.theme import head, theme
from pipelines.errors import IndexMissing, PvAgentError

CONTENT_SECURITY_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "font-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
)
"""What the page needs. Inline scripts are Gradio's own start-up scripts and ours; `unsafe-eval` is not needed."""


def build_ui(service: UiService, tabs: Sequence[Tab] = ()) -> gr.Blocks:
    """The whole interface over one service, `tabs` after Fragen and Suche. Nothing is asked of the service but its overview.

    Before the page knows who opened it, it shows the tabs of analysts.
    """
    keep_gradio_local()
    month = month_of(service)
    every = (
        Tab("ask", strings.TAB_ASK, lambda: build_chat_tab(service, month)),
        Tab("search", strings.TAB_SEARCH, lambda: build_search_tab(service, month)),
        *tabs,
    )
    blocks: gr.Blocks
    with gr.Blocks(title=f"{strings.PRODUCT} – {strings.TAGLINE}", analytics_enabled=False, fill_width=True) as blocks:
        gr.Column(elem_id="pv-header")
        with gr.Tabs(elem_id="pv-tabs"):
            drawn = [_draw(tab) for tab in every]
        frame = carrier("frame", _frame(service))
        refresh = hidden_button("refresh")

        def opened(request: gr.Request) -> list[object]:
            person = person_of(request)
            return [_frame(service, person), *(gr.Tab(visible=person.has(tab.role)) for tab in every)]

        gr.on([blocks.load, refresh.click], opened, None, [frame, *drawn], show_progress="hidden", api_visibility="private")
    blocks.queue(max_size=None, api_open=False)
    return blocks


def mount_ui(app: FastAPI, service: UiService, tabs: Sequence[Tab] = (), *, path: str = "/") -> FastAPI:
    """Mounts the interface; routes that were added to `app` before keep their way.

    Nothing of a page is kept in the browser, no error text reaches it, and nothing is loaded from outside.
    """
    mounted: FastAPI = gr.mount_gradio_app(
        app,
        build_ui(service, tabs),
        path=path,
        theme=theme(),
        head=head(),
        footer_links=[],
        run_history=False,
        enable_monitoring=False,
        show_error=False,
        ssr_mode=False,
        pwa=False,
        mcp_server=False,
    )
    return mounted


def month_of(service: UiService) -> str:
    """The service's current month, `YYYY-MM`."""
    return service.today().strftime("%Y-%m")


def _draw(tab: Tab) -> gr.Tab:
    drawn: gr.Tab
    with gr.Tab(tab.title, id=tab.id, elem_id=f"pv-tab-{tab.id}", visible=tab.role == "analyst") as drawn:
        tab.build()
    return drawn


def _frame(service: UiService, person: Person | None = None) -> str:
    overview: Overview | None = None
    problem = ""
    try:
        overview = service.overview()
    except IndexMissing:
        pass  # the first index is being built; the page asks again until it is there
    except PvAgentError as exc:
        problem = error_text(exc)
    return messages.message(
        messages.slot("header", page.header(overview, person)),
        messages.slot("welcome", page.welcome(overview, problem=problem)),
        messages.slot("pane", empty_pane(strings.EVIDENCE_EMPTY)),
        messages.slot("search-pane", empty_pane(strings.SEARCH_PANE_EMPTY)),
    )
