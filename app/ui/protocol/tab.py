"""The tab Protokoll: which answers were given, what proves them, and what became of what they cite."""

import gradio as gr

from app.ui import messages
from app.ui.controls import carrier, command_channel
from app.ui.entry_pane import empty_pane
from app.ui.protocol import texts
from app.ui.protocol.answer_log import AnswerLog
from app.ui.protocol.handlers import DETAIL, ProtocolHandlers
from app.ui.protocol.list_view import filters_html
from app.ui.tabs import Tab


def protocol_tab(answers: AnswerLog) -> Tab:
    """The tab; for evaluators."""
    return Tab("protocol", texts.TITLE, lambda: _build(answers), role="evaluator")


def _build(answers: AnswerLog) -> None:
    handlers = ProtocolHandlers(answers)
    with gr.Column(elem_id="pv-protocol", elem_classes=["pv-tab"]):
        gr.Column(elem_id="pv-protocol-filters")
        gr.Column(elem_id="pv-protocol-chain")
        with gr.Row(elem_id="pv-protocol-body", elem_classes=["pv-split"]):
            gr.Column(elem_id="pv-protocol-list", scale=5, min_width=320)
            gr.Column(elem_id=DETAIL, scale=7, min_width=320)
        gr.Column(elem_id="pv-protocol-pane", elem_classes=["pv-drawer"])
    carrier(
        "protocol-start",
        messages.message(
            messages.slot("pv-protocol-filters", filters_html(metadata_only=not answers.keeps_content)),
            messages.slot(DETAIL, empty_pane(texts.DETAIL_EMPTY)),
        ),
    )
    command, send = command_channel("protocol")
    send.click(
        handlers.command,
        command,
        carrier("protocol-answer"),
        show_progress="hidden",
        trigger_mode="multiple",
        concurrency_limit=None,
        api_visibility="private",
    )
