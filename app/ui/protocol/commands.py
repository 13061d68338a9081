"""What the tab Protokoll may be asked for by the page's script; everything it sends is checked here."""

import contextlib
from datetime import UTC, datetime, time
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from app.store.answer_search import AnswerFilter, Rated
from app.ui.protocol import texts
from custom_postprocessors.evidence import Frozen
from pipelines.errors import BadInput

VIENNA = ZoneInfo("Europe/Vienna")
_Id = Annotated[str, Field(min_length=1, max_length=200)]
_Day = Annotated[str, Field(max_length=20)]
_DAY_FORMATS = ("%d.%m.%Y", "%Y-%m-%d")
_Statuses = Literal["", "answered", "partial", "clarification", "refused", "unavailable"]
_RATED: dict[str, Rated] = {"up": "up", "down": "down", "any": "any"}
_Number = Annotated[int, BeforeValidator(lambda value: int(value) if isinstance(value, str) and value.isdigit() else value)]


class Filters(Frozen):
    """The filter fields of the page, as they are filled in; days are those of Vienna and both inclusive."""

    since: _Day = ""
    until: _Day = ""
    status: _Statuses = ""
    entry: Annotated[str, Field(max_length=200)] = ""
    text: Annotated[str, Field(max_length=500)] = ""
    feedback: Literal["", "down", "up", "any", "commented"] = ""

    def wanted(self) -> AnswerFilter:
        """The filter they mean.

        Raises:
            BadInput: a day does not exist.
        """
        return AnswerFilter(
            since=_moment(self.since, time.min),
            until=_moment(self.until, time.max),
            statuses=(self.status,) if self.status else (),
            entry_id=self.entry.strip(),
            text=self.text.strip(),
            rated=_RATED.get(self.feedback),
            commented=self.feedback == "commented",
        )


class ListAnswers(Filters):
    """List the answers that fit; `before` continues below a row of the log."""

    do: Literal["list"]
    before: _Number | None = None


class FindDrift(Filters):
    """Among the answers that fit, those that cite something which changed."""

    do: Literal["drift"]


class CheckChain(Frozen):
    """Walk the hash chain."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    do: Literal["chain"]


class ShowAnswer(Frozen):
    """One answer with everything about it."""

    do: Literal["show"]
    request: _Id


class DownloadSheet(Frozen):
    """The Beweisblatt of an answer."""

    do: Literal["sheet"]
    request: _Id


Command = ListAnswers | FindDrift | CheckChain | ShowAnswer | DownloadSheet
_COMMANDS: TypeAdapter[Command] = TypeAdapter(Annotated[Command, Field(discriminator="do")])


def read_command(raw: str) -> Command:
    """The command in the script's JSON.

    Raises:
        BadInput: it is no known command.
    """
    try:
        return _COMMANDS.validate_json(raw)
    except ValidationError as exc:
        raise BadInput("The page sent an unknown command.", hint="Reload the page.") from exc


def _moment(day: str, at: time) -> datetime | None:
    if not day.strip():
        return None
    for form in _DAY_FORMATS:
        with contextlib.suppress(ValueError):
            return datetime.combine(datetime.strptime(day.strip(), form).date(), at, VIENNA).astimezone(UTC)
    raise BadInput(texts.BAD_DATE)
