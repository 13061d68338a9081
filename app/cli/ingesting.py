"""`ingest`: takes a folder over and serves it."""

from pathlib import Path
from typing import Annotated

import typer

from app.assembly import Assembly
from app.console import EXIT_FAILED, configure_logging, print_json, reported_errors, say
from app.folder_plan import Decision
from app.ingest import IngestReport
from app.job_work import ingest_arguments
from app.settings import Settings
from pipelines.errors import BadInput, IndexBusy, IndexMismatch, KnowledgeBaseError, PvAgentError
from pipelines.jobs import JobArguments

_SHOWN_IDS = 12


def ingest(
    kb: Annotated[Path | None, typer.Option("--kb", help="Folder with `dokumente/`; default: PV_KB_DIR.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Rebuild everything, also after a change of embedding model.")] = False,
    take_folder: Annotated[
        bool, typer.Option("--take-folder", help="Where folder and catalogue diverged, the folder wins.")
    ] = False,
    keep_catalogue: Annotated[
        bool, typer.Option("--keep-catalogue", help="Where folder and catalogue diverged, the catalogue wins.")
    ] = False,
    allow_removals: Annotated[
        bool, typer.Option("--allow-removals", help="Let more than 20 % of the documents be removed.")
    ] = False,
    evaluate: Annotated[
        bool, typer.Option("--evaluate", help="Then compare the new index version with the one before, as a job of its own.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")] = False,
) -> None:
    """Take changed files over as new document versions and build the index; ends with 1 when something was rejected."""
    with reported_errors():
        settings = Settings.load()
        configure_logging(settings.log_level)
        folder = (kb or settings.kb_dir).expanduser().resolve()
        decision = _decision(take_folder=take_folder, keep_catalogue=keep_catalogue)
        arguments = ingest_arguments(folder, full=full, decision=decision, allow_removals=allow_removals, evaluate=evaluate)
        try:
            report = _run(settings, arguments)
        except PvAgentError as exc:
            if as_json:
                print_json(_refused(exc).model_dump(mode="json"))
            raise
        if as_json:
            print_json(report.model_dump(mode="json"))
        else:
            _tell(report)
        if not report.ok:
            raise typer.Exit(EXIT_FAILED)


def _run(settings: Settings, arguments: JobArguments) -> IngestReport:
    with Assembly(settings) as assembly:
        return IngestReport.model_validate(assembly.run_now("ingest", requested_by="command line", arguments=arguments).result)


def _decision(*, take_folder: bool, keep_catalogue: bool) -> Decision:
    if take_folder and keep_catalogue:
        raise BadInput("--take-folder and --keep-catalogue exclude each other.", hint="Give one of them.")
    return "take_folder" if take_folder else "keep_catalogue" if keep_catalogue else "report"


def _refused(exc: PvAgentError) -> IngestReport:
    codes: dict[type[PvAgentError], str] = {
        KnowledgeBaseError: "folder_refused",
        IndexMismatch: "index_mismatch",
        IndexBusy: "index_busy",
    }
    code = next((name for kind, name in codes.items() if isinstance(exc, kind)), "failed")
    empty = dict.fromkeys(("field", "value"))
    return IngestReport(
        ok=False, faults=({"file": "", "line": 0, "fault": code, "severity": "error", **empty, "message": str(exc)},)
    )


def _tell(report: IngestReport) -> None:
    for fault in report.faults:
        say(f"{fault['severity']}: {fault['file']}:{fault['line']}: {fault['fault']}: {fault['message']}")
    for name in ("added", "changed", "removed", "unchanged", "rejected", "diverged", "kept"):
        ids = getattr(report, name)
        named = (
            "" if name == "unchanged" or not ids else f": {', '.join(ids[:_SHOWN_IDS])}{' …' if len(ids) > _SHOWN_IDS else ''}"
        )
        typer.echo(f"{name:>10} {len(ids):5d}{named}")
    for notice in report.notices:
        say(notice)
    if report.left_out:
        say(f"Not in the index, because the active version is not valid: {', '.join(report.left_out)}.")
    if report.diverged:
        say("Diverged documents were left as they are; decide with --take-folder or --keep-catalogue.")
    typer.echo(f"     index {report.index_version or 'none'} (job {report.job_id})")
