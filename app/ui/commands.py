"""What the page's script may ask of the server; everything it sends is checked here."""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from custom_postprocessors.evidence import Frozen
from pipelines.errors import BadInput

_Id = Annotated[str, Field(min_length=1, max_length=200)]
_Question = Annotated[str, Field(min_length=1, max_length=10_000)]


class OpenEntry(Frozen):
    """Show an entry; `spans` are `start-end` pairs, joined by commas."""

    do: Literal["open"]
    entry: _Id
    section: Annotated[str, Field(max_length=500)] | None = None
    spans: Annotated[str, Field(pattern=r"^(\d{1,7}-\d{1,7}(,\d{1,7}-\d{1,7}){0,63})?$")] = ""

    def ranges(self) -> tuple[tuple[int, int], ...]:
        """The spans as numbers, in the order given."""
        pairs = (pair.split("-") for pair in self.spans.split(",") if pair)
        return tuple((int(start), int(end)) for start, end in pairs)


class Rate(Frozen):
    """Keep a thumb for an answer."""

    do: Literal["rate"]
    request: _Id
    thumb: Literal["up", "down"]


class Comment(Frozen):
    """Add a comment to an answer."""

    do: Literal["comment"]
    request: _Id
    text: Annotated[str, Field(max_length=4000)]


class ReportGap(Frozen):
    """Put the question on the editors' list."""

    do: Literal["gap"]
    request: _Id


class Evidence(Frozen):
    """Hand out the Beweisblatt of an answer."""

    do: Literal["evidence"]
    request: _Id


class AskAgain(Frozen):
    """Ask this question with this model, whatever the controls say."""

    do: Literal["again"]
    question: _Question
    model: Literal["extractive"]


Command = Annotated[OpenEntry | Rate | Comment | ReportGap | Evidence | AskAgain, Field(discriminator="do")]
_COMMANDS: TypeAdapter[OpenEntry | Rate | Comment | ReportGap | Evidence | AskAgain] = TypeAdapter(Command)


def read_command(raw: str) -> OpenEntry | Rate | Comment | ReportGap | Evidence | AskAgain:
    """The command in the script's JSON.

    Raises:
        BadInput: it is no known command.
    """
    try:
        return _COMMANDS.validate_json(raw)
    except ValidationError as exc:
        raise BadInput("The page sent an unknown command.", hint="Reload the page.") from exc
