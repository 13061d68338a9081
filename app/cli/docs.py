"""`docs`: documents of the catalogue, and the registry of a folder."""

from pathlib import Path
from typing import Annotated

import typer

from app.assembly import Assembly
from app.cli.index_step import serve_changes
from app.console import EXIT_FAILED, configure_logging, print_json, reported_errors, say
from app.document_export import export_documents
from app.document_upload import upload
from app.settings import Settings
from app.store.documents import Catalogue, Change
from pipelines.errors import BadInput
from pipelines.knowledge_base import read_folder, write_registry

app = typer.Typer(help="Documents: list, show, add, remove, export, check, registry.", no_args_is_help=True)
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
EntryArgument = Annotated[str, typer.Argument(help="Id of the entry, e.g. pv-sv-05.")]
AuthorOption = Annotated[str, typer.Option(help="Who changes it.")]
NoteOption = Annotated[str, typer.Option(help="Why.")]


@app.command("list")
def list_documents(
    contains: Annotated[str, typer.Option(help="Only ids that contain this.")] = "", as_json: JsonOption = False
) -> None:
    """List the documents with their active version."""
    with reported_errors():
        with Assembly(Settings.load()) as assembly:
            found = [document for document in Catalogue(assembly.database).documents() if contains in document.entry_id]
        if as_json:
            rows = [{name: getattr(document, name) for name in document.__slots__} for document in found]
            print_json([{**row, "changed_at": row["changed_at"] and row["changed_at"].isoformat()} for row in rows])
        for document in () if as_json else found:
            active = "–" if document.active_version is None else str(document.active_version)
            typer.echo(f"{document.entry_id:<32} active {active:>3} of {document.versions}")


@app.command()
def show(entry_id: EntryArgument) -> None:
    """Print the active version of a document."""
    with reported_errors(), Assembly(Settings.load()) as assembly:
        typer.echo(Catalogue(assembly.database).content(entry_id), nl=False)


@app.command()
def add(
    file: Annotated[Path, typer.Argument(help="Markdown file named <id>.md.")],
    author: AuthorOption = "command line",
    note: NoteOption = "",
    activate: Annotated[bool, typer.Option("--activate/--no-activate", help="Serve it at once.")] = True,
) -> None:
    """Add a document, or a new version of one, and serve it."""
    with reported_errors():
        settings = Settings.load()
        configure_logging(settings.log_level)
        try:
            data = file.read_bytes()
        except OSError as exc:
            raise BadInput(f"{str(file)!r} cannot be read: {exc.strerror}.") from exc
        with Assembly(settings) as assembly:
            added = upload(Catalogue(assembly.database), file.name, data, Change(author, note), activate=activate)
            for fault in added.faults:
                say(f"{fault.severity}: line {fault.line}: {fault.fault}: {fault.message}")
            typer.echo(f"{added.entry_id} version {added.version}" + ("" if added.is_new else " (unchanged)"))
            if added.is_new and activate:
                serve_changes(assembly, f"{added.entry_id} version {added.version}")


@app.command()
def remove(entry_id: EntryArgument, author: AuthorOption = "command line", note: NoteOption = "") -> None:
    """Take a document out of what is served; its versions stay."""
    with reported_errors():
        settings = Settings.load()
        configure_logging(settings.log_level)
        with Assembly(settings) as assembly:
            Catalogue(assembly.database).remove(entry_id, Change(author, note))
            serve_changes(assembly, f"{entry_id} taken out")


@app.command()
def export(folder: Annotated[Path, typer.Argument(help="Folder that is new or empty.")]) -> None:
    """Write the active versions with kb.json and INDEX.md into a folder."""
    with reported_errors(), Assembly(Settings.load()) as assembly:
        count = export_documents(Catalogue(assembly.database), folder.expanduser().resolve())
        typer.echo(f"{count} documents written to {folder}")


@app.command()
def check(folder: Annotated[Path, typer.Argument(help="Folder with `dokumente/`.")], as_json: JsonOption = False) -> None:
    """Report every fault of a folder without taking anything over; ends with 1 when a file would be rejected."""
    with reported_errors():
        reading = read_folder(folder)
        if as_json:
            faults = [fault.to_json() for fault in reading.faults]
            print_json({"ok": reading.ok, "rejected": list(reading.rejected_ids), "faults": faults})
        else:
            for notice in reading.notices:
                say(notice)
            for fault in reading.faults:
                typer.echo(f"{fault.severity}: {fault.file}:{fault.line}: {fault.fault}: {fault.message}")
            typer.echo(f"{len(reading.entries)} accepted, {len(reading.rejected_ids)} rejected")
        if not reading.ok:
            raise typer.Exit(EXIT_FAILED)


@app.command()
def registry(folder: Annotated[Path, typer.Argument(help="Folder with `dokumente/`.")]) -> None:
    """Write kb.json and INDEX.md anew from the files of a folder."""
    with reported_errors():
        written = write_registry(folder)
        typer.echo(f"{written} {'entry' if written == 1 else 'entries'} registered in {folder}")
