"""`prompts`: the organisation's guidance for the system prompts, in versions."""

from pathlib import Path
from typing import Annotated, get_args

import typer

from app.assembly import Assembly
from app.cli.docs import AuthorOption, JsonOption, NoteOption
from app.console import print_json, reported_errors
from app.settings import Settings
from app.store.documents import Change
from app.store.guidance import Purpose
from pipelines.errors import BadInput

app = typer.Typer(
    help="Guidance for the system prompts: list, show, add, activate, history. The product's own rules cannot be edited.",
    no_args_is_help=True,
)
PurposeArgument = Annotated[str, typer.Argument(help="answer or review.")]


@app.command("list")
def list_prompts(purpose: PurposeArgument = "answer", as_json: JsonOption = False) -> None:
    """List the versions of the guidance, newest first; 0 is the product's own prompt."""
    with reported_errors(), Assembly(Settings.load()) as assembly:
        found = assembly.guidance.versions(_purpose(purpose))
    if as_json:
        print_json([version.model_dump(mode="json") for version in found])
    for version in () if as_json else found:
        when = f"{version.created_at:%Y-%m-%d %H:%M}" if version.created_at else "built in"
        typer.echo(f"{'*' if version.active else ' '}{version.number:4d} {when} {version.author} {version.note}".rstrip())


@app.command()
def show(
    purpose: PurposeArgument = "answer",
    number: Annotated[int | None, typer.Option(min=0, help="A version of the guidance alone.", show_default=False)] = None,
) -> None:
    """Print the system prompt that is used now, or the guidance of one version."""
    with reported_errors(), Assembly(Settings.load()) as assembly:
        wanted = _purpose(purpose)
        text = assembly.prompt_of(wanted).text if number is None else assembly.guidance.version(wanted, number).guidance
    typer.echo(text)


@app.command()
def add(
    file: Annotated[Path, typer.Argument(help="Text file, UTF-8.", show_default=False)],
    purpose: Annotated[str, typer.Option(help="answer or review.")] = "answer",
    author: AuthorOption = "command line",
    note: NoteOption = "",
    activate: Annotated[bool, typer.Option("--activate/--no-activate", help="Use it at once.")] = True,
) -> None:
    """Add a version of the guidance."""
    with reported_errors():
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as exc:
            raise BadInput(f"{str(file)!r} cannot be read as UTF-8 text: {exc}.") from exc
        with Assembly(Settings.load()) as assembly:
            version = assembly.guidance.add(_purpose(purpose), text, Change(author, note), activate=activate)
            typer.echo(f"{version.purpose} version {version.number}" + (" is used now" if version.active else ""))


@app.command()
def activate(
    number: Annotated[int, typer.Argument(min=0, help="Number of the version; 0: the product's own prompt.")],
    purpose: Annotated[str, typer.Option(help="answer or review.")] = "answer",
    author: AuthorOption = "command line",
    note: NoteOption = "",
) -> None:
    """Use a version (also an older one) from the next question on."""
    with reported_errors(), Assembly(Settings.load()) as assembly:
        assembly.guidance.activate(_purpose(purpose), number, Change(author, note))
        typer.echo(f"{purpose}: {assembly.prompt_of(_purpose(purpose)).version}")


@app.command()
def history(purpose: PurposeArgument = "answer", as_json: JsonOption = False) -> None:
    """When which version came into use, and by whom, newest first."""
    with reported_errors(), Assembly(Settings.load()) as assembly:
        found = assembly.guidance.history(_purpose(purpose))
    if as_json:
        print_json([step.model_dump(mode="json") for step in found])
    for step in () if as_json else found:
        typer.echo(f"{step.created_at:%Y-%m-%d %H:%M} version {step.number} {step.author} {step.note}".rstrip())


def _purpose(value: str) -> Purpose:
    for known in get_args(Purpose):
        if value == known:
            return known  # type: ignore[no-any-return]
    raise BadInput(f"Purpose {value!r} is unknown.", hint=f"Use {' or '.join(get_args(Purpose))}.")
