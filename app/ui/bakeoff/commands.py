"""What the tab's forms and buttons may ask; everything they send is checked here."""

from typing import Annotated, Literal, TypeVar

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from custom_postprocessors.evidence import Frozen
from pipelines.errors import BadInput

_Name = Annotated[str, Field(min_length=1, max_length=200)]
_Run = Annotated[str, Field(min_length=1, max_length=80)]
MOST_BOXES = 64
_Command = TypeVar("_Command")


class _Ticked(Frozen):
    """A form with boxes to tick: the field `model-0` has the name of the model as its value, `goldset-sv` that of a goldset."""

    models: tuple[_Name, ...] = ()
    goldsets: tuple[_Name, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, data: object) -> object:
        if not isinstance(data, dict) or len(data) > MOST_BOXES:
            return data
        rest = {name: value for name, value in data.items() if not name.startswith(("model-", "goldset-"))}
        models = tuple(value for name, value in data.items() if name.startswith("model-"))
        goldsets = tuple(value for name, value in data.items() if name.startswith("goldset-"))
        return {**rest, **({"models": models} if models else {}), **({"goldsets": goldsets} if goldsets else {})}


class Ask(_Ticked):
    """Ask the chosen models one question."""

    do: Literal["ask"]
    question: Annotated[str, Field(max_length=10_000)]
    blind: Literal["on", ""] = ""


class Open(Frozen):
    """Show the tab as it is now."""

    do: Literal["open"]


class Vote(Frozen):
    """The voter's choices: a label, `tie` or `none`; a criterion without a choice is not there."""

    do: Literal["vote"]
    correctness: str = ""
    citations: str = ""
    completeness: str = ""


class Reveal(Frozen):
    """Show the names without a vote."""

    do: Literal["reveal"]


class Stop(Frozen):
    """Stop what is being written."""

    do: Literal["stop"]


class Again(Frozen):
    """Put the round away."""

    do: Literal["again"]


class ShowRuns(Frozen):
    """List ranking and runs: as somebody wishes, or, with `poll`, as the page asks by itself while a run is under way."""

    do: Literal["runs", "poll"]


class StartRun(_Ticked):
    """Run the chosen models over the chosen goldsets."""

    do: Literal["start"]


class RunCommand(Frozen):
    """Something about one run."""

    do: Literal["show", "cancel", "resume", "csv"]
    run: _Run


class VotesCsv(Frozen):
    """Hand out the votes."""

    do: Literal["votes"]


class CompareRuns(Frozen):
    """Two runs side by side."""

    do: Literal["compare"]
    before: _Run
    after: _Run


RoundCommand = Open | Vote | Reveal | Stop | Again
ListCommand = ShowRuns | StartRun | RunCommand | VotesCsv | CompareRuns
_ASK: TypeAdapter[Ask] = TypeAdapter(Ask)
_ROUND: TypeAdapter[RoundCommand] = TypeAdapter(Annotated[RoundCommand, Field(discriminator="do")])
_LIST: TypeAdapter[ListCommand] = TypeAdapter(Annotated[ListCommand, Field(discriminator="do")])


def read_ask(raw: str) -> Ask:
    """The question in the form's JSON.

    Raises:
        BadInput: it is none.
    """
    return _read(_ASK, raw)


def read_round(raw: str) -> RoundCommand:
    """A command about the round.

    Raises:
        BadInput: it is none.
    """
    return _read(_ROUND, raw)


def read_list(raw: str) -> ListCommand:
    """A command about ranking and runs.

    Raises:
        BadInput: it is none.
    """
    return _read(_LIST, raw)


def _read(adapter: TypeAdapter[_Command], raw: str) -> _Command:
    try:
        return adapter.validate_json(raw)
    except ValidationError as exc:
        raise BadInput("The page sent an unknown command.", hint="Reload the page.") from exc
