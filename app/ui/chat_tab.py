"""The tab Fragen: ask, watch checked claims appear, open what proves them."""

import gradio as gr

from app.ui import strings
from app.ui.chat_handlers import ChatHandlers
from app.ui.controls import carrier, command_channel, months_around, scope_choice
from app.ui.service import UiService
from app.ui.turns import Conversation

MOST_QUESTIONS_AT_ONCE = 64
"""Questions that may be answered or waiting at the same time; the service decides how many reach the model."""


def build_chat_tab(service: UiService, month: str) -> None:
    """The tab's components and what connects them; called inside a `gr.Tab`."""
    handlers = ChatHandlers(service)
    conversation = gr.State(Conversation())
    with gr.Row(elem_id="pv-chat"):
        with gr.Column(elem_id="pv-left", scale=7, min_width=320):
            gr.Column(elem_id="pv-thread")
            with gr.Row(elem_id="pv-composer"):
                box = gr.Textbox(
                    label=strings.QUESTION_LABEL,
                    placeholder=strings.QUESTION_PLACEHOLDER,
                    lines=1,
                    max_lines=5,
                    scale=8,
                    elem_id="pv-question",
                    container=False,
                    autofocus=True,
                )
                ask = gr.Button(strings.ASK, variant="primary", elem_id="pv-ask", scale=0, min_width=104)
                stop = gr.Button(strings.STOP, variant="stop", elem_id="pv-stop", scale=0, min_width=104)
            with gr.Row(elem_id="pv-options"):
                as_of = gr.Dropdown(
                    [(strings.AS_OF_DEFAULT, ""), *months_around(month)],
                    value="",
                    label=strings.AS_OF_LABEL,
                    scale=0,
                    min_width=180,
                    elem_id="pv-as-of",
                )
                model = gr.Dropdown(
                    [(strings.MODEL_AUTO, ""), (strings.MODEL_EXTRACTIVE, "extractive")],
                    value="",
                    label=strings.ANSWERED_BY_LABEL,
                    scale=0,
                    min_width=150,
                    filterable=False,
                    elem_id="pv-model",
                )
                scopes = scope_choice("pv-scopes")
        gr.Column(elem_id="pv-pane", scale=5, min_width=320)
    answers, again_answers = carrier("answer"), carrier("again-answer")
    stopped, done = carrier("stopped"), carrier("command-answer")
    command, send = command_channel("command")
    again, send_again = command_channel("again")
    asked = gr.on(
        [box.submit, ask.click],
        handlers.ask,
        [box, as_of, scopes, model, conversation],
        [answers, box],
        show_progress="hidden",
        concurrency_limit=MOST_QUESTIONS_AT_ONCE,
        concurrency_id="ask",
        api_visibility="private",
    )
    asked_again = send_again.click(
        handlers.ask_again,
        [again, as_of, scopes, conversation],
        again_answers,
        show_progress="hidden",
        concurrency_id="ask",
        api_visibility="private",
    )
    stop.click(
        handlers.stop,
        conversation,
        stopped,
        cancels=[asked, asked_again],
        show_progress="hidden",
        queue=False,
        api_visibility="private",
    )
    send.click(
        handlers.command,
        command,
        done,
        show_progress="hidden",
        trigger_mode="multiple",
        concurrency_limit=None,
        api_visibility="private",
    )
