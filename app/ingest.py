"""Taking over a folder into the catalogue: compare, write new versions, report; the index job follows (see `app.indexing`)."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.folder_plan import ABSENT, Decision, FolderPlan, KnownDocument, plan_folder, require_few_removals
from app.folder_scan import FolderScan, folder_hash
from app.store.database import Database
from app.store.documents import Change, DocumentRow, active_hashes, add_version, deactivate, state_hash
from app.store.folder_runs import FolderRunRow, last_run
from custom_postprocessors.evidence import Frozen
from pipelines.errors import StoreError

JsonFault = dict[str, str | int | list[str] | None]


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """What the caller decided about a take-over."""

    decision: Decision = "report"
    allow_removals: bool = False
    author: str = "ingest"
    note: str = ""
    at: datetime | None = None


class IngestReport(Frozen):
    """What became of a folder; lists of entry ids in ascending order. `kept` are those the catalogue was preferred for.

    `notices` are German remarks on the folder as a whole; `left_out` are active entries that the index built by this run does
    not have, because their version is no longer valid.
    """

    ok: bool
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    diverged: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    faults: tuple[JsonFault, ...] = ()
    notices: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    index_version: str | None = None
    job_id: int | None = None

    @property
    def changes(self) -> int:
        """How many documents were added, changed or removed."""
        return len(self.added) + len(self.changed) + len(self.removed)

    def settled(self) -> "IngestReport":
        """What the same folder reports the next time, when nothing has changed since."""
        unchanged = tuple(sorted({*self.added, *self.changed, *self.unchanged}))
        return self.model_copy(update={"added": (), "changed": (), "removed": (), "unchanged": unchanged})


def take_over(folder: Path, database: Database, options: IngestOptions) -> IngestReport:
    """Brings the catalogue to what the folder says, in one transaction; a folder known to be unchanged is not read again.

    Raises:
        KnowledgeBaseError: there is no folder of entries, `kb.json` does not fit it, or more than 20 % would be removed and
            `allow_removals` is not set; nothing was changed.
        StoreError: the catalogue cannot be read or written; nothing was changed.
    """
    before = folder_hash(folder)
    remembered = _remembered(folder, before, database) if options.decision == "report" else None
    if remembered is not None:
        return remembered
    with database.read() as session:
        elsewhere = [entry_id for entry_id, known in _known(session).items() if _stays_without_file(known)]
    try:
        with closing(FolderScan.read(folder, elsewhere, database.path.parent)) as scan, database.write() as session:
            return _write(session, scan, folder, before, options)
    except OSError as exc:
        raise StoreError(
            f"The texts of {str(folder)!r} could not be set aside in {str(database.path.parent)!r}: {exc.strerror}.",
            hint="Check the free space and the permissions of PV_DATA_DIR.",
        ) from exc


def _write(session: Session, scan: FolderScan, folder: Path, hashed: str, options: IngestOptions) -> IngestReport:
    known = _known(session)
    plan = plan_folder(scan.hashes, scan.protected, known, options.decision)
    if not options.allow_removals:
        require_few_removals(plan, known)
    _apply(session, plan, scan, Change(options.author, options.note, options.at))
    report = _report(plan, scan)
    _remember(session, folder, hashed, report)
    return report


def is_folder_changed(folder: Path, database: Database) -> bool:
    """Whether the folder is another than at its last take-over, or was read by another version of the program then.

    What was changed in the catalogue meanwhile does not count.

    Raises:
        KnowledgeBaseError: there is no folder of entries.
    """
    now = folder_hash(folder)
    with database.read() as session:
        run = last_run(session, str(folder))
    return run is None or run.folder_hash != now


def _report(plan: FolderPlan, scan: FolderScan) -> IngestReport:
    return IngestReport(
        ok=not scan.rejected,
        added=plan.of("added"),
        changed=plan.of("changed"),
        removed=plan.of("removed"),
        unchanged=plan.of("unchanged"),
        rejected=tuple(sorted(scan.rejected)),
        diverged=plan.of("diverged"),
        kept=plan.of("kept"),
        faults=tuple(fault.to_json() for fault in scan.faults),
        notices=scan.notices,
    )


def _apply(session: Session, plan: FolderPlan, scan: FolderScan, change: Change) -> None:
    for entry_id in plan.of("added", "changed"):
        add_version(session, entry_id, scan.text(entry_id), change, origin="folder")
    for entry_id in plan.of("removed"):
        deactivate(session, entry_id, change)
    for entry_id in plan.of("added", "changed", "unchanged", "removed"):
        row = session.get_one(DocumentRow, entry_id)
        row.folder_hash, row.kept_hash = scan.hashes.get(entry_id), None
    for entry_id in plan.of("kept"):
        session.get_one(DocumentRow, entry_id).kept_hash = scan.hashes.get(entry_id, ABSENT)


def _known(session: Session) -> Mapping[str, KnownDocument]:
    active = active_hashes(session)
    rows = session.execute(select(DocumentRow.entry_id, DocumentRow.folder_hash, DocumentRow.kept_hash))
    return {entry_id: KnownDocument(active.get(entry_id), folder, kept) for entry_id, folder, kept in rows}


def _stays_without_file(known: KnownDocument) -> bool:
    """Whether the document is still served when the folder has no file for it, so that references to it are right."""
    return known.active_hash is not None and known.active_hash != known.folder_hash


def _remembered(folder: Path, now: str, database: Database) -> IngestReport | None:
    with database.read() as session:
        run = last_run(session, str(folder))
        if run is None or run.folder_hash != now or run.state_hash != state_hash(active_hashes(session)):
            return None
    return IngestReport.model_validate_json(run.report)


def _remember(session: Session, folder: Path, hashed: str, report: IngestReport) -> None:
    session.flush()
    session.execute(delete(FolderRunRow))
    session.add(
        FolderRunRow(
            folder=str(folder),
            folder_hash=hashed,
            state_hash=state_hash(active_hashes(session)),
            report=report.settled().model_dump_json(),
        )
    )
