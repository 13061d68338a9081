"""`conflicts care`: who looks after a conflict of the register, and how far that is."""

from typing import Annotated, get_args

import typer

from app.assembly import Assembly
from app.console import reported_errors
from app.settings import Settings
from app.store.conflicts import CareStatus
from pipelines.errors import BadInput, NotFound


def care(
    conflict_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the conflict.", show_default=False)],
    owner: Annotated[str | None, typer.Option(help="Who looks after it.", show_default=False)] = None,
    status: Annotated[str | None, typer.Option(help="open, in_progress or done.", show_default=False)] = None,
    note: Annotated[str | None, typer.Option(help="What editors note about it.", show_default=False)] = None,
    author: Annotated[str, typer.Option(help="Who changes it.")] = "command line",
) -> None:
    """Change owner, status or note of a conflict; what answers show is decided by explain and dismiss."""
    with reported_errors(), Assembly(Settings.load()) as assembly:
        conflict = next((one for one in assembly.service.engine.index.conflicts if one.id == conflict_id), None)
        if conflict is None:
            raise NotFound(f"No conflict {conflict_id!r}.", hint="`python -m app conflicts --all` lists them.")
        kept = assembly.conflict_cares.set(
            conflict_id, conflict.quantity, by=author, owner=owner, status=_status(status), note=note
        )
    typer.echo(f"{kept.conflict_id} {kept.status} {kept.owner or '–'}: {kept.quantity}")


def _status(value: str | None) -> CareStatus | None:
    for known in get_args(CareStatus):
        if value == known:
            return known  # type: ignore[no-any-return]
    if value is None:
        return None
    raise BadInput(f"--status has value {value!r}.", hint=f"Use one of {', '.join(get_args(CareStatus))}.")
