"""The tab Auswertung: how good the answers are, run by run, and what the questions and the knowledge base leave out."""

import gradio as gr

from app.ui import messages
from app.ui.controls import carrier, command_channel
from app.ui.entry_pane import empty_pane
from app.ui.reports import texts
from app.ui.reports.handlers import DETAIL, LIST, ReportHandlers
from app.ui.reports.views import start_html
from app.ui.tabs import Tab


def reports_tab(handlers: ReportHandlers) -> Tab:
    """The tab; for evaluators."""
    return Tab("reports", texts.TITLE, lambda: _build(handlers), role="evaluator")


def _build(handlers: ReportHandlers) -> None:
    with gr.Column(elem_id="pv-reports", elem_classes=["pv-tab"]):
        gr.Column(elem_id="pv-reports-start")
        with gr.Row(elem_id="pv-reports-body", elem_classes=["pv-split"]):
            gr.Column(elem_id=LIST, scale=6, min_width=320)
            gr.Column(elem_id=DETAIL, scale=6, min_width=320)
        gr.Column(elem_id="pv-reports-pane", elem_classes=["pv-drawer"])
    carrier(
        "reports-start",
        messages.message(
            messages.slot("pv-reports-start", start_html()),
            messages.slot(DETAIL, empty_pane(texts.DETAIL_EMPTY)),
        ),
    )
    command, send = command_channel("reports")
    send.click(
        handlers.command,
        command,
        carrier("reports-answer"),
        show_progress="hidden",
        trigger_mode="multiple",
        concurrency_limit=None,
        api_visibility="private",
    )
