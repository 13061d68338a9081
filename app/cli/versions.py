"""`versions`: the versions of a document, their differences, and which one is served."""

from typing import Annotated

import typer

from app.assembly import Assembly
from app.cli.docs import AuthorOption, EntryArgument, JsonOption, NoteOption
from app.cli.index_step import serve_changes
from app.console import configure_logging, print_json, reported_errors
from app.document_changes import LineChange, changed_lines
from app.settings import Settings
from app.store.documents import Catalogue, Change

app = typer.Typer(help="Document versions: list, show, diff, activate.", no_args_is_help=True)
_SIGNS = {"same": " ", "removed": "-", "added": "+"}
NumberArgument = Annotated[int, typer.Argument(min=1, help="Number of the version.")]


@app.command("list")
def list_versions(entry_id: EntryArgument, as_json: JsonOption = False) -> None:
    """List the versions of a document, newest first."""
    with reported_errors():
        with Assembly(Settings.load()) as assembly:
            found = Catalogue(assembly.database).versions(entry_id)
        if as_json:
            rows = [{name: getattr(version, name) for name in version.__slots__} for version in found]
            print_json([{**row, "created_at": row["created_at"].isoformat()} for row in rows])
        for version in () if as_json else found:
            mark, when = "*" if version.active else " ", f"{version.created_at:%Y-%m-%d %H:%M}"
            typer.echo(f"{mark}{version.number:4d} {when} {version.origin:<6} {version.author} {version.note}".rstrip())


@app.command()
def show(entry_id: EntryArgument, number: NumberArgument) -> None:
    """Print one version of a document."""
    with reported_errors(), Assembly(Settings.load()) as assembly:
        typer.echo(Catalogue(assembly.database).content(entry_id, number), nl=False)


@app.command()
def diff(entry_id: EntryArgument, old: NumberArgument, new: NumberArgument, as_json: JsonOption = False) -> None:
    """Show what differs between two versions; changed values stand between «guillemets»."""
    with reported_errors():
        with Assembly(Settings.load()) as assembly:
            catalogue = Catalogue(assembly.database)
            changes = changed_lines(catalogue.content(entry_id, old), catalogue.content(entry_id, new))
        if as_json:
            print_json([{name: getattr(change, name) for name in change.__slots__} for change in changes])
        for change in () if as_json else changes:
            typer.echo(f"{_SIGNS[change.kind]}{change.number:5d} {_marked(change)}")


@app.command()
def activate(
    entry_id: EntryArgument, number: NumberArgument, author: AuthorOption = "command line", note: NoteOption = ""
) -> None:
    """Serve a version (also an older one), and build the index of it."""
    with reported_errors():
        settings = Settings.load()
        configure_logging(settings.log_level)
        with Assembly(settings) as assembly:
            Catalogue(assembly.database).activate(entry_id, number, Change(author, note))
            serve_changes(assembly, f"{entry_id} version {number}")


def _marked(change: LineChange) -> str:
    text = change.text
    for start, end in reversed(change.values):
        text = f"{text[:start]}«{text[start:end]}»{text[end:]}"
    return text
