"""`users`: the accounts of people who use the interface."""

import sys
from typing import Annotated

import typer

from app.access.person import ROLES, Role
from app.assembly import Assembly
from app.console import print_json, reported_errors, say
from app.settings import Settings
from app.store.accounts import Accounts
from pipelines.errors import BadInput

app = typer.Typer(help="Accounts of people: add, list, password, role, remove.", no_args_is_help=True)
NameArgument = Annotated[str, typer.Argument(help="Name of the account; it is shown with ratings, comments and versions.")]
RoleOption = Annotated[
    list[str],
    typer.Option("--role", help=f"What it may do: {', '.join(ROLES)}; each includes those before it. May be repeated."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]


@app.command()
def add(name: NameArgument, role: RoleOption) -> None:
    """Make an account; the password is asked for, or read as one line from stdin. A running service asks for logins then."""
    with reported_errors():
        roles, password = _roles(role), _new_password()
        with Assembly(Settings.load()) as assembly:
            Accounts(assembly.database).add(name, password, roles)
        say(f"{name!r} may log in now.")


@app.command("list")
def list_users(as_json: JsonOption = False) -> None:
    """List the accounts, also removed ones."""
    with reported_errors():
        with Assembly(Settings.load()) as assembly:
            found = Accounts(assembly.database).list()
        if as_json:
            print_json([account.model_dump(mode="json") for account in found])
        for account in () if as_json else found:
            state = f"removed {account.removed_at:%Y-%m-%d}" if account.removed_at else "valid"
            typer.echo(f"{account.name:<30} {', '.join(account.roles):<28} {account.created_at:%Y-%m-%d} {state}")


@app.command()
def password(name: NameArgument) -> None:
    """Set a new password and end every session of the account."""
    with reported_errors():
        wanted = _new_password()
        with Assembly(Settings.load()) as assembly:
            Accounts(assembly.database).set_password(name, wanted)


@app.command("role")
def set_roles(name: NameArgument, role: RoleOption) -> None:
    """Replace the roles of an account; they count at once."""
    with reported_errors(), Assembly(Settings.load()) as assembly:
        Accounts(assembly.database).set_roles(name, _roles(role))


@app.command()
def remove(name: NameArgument) -> None:
    """Close an account for ever and end its sessions; its name stays with what it did."""
    with reported_errors(), Assembly(Settings.load()) as assembly:
        Accounts(assembly.database).remove(name)


def _roles(named: list[str]) -> tuple[Role, ...]:
    unknown = [name for name in named if name not in ROLES]
    if unknown:
        raise BadInput(f"--role has value {unknown[0]!r}.", hint=f"Use one of {', '.join(ROLES)}.")
    return tuple(role for role in ROLES if role in named)


def _new_password() -> str:
    """Asked for twice without echo on a terminal, else the first line of stdin; never an argument, which others could see.

    Raises:
        BadInput: stdin is empty.
    """
    if sys.stdin.isatty():
        asked: str = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
        return asked
    line = sys.stdin.readline().rstrip("\r\n")
    if not line:
        raise BadInput("No password was given on stdin.", hint="Pipe it in as one line, or run the command on a terminal.")
    return line
