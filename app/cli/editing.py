"""`gaps`: questions that the knowledge base does not answer."""

from typing import Annotated, get_args

import typer

from app.assembly import Assembly
from app.console import print_json, reported_errors
from app.settings import Settings
from app.store.feedback import Feedback, GapStatus
from pipelines.errors import BadInput

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]

gaps_app = typer.Typer(no_args_is_help=True, help="Questions that readers reported as missing from the knowledge base.")


@gaps_app.command("list")
def list_gaps(as_json: JsonOption = False) -> None:
    """Every reported gap, newest first."""
    with reported_errors(), Assembly(Settings.load()) as assembly:
        gaps = Feedback(assembly.database).gaps()
    if as_json:
        print_json([gap.model_dump(mode="json") for gap in gaps])
        return
    for gap in gaps:
        typer.echo(f"{gap.id} {gap.status} {gap.created_at:%Y-%m-%d} {gap.owner or '–'}: {gap.question}")
        if gap.note:
            typer.echo(f"     {gap.note}")


@gaps_app.command("set")
def set_gap(
    gap_id: Annotated[int, typer.Argument(help="Number of the gap.", show_default=False)],
    status: Annotated[str | None, typer.Option(help="open, accepted, done or dismissed.")] = None,
    owner: Annotated[str | None, typer.Option(help="Who looks after it.")] = None,
    remark: Annotated[str | None, typer.Option(help="What editors note about it.")] = None,
) -> None:
    """Change status, owner or remark of a gap."""
    with reported_errors(), Assembly(Settings.load()) as assembly:
        gap = Feedback(assembly.database).set_gap(gap_id, status=_status(status), owner=owner, remark=remark)
    typer.echo(f"{gap.id} {gap.status} {gap.owner or '–'}")


def _status(value: str | None) -> GapStatus | None:
    for known in get_args(GapStatus):
        if value == known:
            return known  # type: ignore[no-any-return]
    if value is None:
        return None
    raise BadInput(f"--status has value {value!r}.", hint=f"Use one of {', '.join(get_args(GapStatus))}.")
