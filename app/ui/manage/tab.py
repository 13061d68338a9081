"""The tab Verwaltung: documents, tags, conflicts, gaps, jobs, index versions, prompts, endpoints."""

import gradio as gr

from app.ui import messages
from app.ui.controls import carrier, command_channel
from app.ui.html import escape
from app.ui.manage import texts
from app.ui.manage.desk import Desk
from app.ui.manage.handlers import MAIN_PLACE, NAV_PLACE, NOTICE_PLACE, ManageHandlers, nav
from app.ui.manage.jobs_view import STATUS_PLACE
from app.ui.manage.parts import CHANNEL, LIVE_CHANNEL, poll
from app.ui.tabs import Tab

MOST_AT_ONCE = 8
"""Events of this tab that run at the same time; questions have their own budget."""


def manage_tab(desk: Desk) -> Tab:
    """The tab; for editors."""
    return Tab("manage", texts.TITLE, lambda: _build(desk), role="editor")


def _build(desk: Desk) -> None:
    handlers = ManageHandlers(desk)
    with gr.Row(elem_id="pv-manage"):
        gr.Column(elem_id=NAV_PLACE, scale=0, min_width=190)
        with gr.Column(elem_id="pv-manage-content", scale=1, min_width=320):
            gr.Column(elem_id=STATUS_PLACE)
            gr.Column(elem_id=NOTICE_PLACE)
            gr.Column(elem_id=MAIN_PLACE)
    # What is shown is asked for when the tab is first seen, by whoever sees it.
    first = f'<p class="pv-mg-empty">{escape(texts.LOADING)}</p>{poll("view", CHANNEL, view="documents")}'
    carrier("manage-start", messages.message(messages.slot(NAV_PLACE, nav("documents")), messages.slot(MAIN_PLACE, first)))
    for channel, handler in ((CHANNEL, handlers.command), (LIVE_CHANNEL, handlers.live)):
        box, send = command_channel(channel)
        send.click(
            handler,
            box,
            carrier(f"{channel}-answer"),
            show_progress="hidden",
            trigger_mode="multiple" if channel == CHANNEL else "once",
            concurrency_limit=MOST_AT_ONCE,
            concurrency_id=CHANNEL,
            api_visibility="private",
        )
