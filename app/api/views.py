"""What callers get beside the models of an answer."""

from datetime import datetime
from typing import Literal

from pydantic import JsonValue

from app.store.feedback import Comment, Rating
from app.store.tags import Tag
from custom_postprocessors.evidence import Conflict, Frozen
from pipelines.contracts import Channel, IndexInfo, Outcome
from pipelines.jobs import Job, JobKind, JobProgress, JobState


class ModelView(Frozen):
    """What answers a question that names no model. `available` False: it does not answer right now."""

    name: str
    reason: str
    available: bool


class Health(Frozen):
    """`status` and the two flags are told to everybody, the rest to callers with a key (or where none is needed)."""

    status: Literal["ready", "degraded", "not_ready"]
    live: bool = True
    ready: bool
    reason: str | None = None
    degraded: tuple[Channel | Literal["model"], ...] = ()
    index: IndexInfo | None = None
    model: ModelView | None = None
    job_id: int | None = None
    review_mode: bool | None = None
    notices: tuple[str, ...] | None = None
    """German remarks, e.g. that the folder of the knowledge base has changes that are not taken over."""


class JobView(Frozen):
    """A job. `error` is told in full to admins only, because it may name paths."""

    id: int
    kind: JobKind
    state: JobState
    requested_by: str
    reason: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    progress: JobProgress
    result: dict[str, JsonValue] | None
    error: str | None

    @classmethod
    def of(cls, job: Job, *, in_full: bool) -> "JobView":
        """A job as its caller may see it."""
        shown = job.model_dump(mode="json", exclude={"arguments", "pid"})
        if not in_full and job.error is not None:
            shown |= {"error": "Der Auftrag ist fehlgeschlagen; der Grund steht in seinem Protokoll."}
        return cls.model_validate(shown)


class JobList(Frozen):
    """Jobs, newest first."""

    jobs: tuple[JobView, ...]


class EntrySectionView(Frozen):
    """One section as served; citations count code points in `text`."""

    node_id: str
    section: str
    text: str
    text_hash: str


class EntrySourceView(Frozen):
    """Where the facts of an entry were read."""

    publisher: str
    title: str
    url: str
    as_of: str


class EntryView(Frozen):
    """A whole entry of the served index."""

    entry_id: str
    title: str
    stand: str
    work: str
    topic: str
    tags: tuple[str, ...]
    legal_bases: tuple[str, ...]
    cross_refs: tuple[str, ...]
    sources: tuple[EntrySourceView, ...]
    sections: tuple[EntrySectionView, ...]
    index_version: str


class ConflictList(Frozen):
    """The conflict register of the served index."""

    conflicts: tuple[Conflict, ...]
    index_version: str


class StoredAnswer(Frozen):
    """A row of the audit log with what was said about it. `outcome` is null when its content was deleted or never kept.

    `context_json` is what was transmitted for a review, as it was kept.
    """

    sequence: int
    hash: str
    metadata: dict[str, JsonValue]
    outcome: Outcome | None
    context_json: str | None = None
    rating: Rating | None
    comments: tuple[Comment, ...]


class DocumentView(Frozen):
    """A document of the catalogue; `active_version` null: it is not served."""

    entry_id: str
    active_version: int | None
    content_hash: str | None
    versions: int


class DocumentList(Frozen):
    """Documents by id."""

    documents: tuple[DocumentView, ...]


class VersionView(Frozen):
    """One version of a document."""

    entry_id: str
    number: int
    content_hash: str
    created_at: datetime
    author: str
    note: str
    origin: str
    active: bool


class VersionList(Frozen):
    """Versions, newest first."""

    versions: tuple[VersionView, ...]


class FaultView(Frozen):
    """What was noticed in an uploaded file; `line` counts from 1."""

    line: int
    fault: str
    severity: str
    message: str


class UploadView(Frozen):
    """What became of an upload. `is_new` false: the active version has this content already, and nothing was done."""

    entry_id: str
    version: int
    is_new: bool
    faults: tuple[FaultView, ...]
    job: JobView | None


class TagList(Frozen):
    """Managed tags and topics; for a query those that it is about, best first."""

    tags: tuple[Tag, ...]
