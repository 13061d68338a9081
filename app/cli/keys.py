"""`keys`: the keys of programs that use the API."""

from typing import Annotated

import typer

from app.access.keys import KeyRole
from app.assembly import Assembly
from app.console import print_json, reported_errors, say
from app.settings import Settings
from app.store.keys import KeyStore

app = typer.Typer(help="Keys of programs: add, list, remove.", no_args_is_help=True)
NameArgument = Annotated[str, typer.Argument(help="Name of the key, e.g. the program that uses it.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]


@app.command()
def add(name: NameArgument, role: Annotated[KeyRole, typer.Option(help="What it may do.")]) -> None:
    """Make a key and print its secret, which is shown only now; a running service accepts it at once."""
    with reported_errors():
        with Assembly(Settings.load()) as assembly:
            secret = KeyStore(assembly.database).add(name, role)
        say(f"Key {name!r} ({role}). Its secret is not kept; store it now:")
        typer.echo(secret)


@app.command("list")
def list_keys(as_json: JsonOption = False) -> None:
    """List the keys, also withdrawn ones; secrets are never shown. Keys in the environment are not listed."""
    with reported_errors():
        with Assembly(Settings.load()) as assembly:
            found = KeyStore(assembly.database).list()
        if as_json:
            print_json([key.model_dump(mode="json") for key in found])
        for key in () if as_json else found:
            state = f"withdrawn {key.withdrawn_at:%Y-%m-%d}" if key.withdrawn_at else "valid"
            typer.echo(f"{key.name:<30} {key.role:<8} {key.created_at:%Y-%m-%d} {state}")


@app.command()
def remove(name: NameArgument) -> None:
    """Withdraw a key; a running service refuses it within a second."""
    with reported_errors(), Assembly(Settings.load()) as assembly:
        KeyStore(assembly.database).withdraw(name)
