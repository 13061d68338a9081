"""What happens on the tab Protokoll."""

import logging
from collections.abc import Sequence
from typing import assert_never

import gradio as gr

from app.access.person import require_role
from app.store.answer_search import AnswerFilter
from app.ui import messages
from app.ui.chat_handlers import error_text
from app.ui.person import person_of
from app.ui.protocol import texts
from app.ui.protocol.answer_log import AnswerLog
from app.ui.protocol.commands import (
    CheckChain,
    Command,
    DownloadSheet,
    FindDrift,
    ListAnswers,
    ShowAnswer,
    read_command,
)
from app.ui.protocol.detail_view import detail_html
from app.ui.protocol.list_view import chain_html, drift_html, list_html, problem_html
from pipelines.errors import BadInput, Forbidden, IndexFault, NotFound, PvAgentError

LIST, CHAIN, DETAIL = "pv-protocol-list", "pv-protocol-chain", "pv-protocol-detail"
CHECKED_UNASKED = 5000
"""Up to this many rows the chain is walked with every list; a longer one takes seconds and is walked on demand."""
_log = logging.getLogger(__name__)


class ProtocolHandlers:
    """Reads the log for evaluators; one instance for all pages."""

    def __init__(self, answers: AnswerLog) -> None:
        self._answers = answers

    def command(self, raw: str, request: gr.Request) -> str:
        """What a click asks for, or why it is not there."""
        place = LIST
        try:
            require_role(person_of(request), "evaluator")
            command = read_command(raw)
            place = _place(command)
            return messages.message(*self._answer(command))
        except (BadInput, NotFound) as exc:
            return messages.message(messages.slot(place, problem_html(str(exc))))
        except (IndexFault, Forbidden) as exc:
            return messages.message(messages.slot(place, problem_html(error_text(exc))))
        except PvAgentError as exc:
            _log.error("the log of answers could not be read: %s", exc)
            return messages.message(messages.slot(place, problem_html(texts.ERROR)))

    def _answer(self, command: Command) -> Sequence[messages.Part]:
        match command:
            case ListAnswers():
                wanted = command.wanted()
                page = self._answers.page(wanted, command.before)
                return [messages.slot(LIST, list_html(page, filtered=wanted != AnswerFilter())), *self._chain_if_short()]
            case FindDrift():
                return [messages.slot(LIST, drift_html(self._answers.drift(command.wanted())))]
            case CheckChain():
                return [messages.slot(CHAIN, chain_html(self._answers.chain()))]
            case ShowAnswer():
                return [messages.slot(DETAIL, detail_html(self._answers.shown(command.request)))]
            case DownloadSheet():
                sheet = self._answers.sheet(command.request)
                return [messages.download(f"beweisblatt-{command.request}.html", "text/html", sheet)]
            case _:
                assert_never(command)

    def _chain_if_short(self) -> Sequence[messages.Part]:
        if self._answers.rows() > CHECKED_UNASKED:
            return []
        return [messages.slot(CHAIN, chain_html(self._answers.chain()))]


def _place(command: Command) -> str:
    match command:
        case ListAnswers() | FindDrift():
            return LIST
        case CheckChain():
            return CHAIN
        case ShowAnswer() | DownloadSheet():
            return DETAIL
        case _:
            assert_never(command)
