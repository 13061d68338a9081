"""`audit`: the log of answers, its chain, and what became of old answers."""

import json
from typing import Annotated

import typer

from app.assembly import Assembly
from app.console import EXIT_FAILED, print_json, reported_errors, say
from app.drift import QuoteCheck, check_quotes, compared, drifted, question_of
from app.evidence_sheet import sheet_json, sheet_markdown
from app.settings import Settings
from app.store.audit import AuditRecord
from pipelines.contracts import Outcome
from pipelines.errors import NotFound

app = typer.Typer(no_args_is_help=True, help="The log of answers: list, show, export, prune, verify, replay, drift.")

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
RequestArgument = Annotated[str, typer.Argument(help="Request id of an answer.", show_default=False)]


@app.command("list")
def list_answers(
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many of the newest.")] = 20, as_json: JsonOption = False
) -> None:
    """The newest answers and refusals, newest first."""
    with reported_errors(), Assembly(Settings.load()) as assembly:
        records = assembly.audit.list(limit=limit)
    if as_json:
        print_json([record.to_json() for record in records])
        return
    for record in records:
        question = record.outcome.question if record.outcome else "(content deleted)"
        typer.echo(f"{record.created_at:%Y-%m-%d %H:%M} {record.request_id} {record.metadata['status']}: {question}")


@app.command()
def show(request_id: RequestArgument, as_json: JsonOption = False) -> None:
    """One answer with everything that proves it (Beweisblatt)."""
    with reported_errors(), Assembly(Settings.load()) as assembly:
        record = assembly.audit.get(request_id)
        if as_json:
            print_json(sheet_json(record))
        else:
            typer.echo(sheet_markdown(record))


@app.command()
def export() -> None:
    """Every row as JSON lines, oldest first."""
    with reported_errors(), Assembly(Settings.load()) as assembly:
        for record in assembly.audit.export():
            typer.echo(json.dumps(record.to_json(), ensure_ascii=False))


@app.command()
def prune(
    days: Annotated[
        int | None, typer.Option(min=1, help="Delete content older than this; default: PV_AUDIT_RETENTION_DAYS (0: nothing).")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Delete questions, answers, quotes and comments that may not be kept any longer; the chain stays whole.

    A running service does this by itself, at its start and once a day.
    """
    with reported_errors(), Assembly(Settings.load()) as assembly:
        pruned = assembly.retention.prune(days)
    if as_json:
        print_json({"outcomes": pruned.outcomes, "texts": pruned.texts})
    else:
        typer.echo(f"Content of {pruned.outcomes} answers and {pruned.texts} texts was deleted.")


@app.command()
def verify(
    request_id: Annotated[str | None, typer.Argument(help="Also check each quote of this answer.", show_default=False)] = None,
    as_json: JsonOption = False,
) -> None:
    """Check the hash chain; with an id also each quote of that answer: unchanged, changed (old and new), gone."""
    with reported_errors(), Assembly(Settings.load()) as assembly:
        faults = assembly.audit.verify()
        quotes: tuple[QuoteCheck, ...] = ()
        if request_id is not None:
            outcome = _kept(assembly.audit.get(request_id))
            quotes = check_quotes(outcome, assembly.service.engine.index.sections_of)
        rows = assembly.audit.count()
    if as_json:
        print_json(
            {
                "ok": not faults,
                "rows": rows,
                "faults": [fault.model_dump(mode="json") for fault in faults],
                "quotes": [quote.model_dump(mode="json") for quote in quotes],
            }
        )
    else:
        typer.echo(f"{rows} rows, chain {'whole' if not faults else 'BROKEN'}")
        for fault in faults:
            typer.echo(f"  row {fault.sequence}: {fault.kind}: {fault.message}")
        for quote in quotes:
            typer.echo(f"  {quote.state}: {quote.entry_id} {quote.section}: {quote.old!r}")
            if quote.new is not None:
                typer.echo(f"      now: {quote.new!r}")
    if faults:
        raise typer.Exit(EXIT_FAILED)


@app.command()
def replay(request_id: RequestArgument, as_json: JsonOption = False) -> None:
    """Ask a recorded question again, for its month and with its model, and show what differs; nothing is logged."""
    with reported_errors():
        settings = Settings.load()
        with Assembly(settings) as log, Assembly(settings, audited=False) as assembly:
            before = _kept(log.audit.get(request_id))
            result = compared(before, assembly.service.ask(question_of(before)))
        if as_json:
            print_json(result.model_dump(mode="json"))
            return
        typer.echo("same answer" if result.same else "the answer differs")
        for name, (old, new) in (("status", result.status), ("index", result.index_version), ("model", result.model)):
            typer.echo(f"  {name}: {old}" if old == new else f"  {name}: {old} → {new}")
        for text in result.only_before:
            typer.echo(f"  - {text}")
        for text in result.only_now:
            typer.echo(f"  + {text}")


@app.command()
def drift(as_json: JsonOption = False) -> None:
    """Earlier answers that cite something which the served index no longer says, with old and new."""
    with reported_errors(), Assembly(Settings.load()) as assembly:
        found = list(drifted(assembly.audit.export(), assembly.service.engine.index.sections_of))
    if as_json:
        print_json([one.model_dump(mode="json") for one in found])
        return
    say(f"{len(found)} answers cite something that changed.")
    for one in found:
        typer.echo(f"{one.request_id} {one.question}")
        for quote in one.quotes:
            typer.echo(f"  {quote.state}: {quote.entry_id} {quote.section}: {quote.old!r} → {quote.new!r}")


def _kept(record: AuditRecord) -> Outcome:
    if record.outcome is None:
        raise NotFound(f"The content of {record.request_id!r} was deleted or never kept.", hint="Only its metadata remain.")
    return record.outcome
