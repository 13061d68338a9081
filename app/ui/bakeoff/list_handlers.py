"""What happens to ranking and runs: looking, starting, stopping, going on, comparing, exporting."""

import logging

import gradio as gr

from app.access.person import Person, require_role
from app.bakeoff_desk import BakeoffDesk
from app.ui import messages
from app.ui.bakeoff import texts
from app.ui.bakeoff.commands import CompareRuns, ListCommand, RunCommand, ShowRuns, StartRun, VotesCsv, read_list
from app.ui.bakeoff.list_view import (
    compare_html,
    comparison_html,
    problem_html,
    ranking_html,
    report_html,
    runs_html,
    start_html,
)
from app.ui.bakeoff.round_handlers import COMPARE, RANKING, REPORT, RUNS, START, hidden_lists
from app.ui.bakeoff.rounds import BakeoffPage
from app.ui.chat_handlers import error_text
from app.ui.person import person_of
from pipelines.errors import BadInput, Forbidden, IndexFault, ModelError, NotFound, PvAgentError

_CSV_TYPE = "text/csv;charset=utf-8"
_log = logging.getLogger(__name__)


class ListHandlers:
    """One instance for all pages."""

    def __init__(self, desk: BakeoffDesk) -> None:
        self._desk = desk

    def command(self, raw: str, page: BakeoffPage, request: gr.Request) -> str:
        """A click; while a round of this page is blind, nothing that names a model is told."""
        try:
            person = person_of(request)
            require_role(person, "evaluator")
            if page.secret:
                return messages.message(*hidden_lists())
            return messages.message(*self._parts(read_list(raw), page, person))
        except (BadInput, NotFound, ModelError) as exc:
            problem = str(exc)
        except (Forbidden, IndexFault) as exc:
            problem = error_text(exc)
        except PvAgentError as exc:
            _log.error("list of runs failed: %s", exc)
            problem = texts.ERROR
        return messages.message(messages.slot(REPORT, problem_html(problem)))

    def _parts(self, command: ListCommand, page: BakeoffPage, person: Person) -> list[messages.Part]:
        """Does it. What was said of a click stays until the next one, or the page's own asking would wipe it away unread."""
        if isinstance(command, ShowRuns):
            return [*self._lists(page), *([self._form()] if command.do == "runs" else [])]
        page.notice = ""
        match command:
            case RunCommand(do="csv", run=run):
                return [messages.download(f"{run}.csv", _CSV_TYPE, self._desk.run_csv(run)), *self._lists(page)]
            case VotesCsv():
                return [messages.download("stimmen.csv", _CSV_TYPE, self._desk.votes_csv()), *self._lists(page)]
            case RunCommand(do="show", run=run):
                return [*self._lists(page), messages.slot(REPORT, report_html(self._desk.report(run)))]
            case CompareRuns(before=before, after=after):
                html = comparison_html(self._desk.compare(before, after), self._desk.report(before), self._desk.report(after))
                return [*self._lists(page), messages.slot(REPORT, html)]
            case RunCommand(do="cancel", run=run):
                self._desk.cancel(run)
                page.notice = texts.CANCELLED.format(run=run)
            case RunCommand(do="resume", run=run):
                self._desk.resume(run, author=person.name)
                page.notice = texts.STARTED.format(run=run)
            case StartRun(models=models, goldsets=goldsets):
                page.notice = texts.STARTED.format(run=self._desk.start(models, goldsets, author=person.name))
        return self._lists(page)

    def _lists(self, page: BakeoffPage) -> list[messages.Part]:
        desk = self._desk
        ranking = messages.slot(RANKING, ranking_html(desk.rankings(), desk.measured()))
        notice, runs = page.notice, desk.runs()
        if page.notice != notice:
            # A click was done meanwhile; its answer may be on the page already, and an older list must not replace it.
            notice, runs = page.notice, desk.runs()
        return [ranking, messages.slot(RUNS, runs_html(runs, notice=notice)), messages.slot(COMPARE, compare_html(runs))]

    def _form(self) -> messages.Part:
        """Sent only when somebody asks for the tab as it is now: a form put anew has lost what was ticked in it."""
        return messages.slot(START, start_html(self._desk.candidates(), self._desk.goldsets()))
