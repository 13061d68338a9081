"""The tab Modellvergleich: answers of several models side by side, votes, and runs over goldsets."""

import gradio as gr

from app.bakeoff_desk import BakeoffDesk
from app.ui import messages
from app.ui.bakeoff import texts
from app.ui.bakeoff.list_handlers import ListHandlers
from app.ui.bakeoff.list_view import LIST_CHANNEL
from app.ui.bakeoff.round_handlers import ANSWERS, ASK, COMPARE, RANKING, REPORT, RUNS, START, VOTE, RoundHandlers
from app.ui.bakeoff.round_view import ASK_CHANNEL, ROUND_CHANNEL, answers_html, open_form
from app.ui.bakeoff.rounds import BakeoffPage
from app.ui.controls import carrier, command_channel
from app.ui.tabs import Tab

MOST_ROUNDS_AT_ONCE = 8


def bakeoff_tab(desk: BakeoffDesk) -> Tab:
    """The tab; for evaluators."""
    return Tab("bakeoff", texts.TITLE, lambda: _build(desk), role="evaluator")


def _build(desk: BakeoffDesk) -> None:
    rounds, lists = RoundHandlers(desk), ListHandlers(desk)
    page = gr.State(BakeoffPage())
    with gr.Column(elem_id="pv-bakeoff", elem_classes=["pv-tab"]):
        for place in (ASK, ANSWERS, VOTE, RANKING, START, RUNS, COMPARE, REPORT):
            gr.Column(elem_id=place)
        gr.Column(elem_id="pv-bakeoff-pane", elem_classes=["pv-drawer"])
    opened = messages.slot(ASK, open_form()), messages.slot(ANSWERS, answers_html(None))
    carrier("bakeoff-start", messages.message(*opened))
    asked, answered, listed = carrier("bakeoff-asked"), carrier("bakeoff-answered"), carrier("bakeoff-listed")
    question, send = command_channel(ASK_CHANNEL)
    send.click(
        rounds.ask,
        [question, page],
        [asked, answered, listed],
        show_progress="hidden",
        concurrency_limit=MOST_ROUNDS_AT_ONCE,
        api_visibility="private",
    )
    for channel, handler, target in ((ROUND_CHANNEL, rounds.command, answered), (LIST_CHANNEL, lists.command, listed)):
        box, click = command_channel(channel)
        click.click(
            handler,
            [box, page],
            target,
            show_progress="hidden",
            trigger_mode="multiple",
            concurrency_limit=None,
            api_visibility="private",
        )
