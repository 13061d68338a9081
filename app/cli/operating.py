"""`doctor` and `serve`."""

from typing import Annotated

import typer

from app.assembly import Assembly
from app.console import EXIT_FAILED, configure_logging, print_json, reported_errors
from app.doctor import diagnose
from app.settings import Settings
from app.ui.environment import keep_gradio_local

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]


def doctor(as_json: JsonOption = False) -> None:
    """Check settings, knowledge base, data folder, index, Ollama and models; ends with 1 when something is broken."""
    with reported_errors():
        with Assembly(Settings.load()) as assembly:
            diagnosis = diagnose(assembly)
        if as_json:
            print_json(diagnosis.model_dump(mode="json"))
        else:
            for check in diagnosis.checks:
                typer.echo(f"{'ok  ' if check.ok else 'FAIL'} {check.name}: {check.message}")
                if check.hint:
                    typer.echo(f"     → {check.hint}")
        if not diagnosis.ok:
            raise typer.Exit(EXIT_FAILED)


def serve(
    host: Annotated[str | None, typer.Option(help="Address to bind; default: PV_HOST (127.0.0.1).")] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Port to bind; default: PV_PORT (7860).")] = None,
) -> None:
    """Serve the user interface and the HTTP API in one process; builds the first index when there is none."""
    with reported_errors():
        settings = Settings.load()
        changes = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
        settings = settings.model_copy(update=changes)
        configure_logging(settings.log_level, json_lines=settings.json_logs)
        keep_gradio_local()
        # Gradio takes seconds to import, and no other command needs it.
        from app.server import run_server

        run_server(settings)
