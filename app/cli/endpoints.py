"""`endpoints`: Ollama servers and the model asked there, in versions."""

from typing import Annotated

import typer

from app.assembly import Assembly
from app.cli.docs import AuthorOption, JsonOption, NoteOption
from app.console import EXIT_UNAVAILABLE, print_json, reported_errors
from app.endpoint_test import run_endpoint_test
from app.settings import Settings
from app.store.documents import Change
from app.store.endpoints import DEFAULT_ENDPOINT, Endpoint

app = typer.Typer(help="Ollama endpoints and the model asked there: list, add, activate, test.", no_args_is_help=True)
NameArgument = Annotated[str, typer.Argument(help="Name of the endpoint; `standard` is PV_OLLAMA_URL.", show_default=False)]
VersionOption = Annotated[int | None, typer.Option("--version", min=1, help="Default: the newest one.", show_default=False)]


@app.command("list")
def list_endpoints(as_json: JsonOption = False) -> None:
    """List every version of every endpoint; the one marked with * is asked now."""
    with reported_errors(), Assembly(Settings.load()) as assembly:
        found = (_default(assembly), *assembly.endpoints.list())
    if as_json:
        print_json([endpoint.model_dump(mode="json") for endpoint in found])
    for one in () if as_json else found:
        mark, model = "*" if one.active else " ", one.model or "PV_LLM_MODEL"
        typer.echo(f"{mark} {one.label:<24} {one.url}  model {model}  {one.author} {one.note}".rstrip())


@app.command()
def add(
    name: NameArgument,
    url: Annotated[str, typer.Argument(help="http(s)://host:port, without user or password.", show_default=False)],
    model: Annotated[str, typer.Option(help="Model to ask there; default: PV_LLM_MODEL decides.")] = "",
    author: AuthorOption = "command line",
    note: NoteOption = "",
    activate: Annotated[bool, typer.Option("--activate/--no-activate", help="Ask it from the next question on.")] = False,
) -> None:
    """Add an endpoint, or a new version of one. Questions and sections go to the active one, and nowhere else."""
    with reported_errors(), Assembly(Settings.load()) as assembly:
        added = assembly.endpoints.add(name, url, Change(author, note), model=model, activate=activate)
        typer.echo(f"{added.label} {added.url}" + (" is asked now" if added.active else ""))


@app.command()
def activate(
    name: NameArgument, version: VersionOption = None, author: AuthorOption = "command line", note: NoteOption = ""
) -> None:
    """Ask another endpoint from the next question on."""
    with reported_errors(), Assembly(Settings.load()) as assembly:
        assembly.endpoints.activate(name, Change(author, note), version)
        typer.echo(f"{assembly.endpoint.label} {assembly.endpoint.url} is asked now")


@app.command("test")
def try_out(name: NameArgument = DEFAULT_ENDPOINT, version: VersionOption = None, as_json: JsonOption = False) -> None:
    """Ask an endpoint for its version and models; ends with 3 when it does not answer or lacks its model."""
    with reported_errors():
        with Assembly(Settings.load()) as assembly:
            endpoint = _default(assembly) if name == DEFAULT_ENDPOINT else assembly.endpoints.get(name, version)
        result = run_endpoint_test(endpoint)
        if as_json:
            print_json(result.model_dump(mode="json"))
        else:
            typer.echo(result.message)
            for model in result.models:
                typer.echo(f"  {model}")
        if not result.ok:
            raise typer.Exit(EXIT_UNAVAILABLE)


def _default(assembly: Assembly) -> Endpoint:
    settings = assembly.settings
    return Endpoint(name=DEFAULT_ENDPOINT, number=0, url=settings.ollama_url, active=assembly.endpoints.active() is None)
