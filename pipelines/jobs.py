"""Long work as jobs: what a job is, which states it passes, and how one is run so that it always ends in a state."""

import logging
import time
from collections.abc import Callable
from datetime import datetime
from typing import Literal, Protocol

from pydantic import Field

from custom_postprocessors.evidence import Frozen
from pipelines.index_build import Progress

JobKind = Literal["ingest", "rebuild", "tags", "evaluation"]
JobState = Literal["QUEUED", "RUNNING", "COMPLETED", "FAILED"]
JobArguments = dict[str, str | int | float | bool | None]
INDEX_KINDS: tuple[JobKind, ...] = ("ingest", "rebuild")
"""Kinds of which at most one runs at a time, because they write the index."""


class JobProgress(Frozen):
    """How far a job is; `total` 0: not known."""

    stage: str = ""
    done: int = 0
    total: int = 0


class Job(Frozen):
    """One job as it is stored. `result` is what its work returned, `error` why it failed (one line)."""

    id: int
    kind: JobKind
    state: JobState
    requested_by: str
    reason: str = ""
    arguments: JobArguments = Field(default_factory=dict)
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    pid: int | None = None
    progress: JobProgress = JobProgress()
    result: dict[str, object] | None = None
    error: str | None = None


class JobStore(Protocol):
    """Where jobs are kept (implemented in `app.store.jobs`)."""

    def start(self, job_id: int, process: str) -> Job | None:
        """Claims a QUEUED job for this process; None when it is not QUEUED or another one of its kind runs."""
        ...

    def report(self, job_id: int, progress: JobProgress) -> None:
        """Notes how far a RUNNING job is."""
        ...

    def finish(self, job_id: int, *, result: dict[str, object] | None = None, error: str | None = None) -> Job:
        """COMPLETED with a result, or FAILED with an error."""
        ...


Work = Callable[[Job, Progress], dict[str, object]]
"""What a job does; returns its result as JSON values."""

_REPORT_EVERY_SECONDS = 1.0
_log = logging.getLogger(__name__)


def run_job(job: Job, store: JobStore, work: Work) -> Job:
    """Does the work of a job that this process has claimed, and notes how it ended whatever happens.

    The job is FAILED when the work raises; the error then goes on to the caller. A process that is killed leaves the job
    RUNNING, which the store finds out by the process being gone.
    """
    _log.info("Job %d (%s) for %s: %s", job.id, job.kind, job.requested_by, job.reason or "no reason given")
    try:
        result = work(job, _Reporter(job.id, store))
    except BaseException as exc:
        _log.error("Job %d failed: %s", job.id, exc)
        store.finish(job.id, error=str(exc) or type(exc).__name__)
        raise
    done = store.finish(job.id, result=result)
    _log.info("Job %d completed.", job.id)
    return done


class _Reporter:
    """Writes progress to the log at every new stage, and to the store at most once a second."""

    def __init__(self, job_id: int, store: JobStore) -> None:
        self._job_id = job_id
        self._store = store
        self._stage = ""
        self._next_seconds = 0.0

    def __call__(self, stage: str, done: int, total: int) -> None:
        """See `Progress`."""
        now_seconds = time.monotonic()
        if stage == self._stage and now_seconds < self._next_seconds:
            return
        if stage != self._stage:
            _log.info("Job %d: %s (%d)", self._job_id, stage, total)
        self._stage, self._next_seconds = stage, now_seconds + _REPORT_EVERY_SECONDS
        self._store.report(self._job_id, JobProgress(stage=stage, done=done, total=total))
