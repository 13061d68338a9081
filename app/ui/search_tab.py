"""The tab Suche: what retrieval does with a question, channel by channel, on the path that the chat takes."""

import logging

import gradio as gr

from app.access.person import require_role
from app.ui import messages, strings
from app.ui.chat_handlers import error_text
from app.ui.controls import carrier, months_around, scope_choice, scopes_named
from app.ui.person import person_of
from app.ui.search_view import search_empty, search_html, search_problem
from app.ui.service import SearchRequest, UiService
from pipelines.errors import BadInput, PvAgentError

_log = logging.getLogger(__name__)


class SearchHandlers:
    """What happens on the search tab."""

    def __init__(self, service: UiService) -> None:
        self._service = service

    def search(self, text: str, as_of: str, scopes: list[str], request: gr.Request) -> str:
        """The explained result for the box, or what is wrong with it."""
        if not text.strip():
            return messages.message(messages.slot("results", search_empty()))
        wanted = SearchRequest(question=text.strip(), as_of=as_of or None, scopes=scopes_named(scopes))
        try:
            require_role(person_of(request), "analyst")
            html = search_html(self._service.search(wanted))
        except BadInput as exc:
            html = search_problem(str(exc))
        except PvAgentError as exc:
            _log.error("search failed: %s", exc)
            html = search_problem(error_text(exc))
        return messages.message(messages.slot("results", html))


def build_search_tab(service: UiService, month: str) -> None:
    """The tab's components and what connects them; called inside a `gr.Tab`."""
    handlers = SearchHandlers(service)
    with gr.Row(elem_id="pv-search"):
        with gr.Column(elem_id="pv-search-left", scale=7, min_width=320):
            with gr.Row(elem_id="pv-search-composer"):
                box = gr.Textbox(
                    label=strings.SEARCH_LABEL,
                    placeholder=strings.SEARCH_PLACEHOLDER,
                    lines=1,
                    max_lines=3,
                    scale=8,
                    container=False,
                    elem_id="pv-search-box",
                )
                button = gr.Button(strings.SEARCH_BUTTON, variant="primary", elem_id="pv-search-go", scale=0, min_width=104)
            with gr.Row(elem_id="pv-search-options"):
                as_of = gr.Dropdown(
                    [(strings.AS_OF_DEFAULT, ""), *months_around(month)],
                    value="",
                    label=strings.AS_OF_LABEL,
                    scale=0,
                    min_width=180,
                    elem_id="pv-search-as-of",
                )
                scopes = scope_choice("pv-search-scopes")
            gr.Column(elem_id="pv-results")
        gr.Column(elem_id="pv-search-pane", scale=5, min_width=320)
    results = carrier("results", messages.message(messages.slot("results", search_empty())))
    gr.on(
        [box.submit, button.click],
        handlers.search,
        [box, as_of, scopes],
        results,
        show_progress="hidden",
        trigger_mode="always_last",
        concurrency_limit=None,
        api_visibility="private",
    )
