"""Long work as jobs: what a job is, which states it passes, and how one is run so that it always ends in a state."""

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
