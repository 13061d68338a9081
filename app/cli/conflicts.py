"""`conflicts`: the conflict register, and the verdicts of editors on it."""

from typing import Annotated

import typer

from app.assembly import Assembly
from app.console import print_json, reported_errors
from app.settings import Settings
from app.verdicts import VERDICTS_FILE, write_verdict
from custom_postprocessors.conflicts import Verdict, VerdictSide, judged
from custom_postprocessors.evidence import Conflict, ConflictStatus
from pipelines.errors import BadInput, NotFound

app = typer.Typer(
    invoke_without_command=True,
    help="Conflicts between entries: list them, add one, explain or dismiss one. A verdict takes effect with the next index.",
)
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
ConflictArgument = Annotated[
    str, typer.Argument(metavar="ID", help="Id of the conflict, e.g. cf-b1192966ce.", show_default=False)
]
NoteOption = Annotated[str, typer.Option("--note", help="Why; readers see it beside both sides.", show_default=False)]


@app.callback()
def list_conflicts(
    context: typer.Context,
    show_all: Annotated[bool, typer.Option("--all", help="Also the dismissed ones.")] = False,
    as_json: JsonOption = False,
) -> None:
    """The conflict register of the served index: open and explained conflicts, each side with quote and Stand."""
    if context.invoked_subcommand is not None:
        return
    with reported_errors(), Assembly(Settings.load()) as assembly:
        found = [one for one in assembly.service.engine.index.conflicts if show_all or one.status != "dismissed"]
        cares = assembly.conflict_cares.all()
    if as_json:
        print_json(
            [
                {**one.model_dump(mode="json"), "care": cares[one.id].model_dump(mode="json") if one.id in cares else None}
                for one in found
            ]
        )
        return
    for one in found:
        owner = f", {cares[one.id].owner}" if one.id in cares and cares[one.id].owner else ""
        typer.echo(f"{one.id} {one.status}{owner}: {one.quantity}{f' ({one.note})' if one.note else ''}")
        for side in one.sides:
            typer.echo(f"  ⚠ {side.value} (Stand {side.stand}) [{side.entry_id}] {side.section}: {side.quote!r}")


@app.command()
def explain(conflict_id: ConflictArgument, note: NoteOption) -> None:
    """Say why two entries disagree; answers go on showing both sides, with the note."""
    _judge(conflict_id, "explained", note)


@app.command()
def dismiss(conflict_id: ConflictArgument, note: NoteOption) -> None:
    """Say that it is no disagreement; answers no longer show it."""
    _judge(conflict_id, "dismissed", note)


@app.command()
def reopen(conflict_id: ConflictArgument, note: NoteOption = "") -> None:
    """Take an explanation or a dismissal back."""
    _judge(conflict_id, "open", note)


@app.command()
def add(
    quantity: Annotated[str, typer.Option("--quantity", help="What the sides disagree about.", show_default=False)],
    side: Annotated[
        list[str],
        typer.Option(
            "--side",
            metavar="ENTRY#HEADING=TEXT",
            help="Entry, H2 heading, and a part of the sentence or row that says it; at least twice.",
            show_default=False,
        ),
    ],
    note: NoteOption = "",
    explained: Annotated[bool, typer.Option("--explained/--open", help="Whether the note explains it.")] = False,
) -> None:
    """Add a conflict that was not detected."""
    with reported_errors():
        settings = Settings.load()
        verdict = Verdict(
            quantity=quantity, status="explained" if explained else "open", note=note, sides=tuple(_side(one) for one in side)
        )
        with Assembly(settings) as assembly:
            index = assembly.service.engine.index
            nodes = [node for one in verdict.sides for node in index.sections_of(one.entry)]
            conflict = _added(verdict, judged((), (verdict,), nodes))
            if any(one.id == conflict.id for one in index.conflicts):
                raise BadInput(f"The register has it already, as {conflict.id}.", hint="Use explain, dismiss or reopen.")
        write_verdict(settings.kb_dir, verdict)
    _written(conflict.id, verdict)


def _judge(conflict_id: str, status: ConflictStatus, note: str) -> None:
    with reported_errors():
        settings = Settings.load()
        with Assembly(settings) as assembly:
            conflicts = assembly.service.engine.index.conflicts
        conflict = next((one for one in conflicts if one.id == conflict_id), None)
        if conflict is None:
            raise NotFound(f"No conflict {conflict_id!r}.", hint="`python -m app conflicts --all` lists them.")
        verdict = Verdict(quantity=conflict.quantity, status=status, note=note, sides=_sides(conflict))
        write_verdict(settings.kb_dir, verdict)
    _written(conflict_id, verdict)


def _sides(conflict: Conflict) -> tuple[VerdictSide, ...]:
    return tuple(VerdictSide(entry=side.entry_id, section=side.section, value=side.value) for side in conflict.sides)


def _side(written: str) -> VerdictSide:
    place, equals, value = written.partition("=")
    entry, hash_, section = place.partition("#")
    if not (equals and hash_ and value.strip()):
        raise BadInput(
            f"--side has value {written!r}.", hint="Write ENTRY#HEADING=TEXT, e.g. 'pv-ef-01#Zusammenfassung=8 Wochen'."
        )
    return VerdictSide(entry=entry.strip(), section=section.strip(), value=value.strip())


def _added(verdict: Verdict, conflicts: tuple[Conflict, ...]) -> Conflict:
    if len({one.entry for one in verdict.sides}) < 2:
        raise BadInput("A conflict has sides of at least two entries.", hint="Give --side for each of them.")
    if not conflicts:
        names = ", ".join(f"{one.entry}#{one.section}" for one in verdict.sides)
        raise BadInput(
            f"Not every text stands in its section ({names}).", hint="Copy a part of one sentence or row as the entry has it."
        )
    return conflicts[0]


def _written(conflict_id: str, verdict: Verdict) -> None:
    typer.echo(f"{conflict_id} {verdict.status}: {verdict.quantity}")
    typer.echo(f"Written to {VERDICTS_FILE}. It takes effect with the next index: python -m app ingest")
