"""What happens to a round: asking, streaming, voting, revealing."""

import asyncio
import logging
from collections.abc import AsyncIterator

import gradio as gr

from app.access.person import Person, require_role
from app.bakeoff_desk import BakeoffDesk
from app.ui import messages
from app.ui.bakeoff import texts
from app.ui.bakeoff.commands import Again, Reveal, RoundCommand, Stop, Vote, read_ask, read_round
from app.ui.bakeoff.list_view import hidden_html, reload_lists
from app.ui.bakeoff.round_view import answers_html, ask_form, round_head, vote_html
from app.ui.bakeoff.rounds import BakeoffPage, Column, Comparison
from app.ui.chat_handlers import error_text
from app.ui.person import person_of
from app.ui.streaming import watched
from evaluation.ballots import CRITERIA
from pipelines.errors import BadInput, Forbidden, IndexFault, ModelError, PvAgentError

ASK, ANSWERS, VOTE = "pv-bakeoff-ask", "pv-bakeoff-answers", "pv-bakeoff-vote"
RANKING, START, RUNS = "pv-bakeoff-ranking", "pv-bakeoff-start-run", "pv-bakeoff-runs"
COMPARE, REPORT = "pv-bakeoff-compare", "pv-bakeoff-report"
RELEASE_SECONDS = 0.25
"""Pause between two claims that a blind reader gets to see, the same for all models."""
_log = logging.getLogger(__name__)


class RoundHandlers:
    """One instance for all pages; state lies in each page's `BakeoffPage`."""

    def __init__(self, desk: BakeoffDesk) -> None:
        self._desk = desk

    async def ask(self, raw: str, page: BakeoffPage, request: gr.Request) -> AsyncIterator[tuple[object, object, object]]:
        """Asks the chosen models; yields (round, what commands left, ranking and runs).

        The last two are replaced once, at the beginning of a blind round, so that no name stays anywhere on the page.
        """
        try:
            require_role(person_of(request), "evaluator")
            asked = read_ask(raw)
            if page.comparison is not None:
                page.comparison.stop()
            round_ = await asyncio.to_thread(self._desk.begin, asked.question, asked.models)
        except (BadInput, Forbidden, IndexFault, ModelError) as exc:
            problem = str(exc) if isinstance(exc, BadInput) else error_text(exc)
            yield await asyncio.to_thread(self._form, problem, raw), gr.skip(), gr.skip()
            return
        comparison = Comparison.of(round_.prepared.question.text, round_, asked.models, blind=bool(asked.blind))
        page.comparison = comparison
        first = messages.message(*_parts(comparison))
        if comparison.secret:
            yield first, first, messages.message(*hidden_lists(), messages.slot(REPORT, ""))
        else:
            yield first, gr.skip(), gr.skip()
        async for _ in self._answered(comparison):
            yield messages.message(*_parts(comparison)), gr.skip(), gr.skip()

    def command(self, raw: str, page: BakeoffPage, request: gr.Request) -> str:
        """A click or a vote; the answer is the whole state of the round."""
        problem = ""
        try:
            person = person_of(request)
            require_role(person, "evaluator")
            problem = self._do(read_round(raw), page, person)
        except (BadInput, Forbidden, IndexFault) as exc:
            problem = str(exc) if isinstance(exc, BadInput) else error_text(exc)
        except PvAgentError as exc:
            _log.error("bake-off command failed: %s", exc)
            problem = texts.ERROR
        if page.comparison is None:
            return self._form(problem)
        return messages.message(*_parts(page.comparison, problem=problem))

    def _do(self, command: RoundCommand, page: BakeoffPage, person: Person) -> str:
        """Does it; returns what keeps the vote from counting, or nothing."""
        comparison = page.comparison
        match command:
            case Vote() as vote if comparison is not None:
                return self._vote(vote, comparison, person)
            case Reveal() if comparison is not None and comparison.ended:
                comparison.revealed = True
            case Stop() | Again() if comparison is not None:
                comparison.stop()
        if isinstance(command, Again):
            page.comparison = None
        return ""

    async def _answered(self, comparison: Comparison) -> AsyncIterator[None]:
        """Something new is to be shown. A blind round is shown at one pace when every answer is there."""
        for column in comparison.asking_order():
            async for _ in self._column(comparison, column):
                if not comparison.secret:
                    yield
            if comparison.stopped:
                break
            if not comparison.secret:
                yield
        while comparison.held_back and not comparison.stopped:
            comparison.shown_claims += 1
            yield
            await asyncio.sleep(RELEASE_SECONDS)
        yield

    async def _column(self, comparison: Comparison, column: Column) -> AsyncIterator[None]:
        """One model's events; whatever goes wrong with it stays with it."""
        try:
            async for batch in watched(
                lambda cancelled: comparison.round.ask(column.model, column.usage, cancelled), column.cancelled
            ):
                for event in batch:
                    if not column.ended:
                        column.take(event)
                yield
            if not column.ended:
                column.stop()
        except PvAgentError as exc:
            _log.warning("%s failed in a comparison: %s", column.model, exc)
            column.fail()

    def _vote(self, vote: Vote, comparison: Comparison, person: Person) -> str:
        """Keeps the vote and shows the names; or says what is missing. Whoever has seen the names has no blind vote."""
        if not comparison.ended or comparison.voted or (comparison.blind and comparison.revealed):
            return ""
        choices: dict[str, str] = {criterion: getattr(vote, criterion) for criterion in CRITERIA}
        comparison.choices = choices
        ballots = comparison.ballots(choices)
        if len(ballots) < len(CRITERIA):
            return texts.MISSING_VOTE
        self._desk.vote(comparison.id, ballots, blind=comparison.blind, round_=comparison.round, author=person.name)
        comparison.voted = comparison.revealed = True
        return ""

    def _form(self, problem: str = "", raw: str = "") -> str:
        question, chosen = "", ()
        if raw:
            try:
                asked = read_ask(raw)
                question, chosen = asked.question[:2000], asked.models  # type: ignore[assignment]
            except BadInput:
                pass
        form = ask_form(self._desk.candidates(), question=question, chosen=chosen, problem=problem)
        return messages.message(
            messages.slot(ASK, form + reload_lists()), messages.slot(ANSWERS, answers_html(None)), messages.slot(VOTE, "")
        )


def hidden_lists() -> tuple[messages.Part, ...]:
    """In the places of ranking and runs: nothing that names a model."""
    return messages.slot(RANKING, hidden_html()), *(messages.slot(place, "") for place in (START, RUNS, COMPARE))


def _parts(comparison: Comparison, *, problem: str = "") -> tuple[messages.Part, ...]:
    over = comparison.voted or (comparison.blind and comparison.revealed)
    return (
        messages.slot(ASK, round_head(comparison)),
        messages.slot(ANSWERS, answers_html(comparison)),
        messages.slot(VOTE, vote_html(comparison, problem=problem) + (reload_lists() if over else "")),
    )
