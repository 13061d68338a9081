"""What happens on the tab Fragen: questions, clicks on evidence, ratings."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

import gradio as gr

from app.access.person import Person, require_role
from app.ui import messages, strings
from app.ui.commands import AskAgain, Comment, Evidence, OpenEntry, Rate, ReportGap, read_command
from app.ui.controls import scopes_named
from app.ui.entry_pane import entry_pane, forbidden, missing_entry
from app.ui.person import person_of
from app.ui.service import UiService
from app.ui.streaming import watched
from app.ui.turn_view import turn_blocks
from app.ui.turns import Conversation, ShownTurn
from custom_postprocessors.evidence import Scope
from pipelines.contracts import Question
from pipelines.errors import BadInput, Forbidden, IndexFault, IndexMissing, NotFound, PvAgentError, QueueFull
from pipelines.intake import read_question

ALWAYS_OFFERED = ((strings.MODEL_AUTO, ""), (strings.MODEL_EXTRACTIVE, "extractive"))
"""What may answer besides the models on Ollama, as (name, value)."""
MODELS_ASKED_MOST = 60
"""How often a page asks for the installed models while Ollama has not told them yet."""
MODELS_PAUSE_SECONDS = 0.5
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AskOptions:
    """What the controls below the question say."""

    as_of: str | None
    scopes: tuple[Scope, ...]
    model: str | None


class ChatHandlers:
    """What happens on the chat tab; one instance for all pages, state lies in each page's conversation."""

    def __init__(self, service: UiService) -> None:
        self._service = service

    async def ask(
        self, raw: str, as_of: str, scopes: list[str], model: str, conversation: Conversation, request: gr.Request
    ) -> AsyncIterator[tuple[object, object]]:
        """Answers the question in the box; yields (message, content of the box)."""
        if not raw.strip():
            return
        options = AskOptions(as_of=as_of or None, scopes=scopes_named(scopes), model=model or None)
        box: object = ""
        async for text in self._answer(raw, options, conversation, person_of(request)):
            yield text, box
            box = gr.skip()

    async def ask_again(
        self, raw_command: str, as_of: str, scopes: list[str], conversation: Conversation, request: gr.Request
    ) -> AsyncIterator[object]:
        """Answers a question of the page once more, with the model that the command names."""
        command = read_command(raw_command)
        if isinstance(command, AskAgain):
            options = AskOptions(as_of=as_of or None, scopes=scopes_named(scopes), model=command.model)
            async for text in self._answer(command.question, options, conversation, person_of(request)):
                yield text

    async def _answer(self, raw: str, options: AskOptions, conversation: Conversation, person: Person) -> AsyncIterator[str]:
        history = conversation.history()
        turn = conversation.begin(raw.strip())
        yield _shown(turn)
        try:
            require_role(person, "analyst")
            question = read_question(raw, as_of=options.as_of, scopes=options.scopes, model=options.model, history=history)
            turn.model_reason = self._model_reason(question)
            async for batch in watched(lambda cancelled: self._service.ask_events(question, cancelled), turn.cancelled):
                for event in batch:
                    turn.take(event)
                if turn.outcome is not None:
                    turn.titles = self._service.titles(turn.outcome.related)
                turn.waiting = self._service.waiting()
                yield _shown(turn)
        except BadInput as exc:
            turn.fail(str(exc))
            yield _shown(turn)
        except PvAgentError as exc:
            turn.fail(error_text(exc))
            _log.error("question failed: %s", exc)
            yield _shown(turn)
        except Exception:
            turn.fail(strings.ERROR_TEXT)
            yield _shown(turn)
            raise

    def stop(self, conversation: Conversation) -> object:
        """Ends what runs on this page; what was checked stays."""
        running = [turn for turn in conversation.turns if turn.running]
        for turn in running:
            turn.stop()
        return messages.message(*(_part(turn) for turn in running)) if running else gr.skip()

    async def models(self, request: gr.Request) -> object:
        """What the choice of the answering model offers: the installed models after the two that are always there.

        Waits until Ollama has told them, about a minute at most.
        """
        names: Sequence[str] | None = ()
        if person_of(request).has("analyst"):
            for _ in range(MODELS_ASKED_MOST):
                names = await asyncio.to_thread(self._service.models)
                if names is not None:
                    break
                await asyncio.sleep(MODELS_PAUSE_SECONDS)
        return gr.Dropdown([*ALWAYS_OFFERED, *((name, name) for name in names or ())])

    def command(self, raw: str, request: gr.Request) -> str:
        """What a click in the page asks for: an entry, a rating, a comment, a gap, a Beweisblatt."""
        command, person = read_command(raw), person_of(request)
        if not person.has("analyst"):
            return messages.message(messages.slot("evidence", forbidden()))
        author = person.name
        match command:
            case OpenEntry() as opened:
                return messages.message(messages.slot("evidence", self._entry(opened)))
            case Rate(request=answer, thumb=thumb):
                up = thumb == "up"
                return self._kept(answer, "rate", strings.THANKS_RATING, lambda: self._service.rate(answer, up=up, author=author))
            case Comment(request=answer, text=text):
                return self._comment(answer, text, author)
            case ReportGap(request=answer):
                return self._kept(answer, "gap", strings.THANKS_GAP, lambda: self._service.report_gap(answer, "", author=author))
            case Evidence(request=answer):
                return self._evidence(answer)
            case AskAgain():
                raise BadInput("Asking again has its own channel.")

    def _entry(self, opened: OpenEntry) -> str:
        try:
            entry = self._service.entry(opened.entry)
        except NotFound:
            return missing_entry(opened.entry)
        return entry_pane(entry, section=opened.section, spans=opened.ranges())

    def _comment(self, request: str, text: str, author: str) -> str:
        if not text.strip():
            return messages.message(messages.note(request, "comment", strings.ERROR_COMMENT, ok=False))
        return self._kept(
            request, "comment", strings.THANKS_COMMENT, lambda: self._service.comment(request, text.strip(), author=author)
        )

    def _kept(self, request: str, kind: str, thanks: str, keep: Callable[[], None]) -> str:
        try:
            keep()
        except BadInput as exc:
            return messages.message(messages.note(request, kind, str(exc), ok=False))
        except PvAgentError as exc:
            _log.warning("%s for %r was not kept: %s", kind, request, exc)
            return messages.message(messages.note(request, kind, strings.ERROR_NOT_KEPT, ok=False))
        return messages.message(messages.note(request, kind, thanks))

    def _evidence(self, request: str) -> str:
        try:
            sheet = self._service.evidence(request)
        except PvAgentError as exc:
            _log.warning("no evidence sheet for %r: %s", request, exc)
            return messages.message(messages.note(request, "evidence", strings.ERROR_TEXT, ok=False))
        return messages.message(messages.download(sheet.file_name, sheet.media_type, sheet.content))

    def _model_reason(self, question: Question) -> str:
        return "von Ihnen gewählt" if question.model else self._service.overview().model_reason


def error_text(error: PvAgentError) -> str:
    """What a reader is told of an error: no internals, but what can be done."""
    match error:
        case IndexMissing():
            return strings.ERROR_NO_INDEX
        case IndexFault():
            return strings.ERROR_INDEX
        case Forbidden():
            return strings.ERROR_FORBIDDEN
        case QueueFull():
            return strings.ERROR_QUEUE
        case _:
            return strings.ERROR_TEXT


def _part(turn: ShownTurn) -> messages.Part:
    return messages.turn(turn.turn_id, turn.phase, turn_blocks(turn))


def _shown(turn: ShownTurn) -> str:
    return messages.message(_part(turn))
