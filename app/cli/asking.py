"""`ask` and `search`."""

import re
from typing import Annotated

import typer

from app.assembly import Assembly
from app.console import EXIT_UNAVAILABLE, print_json, reported_errors, say
from app.render import markdown
from app.settings import Settings
from pipelines.errors import BadInput
from pipelines.intake import read_question

_MONTH = re.compile(r"\d{4}-(0[1-9]|1[0-2])")

QuestionArgument = Annotated[str, typer.Argument(help="The question, in German.", show_default=False)]
AsOfOption = Annotated[
    str | None, typer.Option("--as-of", metavar="YYYY-MM", help="Month that the answer speaks for; default: this month.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]


def ask(
    question: QuestionArgument,
    model: Annotated[
        str | None, typer.Option(help="A model on Ollama, or `extractive` for the Zitatmodus; default: PV_LLM_MODEL.")
    ] = None,
    as_of: AsOfOption = None,
    as_json: JsonOption = False,
) -> None:
    """Answer one question from the knowledge base, with citations.

    Ends with 0 for an answer and for a refusal, 3 when the model is unavailable, 2 for bad input.
    """
    with reported_errors():
        asked = read_question(question, as_of=month(as_of), model=model)
        with Assembly(Settings.load()) as assembly:
            outcome = assembly.service.ask(asked)
        if as_json:
            print_json(outcome.model_dump(mode="json"))
        else:
            typer.echo(markdown(outcome))
        if outcome.status == "unavailable":
            raise typer.Exit(EXIT_UNAVAILABLE)


def search(
    question: QuestionArgument,
    k: Annotated[int, typer.Option("--k", min=1, max=200, help="How many sections to list.")] = 8,
    as_of: AsOfOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the sections that a question finds, with the score of every channel; nothing is generated."""
    with reported_errors():
        asked = read_question(question, as_of=month(as_of))
        with Assembly(Settings.load()) as assembly:
            found = assembly.service.find(asked, k)
        if as_json:
            print_json(found.model_dump(mode="json"))
            return
        for channel in found.degraded:
            say(f"Warning: the {channel} channel failed; see `python -m app doctor`.")
        for hit in found.results:
            scores = hit.scores
            shown = [
                f"{name} {value:.3f}"
                for name, value in (("bm25", scores.bm25), ("similarity", scores.similarity), ("ngram", scores.ngram))
                if value is not None
            ]
            typer.echo(f"{hit.rank:>3}. {hit.entry_id} · {hit.section} · {hit.title} (Stand {hit.stand})")
            typer.echo(f"     fused {scores.fused:.4f} · {' · '.join(shown)}")


def month(value: str | None) -> str | None:
    """The month as given.

    Raises:
        BadInput: it is not of the form YYYY-MM.
    """
    if value is not None and not _MONTH.fullmatch(value):
        raise BadInput(f"--as-of has value {value!r}.", hint="Give a month as YYYY-MM, e.g. 2026-01.")
    return value
