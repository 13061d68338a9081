"""The tab Fragen: ask, watch checked claims appear, open what proves them."""

from dataclasses import dataclass

import gradio as gr

from app.ui import strings
from app.ui.chat_handlers import ALWAYS_OFFERED, ChatHandlers
from app.ui.controls import carrier, command_channel, months_around, scope_choice
from app.ui.service import UiService
from app.ui.turns import Conversation

MOST_QUESTIONS_AT_ONCE = 64
"""Questions that may be answered or waiting at the same time; the service decides how many reach the model."""


@dataclass(frozen=True, slots=True)
class _Composer:
    """Where a question is written and sent, or stopped."""

    box: gr.Textbox
    ask: gr.Button
    stop: gr.Button


@dataclass(frozen=True, slots=True)
class _Options:
    """What a question is asked with."""

    as_of: gr.Dropdown
    model: gr.Dropdown
    scopes: gr.CheckboxGroup


def build_chat_tab(service: UiService, month: str) -> None:
    """The tab's components and what connects them; called inside a `gr.Tab`."""
    handlers = ChatHandlers(service)
    with gr.Row(elem_id="pv-chat"):
        with gr.Column(elem_id="pv-left", scale=7, min_width=320):
            gr.Column(elem_id="pv-thread")
            composer = _composer()
            options = _options(month)
        gr.Column(elem_id="pv-pane", scale=5, min_width=320)
    _connect_questions(handlers, composer, options)
    command, send = command_channel("command")
    send.click(
        handlers.command,
        command,
        carrier("command-answer"),
        show_progress="hidden",
        trigger_mode="multiple",
        concurrency_limit=None,
        api_visibility="private",
    )
    # With the page (None), and each time the list is opened: what was installed since is in it.
    for opened in (None, options.model.focus):
        gr.on(
            opened,
            handlers.models,
            None,
            options.model,
            show_progress="hidden",
            concurrency_limit=None,
            api_visibility="private",
        )


def _composer() -> _Composer:
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
    return _Composer(box, ask, stop)


def _options(month: str) -> _Options:
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
            list(ALWAYS_OFFERED),
            value="",
            label=strings.ANSWERED_BY_LABEL,
            scale=0,
            min_width=150,
            filterable=False,
            elem_id="pv-model",
        )
        scopes = scope_choice("pv-scopes")
    return _Options(as_of, model, scopes)


def _connect_questions(handlers: ChatHandlers, composer: _Composer, options: _Options) -> None:
    conversation = gr.State(Conversation())
    again, send_again = command_channel("again")
    asked = gr.on(
        [composer.box.submit, composer.ask.click],
        handlers.ask,
        [composer.box, options.as_of, options.scopes, options.model, conversation],
        [carrier("answer"), composer.box],
        show_progress="hidden",
        concurrency_limit=MOST_QUESTIONS_AT_ONCE,
        concurrency_id="ask",
        api_visibility="private",
    )
    asked_again = send_again.click(
        handlers.ask_again,
        [again, options.as_of, options.scopes, conversation],
        carrier("again-answer"),
        show_progress="hidden",
        concurrency_id="ask",
        api_visibility="private",
    )
    composer.stop.click(
        handlers.stop,
        conversation,
        carrier("stopped"),
        cancels=[asked, asked_again],
        show_progress="hidden",
        queue=False,
        api_visibility="private",
    )
