"""What happens on the tab Auswertung."""

import logging
from collections.abc import Callable, Sequence
from typing import Annotated, Literal

import gradio as gr
from pydantic import Field, TypeAdapter, ValidationError

from app.access.person import require_role
from app.store.feedback import Gap
from app.ui import messages
from app.ui.chat_handlers import error_text
from app.ui.person import person_of
from app.ui.protocol.list_view import problem_html
from app.ui.reports import texts
from app.ui.reports.served_questions import ServedQuestions
from app.ui.reports.shelf import ReportShelf
from app.ui.reports.views import overview_html, run_html
from custom_postprocessors.evidence import Frozen
from evaluation.coverage import TopicCoverage, topic_coverage
from pipelines.errors import BadInput, Forbidden, IndexFault, NotFound, PvAgentError

LIST, DETAIL = "pv-reports-list", "pv-reports-detail"
_log = logging.getLogger(__name__)


class ShowOverview(Frozen):
    """Everything that is not of one run."""

    do: Literal["overview"]


class ShowRun(Frozen):
    """One run."""

    do: Literal["run"]
    run: Annotated[str, Field(min_length=1, max_length=80)]


_COMMANDS: TypeAdapter[ShowOverview | ShowRun] = TypeAdapter(Annotated[ShowOverview | ShowRun, Field(discriminator="do")])


class ReportHandlers:
    """Reads reports for evaluators; one instance for all pages.

    Args:
        shelf: the reports.
        served: topics and questions of what is served.
        gaps: what readers reported, newest first.
    """

    def __init__(
        self,
        shelf: ReportShelf,
        served: ServedQuestions,
        gaps: Callable[[], Sequence[Gap]],
    ) -> None:
        self._shelf = shelf
        self._served = served
        self._gaps = gaps

    def command(self, raw: str, request: gr.Request) -> str:
        """What a click asks for, or why it is not there."""
        place = LIST
        try:
            require_role(person_of(request), "evaluator")
            command = _read(raw)
            place = LIST if isinstance(command, ShowOverview) else DETAIL
            return messages.message(messages.slot(place, self._html(command)))
        except (BadInput, NotFound) as exc:
            problem = str(exc)
        except (Forbidden, IndexFault) as exc:
            problem = error_text(exc)
        except PvAgentError as exc:
            _log.error("reports could not be read: %s", exc)
            problem = texts.ERROR
        return messages.message(messages.slot(place, problem_html(problem)))

    def _html(self, command: ShowOverview | ShowRun) -> str:
        if isinstance(command, ShowRun):
            return run_html(self._shelf.report(command.run))
        return overview_html(self._shelf.runs(), self._coverage(), self._gaps(), self._shelf.retrieval())

    def _coverage(self) -> tuple[TopicCoverage, ...] | None:
        try:
            return topic_coverage(self._served.questions(), self._served.topics())
        except IndexFault:
            return None


def _read(raw: str) -> ShowOverview | ShowRun:
    try:
        return _COMMANDS.validate_json(raw)
    except ValidationError as exc:
        raise BadInput("The page sent an unknown command.", hint="Reload the page.") from exc
