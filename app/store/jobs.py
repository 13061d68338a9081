"""Jobs in `pv.db`: requested, claimed by a process, finished; dead ones are found and marked, so nothing blocks."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import JSON, func, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.store.database import Base, Database, UtcTime
from pipelines.errors import IndexBusy, NotFound
from pipelines.jobs import INDEX_KINDS, Job, JobArguments, JobKind, JobProgress, JobState
from pipelines.process_identity import is_running

QUEUED_LIMIT = timedelta(minutes=5)


class JobRow(Base):
    """One job."""

    __tablename__ = "jobs"

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str]
    state: Mapped[str] = mapped_column(index=True)
    requested_by: Mapped[str]
    reason: Mapped[str]
    arguments: Mapped[dict[str, Any]] = mapped_column(JSON)
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    started_at: Mapped[datetime | None] = mapped_column(UtcTime)
    finished_at: Mapped[datetime | None] = mapped_column(UtcTime)
    process: Mapped[str | None]
    stage: Mapped[str] = mapped_column(default="")
    done: Mapped[int] = mapped_column(default=0)
    total: Mapped[int] = mapped_column(default=0)
    result: Mapped[dict[str, object] | None] = mapped_column(JSON(none_as_null=True))
    error: Mapped[str | None]


class Jobs:
    """The job table. Every method first marks jobs whose process is gone, so what it tells is true."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def request(self, kind: JobKind, *, requested_by: str, reason: str = "", arguments: JobArguments | None = None) -> Job:
        """Queues a job, or joins the one that waits already; returns the job that will run.

        Requests of one kind with equal arguments are one job. A rebuild joins an ingest that waits, because that builds the
        index as well, and an ingest takes the place of a rebuild that waits. Ingests of different folders or with different
        decisions stay apart: neither does the work of the other. A job that was joined is `full`, or followed by an
        evaluation, when one of the requests asked for it, and names everybody who asked and why.
        """
        wanted = dict(arguments or {})
        with self.database.write() as session:
            _bury(session)
            for row in _in_state(session, "QUEUED"):
                if _joins(row, kind, wanted):
                    _join(row, kind, wanted)
                    row.requested_by, row.reason = _both(row.requested_by, requested_by), _both(row.reason, reason)
                    return _job(row)
            return _job(_add(session, kind, requested_by, reason, wanted))

    def claim(
        self, kind: JobKind, process: str, *, requested_by: str, reason: str = "", arguments: JobArguments | None = None
    ) -> Job:
        """Makes a job that this process runs at once.

        Raises:
            IndexBusy: a job that excludes it runs; nothing was queued.
        """
        with self.database.write() as session:
            _bury(session)
            running = next((row for row in _in_state(session, "RUNNING") if _excludes(row.kind, kind)), None)
            if running is not None:
                raise IndexBusy(
                    f"Job {running.id} ({running.kind}) is running since {running.started_at:%Y-%m-%d %H:%M:%S} UTC.",
                    hint=f"Wait for it: `python -m app jobs show {running.id}`.",
                )
            row = _add(session, kind, requested_by, reason, dict(arguments or {}))
            row.state, row.process, row.started_at = "RUNNING", process, datetime.now(UTC)
            return _job(row)

    def start(self, job_id: int, process: str) -> Job | None:
        """Claims a QUEUED job for a process.

        Returns None, and changes nothing, when the job is not QUEUED or another job that excludes it runs: at most one
        job that writes the index, and at most one of every other kind.

        Raises:
            NotFound: there is no such job.
        """
        with self.database.write() as session:
            _bury(session)
            row = _require(session, job_id)
            if row.state != "QUEUED" or any(_excludes(running.kind, row.kind) for running in _in_state(session, "RUNNING")):
                return None
            row.state, row.process, row.started_at = "RUNNING", process, datetime.now(UTC)
            return _job(row)

    def report(self, job_id: int, progress: JobProgress) -> None:
        """Notes how far a RUNNING job is; does nothing when it was ended meanwhile."""
        with self.database.write() as session:
            row = _require(session, job_id)
            if row.state == "RUNNING":
                row.stage, row.done, row.total = progress.stage, progress.done, progress.total

    def finish(self, job_id: int, *, result: dict[str, object] | None = None, error: str | None = None) -> Job:
        """COMPLETED, or FAILED when there is an `error`; a job that has ended stays as it is.

        Raises:
            NotFound: there is no such job.
        """
        with self.database.write() as session:
            row = _require(session, job_id)
            if row.state in ("QUEUED", "RUNNING"):
                _end(row, "FAILED" if error else "COMPLETED", error)
                row.result = result
            return _job(row)

    def withdraw(self, job_id: int, *, result: dict[str, object]) -> bool:
        """Ends a QUEUED job with a result before any process takes it; false, and nothing changes, when one has it or it ended.

        Raises:
            NotFound: there is no such job.
        """
        with self.database.write() as session:
            row = _require(session, job_id)
            if row.state != "QUEUED":
                return False
            _end(row, "COMPLETED", None)
            row.result = result
            return True

    def next_queued(self) -> Job | None:
        """The oldest QUEUED job that nothing running excludes; None when there is none."""
        with self.database.write() as session:
            _bury(session)
            running = [row.kind for row in _in_state(session, "RUNNING")]
            free = (row for row in _in_state(session, "QUEUED") if not any(_excludes(kind, row.kind) for kind in running))
            return next(map(_job, free), None)

    def get(self, job_id: int) -> Job:
        """One job.

        Raises:
            NotFound: there is no such job.
        """
        self._settle()
        with self.database.read() as session:
            return _job(_require(session, job_id))

    def list(self, *, limit: int = 50, kind: JobKind | None = None, state: JobState | None = None) -> tuple[Job, ...]:
        """The newest jobs, newest first."""
        statement = select(JobRow).order_by(JobRow.id.desc()).limit(limit)
        if kind is not None:
            statement = statement.where(JobRow.kind == kind)
        if state is not None:
            statement = statement.where(JobRow.state == state)
        self._settle()
        with self.database.read() as session:
            return tuple(map(_job, session.scalars(statement)))

    def _settle(self) -> None:
        """Marks dead jobs; writes nothing while no job is open, so that looking needs no free disk."""
        with self.database.read() as session:
            is_open = session.scalar(select(JobRow.id).where(JobRow.state.in_(("QUEUED", "RUNNING"))).limit(1))
        if is_open is not None:
            with self.database.write() as session:
                _bury(session)


def _bury(session: Session) -> None:
    """Marks what can never end by itself: RUNNING without its process, QUEUED too long while nothing runs."""
    running = _in_state(session, "RUNNING")
    dead = [row for row in running if row.process is None or not is_running(row.process)]
    for row in dead:
        _end(row, "FAILED", f"The process that ran it ended without a result (stage {row.stage or 'start'!r}).")
    if len(dead) < len(running):
        return
    ended = session.scalar(select(func.max(JobRow.finished_at)))
    for row in _in_state(session, "QUEUED"):
        if datetime.now(UTC) - max(filter(None, (row.created_at, ended))) > QUEUED_LIMIT:
            _end(row, "FAILED", f"It waited for more than {QUEUED_LIMIT.seconds // 60} minutes and nothing started it.")


def _add(session: Session, kind: JobKind, requested_by: str, reason: str, arguments: JobArguments) -> JobRow:
    row = JobRow(
        kind=kind, state="QUEUED", requested_by=requested_by, reason=reason, arguments=arguments, created_at=datetime.now(UTC)
    )
    session.add(row)
    session.flush()
    return row


_ADDED_UP = ("full", "evaluate")
"""Arguments that are true for a joined job when they are true for one of its requests."""


def _joins(row: JobRow, kind: JobKind, wanted: Mapping[str, object]) -> bool:
    if row.kind == kind:
        return _apart(row.arguments) == _apart(wanted)
    return {row.kind, kind} == set(INDEX_KINDS)


def _join(row: JobRow, kind: JobKind, wanted: Mapping[str, Any]) -> None:
    arguments = row.arguments if row.kind == "ingest" else wanted
    added = {name: True for name in _ADDED_UP if row.arguments.get(name) or wanted.get(name)}
    row.kind = "ingest" if "ingest" in (row.kind, kind) else kind
    row.arguments = {**arguments, **added}


def _apart(arguments: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in arguments.items() if name not in _ADDED_UP}


def _both(first: str, second: str) -> str:
    return "; ".join(dict.fromkeys(filter(None, (*first.split("; "), second))))


def _excludes(running: str, wanted: str) -> bool:
    return running == wanted or (running in INDEX_KINDS and wanted in INDEX_KINDS)


def _end(row: JobRow, state: JobState, error: str | None) -> None:
    row.state, row.error, row.finished_at = state, error, datetime.now(UTC)


def _in_state(session: Session, state: JobState) -> list[JobRow]:
    return list(session.scalars(select(JobRow).where(JobRow.state == state).order_by(JobRow.id)))


def _require(session: Session, job_id: int) -> JobRow:
    row = session.get(JobRow, job_id)
    if row is None:
        raise NotFound(f"There is no job {job_id!r}.", hint="See `python -m app jobs list`.")
    return row


def _job(row: JobRow) -> Job:
    return Job.model_validate(
        {
            "id": row.id,
            "kind": row.kind,
            "state": row.state,
            "requested_by": row.requested_by,
            "reason": row.reason,
            "arguments": row.arguments,
            "created_at": row.created_at,
            "started_at": row.started_at,
            "finished_at": row.finished_at,
            "pid": int(row.process.partition(":")[0]) if row.process else None,
            "progress": {"stage": row.stage, "done": row.done, "total": row.total},
            "result": row.result,
            "error": row.error,
        }
    )
