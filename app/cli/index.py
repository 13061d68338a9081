"""`index`: the versions on disk, going back to the one before, rebuilding."""

from typing import Annotated

import typer

from app.assembly import Assembly
from app.console import configure_logging, print_json, reported_errors
from app.settings import Settings
from pipelines.index import IndexLayout, go_back
from pipelines.index_meta import read_meta_file

app = typer.Typer(help="Index versions: show, rebuild, go back to the one before.", no_args_is_help=True)
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]


@app.command()
def show(as_json: JsonOption = False) -> None:
    """Show the served version and the one before it."""
    with reported_errors():
        layout = IndexLayout(Settings.load().data_dir)
        names = {"current": layout.require_current(), "previous": layout.previous()}
        metas = {role: name and read_meta_file(layout.directory(name)) for role, name in names.items()}
        if as_json:
            print_json({role: meta.model_dump(mode="json") if meta else None for role, meta in metas.items()})
            return
        for role, meta in metas.items():
            if meta:
                typer.echo(
                    f"{role:>8} {meta.index_version}  {meta.created_at:%Y-%m-%d %H:%M} UTC  {meta.entries} entries, "
                    f"{meta.nodes} sections, {meta.facts} facts, {meta.conflicts} conflicts, {meta.embedding_model}"
                )


@app.command()
def rollback(as_json: JsonOption = False) -> None:
    """Serve the version before the current one; the documents stay as they are, and the next `ingest` serves them again."""
    with reported_errors():
        meta = go_back(Settings.load().data_dir)
        if as_json:
            print_json({"index_version": meta.index_version})
        else:
            typer.echo(f"Served: {meta.index_version}")


@app.command()
def rebuild(
    full: Annotated[bool, typer.Option("--full", help="Rebuild in any case, also after a change of embedding model.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Build the index of the active document versions where it is not the served one."""
    with reported_errors():
        settings = Settings.load()
        configure_logging(settings.log_level)
        with Assembly(settings) as assembly:
            done = assembly.run_now("rebuild", requested_by="command line", arguments={"full": full})
        if as_json:
            print_json(done.model_dump(mode="json"))
        else:
            typer.echo(f"Served: {(done.result or {}).get('index_version') or 'nothing'} (job {done.id})")
