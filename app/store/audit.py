"""The audit log: every outcome, append-only and hash-chained, so that a changed, removed or inserted row is found.

The chain covers the metadata and the SHA-256 of the content. So the content (question, answer, quotes) can be deleted
after the time it may be kept, and the chain stays whole.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import TypeAdapter
from sqlalchemy import Select, func, select, update
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.store.database import Base, Database, UtcTime
from custom_postprocessors.evidence import Frozen
from pipelines.contracts import Outcome
from pipelines.errors import BadInput, NotFound
from pipelines.review_context import ReviewContext

GENESIS = "sha256:" + "0" * 64
_CONTEXT = "context_json"
_OUTCOME: TypeAdapter[Outcome] = TypeAdapter(Outcome)


class AuditRow(Base):
    """One outcome. Triggers refuse deleting it and any change but that of `content` to NULL."""

    __tablename__ = "audit"

    sequence: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    request_id: Mapped[str] = mapped_column(unique=True)
    created_at: Mapped[datetime] = mapped_column(UtcTime, index=True)
    meta: Mapped[str]
    content: Mapped[str | None]
    content_hash: Mapped[str | None]
    previous_hash: Mapped[str]
    row_hash: Mapped[str]


class AuditHeadRow(Base):
    """How many rows there are and the hash of the last one: shows when rows at the end are missing."""

    __tablename__ = "audit_head"

    id: Mapped[int] = mapped_column(primary_key=True)
    rows: Mapped[int]
    row_hash: Mapped[str]


class SectionProof(Frozen):
    """A section that was given to the model, and the SHA-256 of its text then."""

    node_id: str
    text_hash: str


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One row. `outcome` is None when its content was deleted or never kept; `metadata` never holds free text."""

    sequence: int
    request_id: str
    created_at: datetime
    metadata: dict[str, object]
    outcome: Outcome | None
    row_hash: str
    context_json: str | None = None
    """What was transmitted for a review, as JSON; None for other questions, and when the content is gone."""

    @property
    def sections(self) -> tuple[SectionProof, ...]:
        """The sections the outcome rested on, with the hashes of their texts then."""
        return TypeAdapter(tuple[SectionProof, ...]).validate_python(self.metadata["sections"])

    def to_json(self) -> dict[str, object]:
        """The row as exported: chain fields, metadata, and the outcome where it was kept."""
        outcome = None if self.outcome is None else self.outcome.model_dump(mode="json")
        row = {"sequence": self.sequence, "hash": self.row_hash, "metadata": self.metadata, "outcome": outcome}
        return row if self.context_json is None else {**row, "context_json": self.context_json}


class ChainFault(Frozen):
    """One place where the chain does not hold. `kind`: changed · missing · content_changed · head."""

    sequence: int
    kind: str
    message: str


class AuditLog:
    """Appends and reads outcomes. `keep_content` False keeps metadata only."""

    def __init__(self, database: Database, *, keep_content: bool = True) -> None:
        self.database = database
        self.keep_content = keep_content

    def append(self, outcome: Outcome, sections: Sequence[SectionProof], review: ReviewContext | None = None) -> None:
        """Writes one outcome; it is on disk when this returns.

        What a caller transmitted for a review is kept with the content; with metadata only, its keys alone.

        Raises:
            BadInput: there is a row with this request id.
            StoreError: it could not be written; the outcome must then not be shown.
        """
        content = _content(outcome, review) if self.keep_content else None
        keys = {} if review is None or self.keep_content else {"context_keys": review.keys}
        meta = _canonical({**_metadata(outcome, sections), **keys})
        with self.database.write() as session:
            if session.scalar(select(AuditRow.sequence).where(AuditRow.request_id == outcome.request_id)) is not None:
                raise BadInput(
                    f"Request {outcome.request_id!r} is in the audit log already.", hint="Every outcome needs its own id."
                )
            head = session.get(AuditHeadRow, 1) or AuditHeadRow(id=1, rows=0, row_hash=GENESIS)
            row = AuditRow(
                sequence=head.rows + 1,
                request_id=outcome.request_id,
                created_at=outcome.created_at,
                meta=meta,
                content=content,
                content_hash=None if content is None else _hash(content),
                previous_hash=head.row_hash,
                row_hash="",
            )
            row.row_hash = _row_hash(row)
            head.rows, head.row_hash = row.sequence, row.row_hash
            session.add_all((row, head))

    def get(self, request_id: str) -> AuditRecord:
        """One outcome.

        Raises:
            NotFound: there is no such request.
        """
        with self.database.read() as session:
            row = session.scalar(select(AuditRow).where(AuditRow.request_id == request_id))
        if row is None:
            raise NotFound(f"There is no answer {request_id!r} in the audit log.", hint="See `python -m app audit list`.")
        return record_of(row)

    def list(self, *, limit: int = 50, before: int | None = None) -> tuple[AuditRecord, ...]:
        """The newest outcomes, newest first; `before` continues below a sequence number."""
        statement = select(AuditRow).order_by(AuditRow.sequence.desc()).limit(limit)
        if before is not None:
            statement = statement.where(AuditRow.sequence < before)
        with self.database.read() as session:
            return tuple(map(record_of, session.scalars(statement)))

    def export(self) -> Iterator[AuditRecord]:
        """Streams every outcome, oldest first, of one state of the log."""
        with self.database.read() as session:
            for row in session.scalars(_in_order()):
                yield record_of(row)

    def count(self) -> int:
        """Number of outcomes."""
        with self.database.read() as session:
            return session.scalar(select(func.count()).select_from(AuditRow)) or 0

    def delete_content(self, before: datetime) -> int:
        """Deletes the content of every outcome older than `before` and returns of how many; the chain stays whole."""
        old = update(AuditRow).where(AuditRow.created_at < before, AuditRow.content.is_not(None)).values(content=None)
        with self.database.write() as session:
            result = session.execute(old.returning(AuditRow.sequence)).all()
        return len(result)

    def verify(self) -> tuple[ChainFault, ...]:
        """Walks the whole chain; empty when every row is as it was written and none is missing or inserted."""
        with self.database.read() as session:
            return tuple(_verify(session))


def _verify(session: Session) -> Iterator[ChainFault]:
    expected, previous = 1, GENESIS
    for row in session.scalars(_in_order()):
        if row.sequence != expected:
            yield ChainFault(sequence=expected, kind="missing", message=f"Rows {expected} to {row.sequence - 1} are missing.")
        elif row.previous_hash != previous:
            yield ChainFault(sequence=row.sequence, kind="changed", message="The row does not follow the one before it.")
        yield from _verify_row(row)
        expected, previous = row.sequence + 1, row.row_hash
    head = session.get(AuditHeadRow, 1)
    rows, last = (head.rows, head.row_hash) if head else (0, GENESIS)
    if (rows, last) != (expected - 1, previous):
        yield ChainFault(
            sequence=expected, kind="head", message=f"{rows} rows were written, the log ends with row {expected - 1}."
        )


def _verify_row(row: AuditRow) -> Iterator[ChainFault]:
    columns_fit = json.loads(row.meta).get("request_id") == row.request_id and _row_hash(row) == row.row_hash
    if not columns_fit:
        yield ChainFault(sequence=row.sequence, kind="changed", message="The row was changed after it was written.")
    if row.content is not None and _hash(row.content) != row.content_hash:
        yield ChainFault(sequence=row.sequence, kind="content_changed", message="The content was changed after it was written.")


def _content(outcome: Outcome, review: ReviewContext | None) -> str:
    """What is kept and hashed: the outcome, and beside its fields what was transmitted for a review."""
    if review is None:
        return outcome.model_dump_json()
    return json.dumps({**outcome.model_dump(mode="json"), _CONTEXT: review.model_dump_json()}, ensure_ascii=False)


def _metadata(outcome: Outcome, sections: Sequence[SectionProof]) -> dict[str, object]:
    """What stays when the content goes: ids, times, versions and hashes, and no text that a person wrote."""
    grounding = outcome.grounding
    return {
        "request_id": outcome.request_id,
        "created_at": outcome.created_at.isoformat(),
        "mode": outcome.mode,
        "status": outcome.status,
        "refusal_reason": outcome.refusal_reason,
        "as_of": outcome.as_of,
        "plan": {"type": outcome.plan.type, "scopes": outcome.plan.scopes, "queries": len(outcome.plan.queries)},
        "degraded": outcome.degraded,
        "grounding": {
            "verified": grounding.verified,
            "mode": grounding.mode,
            "regenerated": grounding.regenerated,
            "retrieved_ids": grounding.retrieved_ids,
            "cited_ids": grounding.cited_ids,
            "violations": [violation.kind for violation in grounding.violations],
            "dropped_claims": grounding.dropped_claims,
            "data_scope": grounding.data_scope,
        },
        "model": outcome.model.model_dump(mode="json"),
        "index": outcome.index.model_dump(mode="json"),
        "timings_ms": outcome.timings_ms.model_dump(mode="json"),
        "sections": [section.model_dump(mode="json") for section in sections],
    }


def _row_hash(row: AuditRow) -> str:
    chained = {
        "sequence": row.sequence,
        "created_at": row.created_at.isoformat(),
        "metadata": row.meta,
        "content": row.content_hash,
        "previous": row.previous_hash,
    }
    return _hash(_canonical(chained))


def _canonical(value: dict[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _hash(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode("utf-8")).hexdigest()


def _in_order() -> Select[AuditRow]:
    return select(AuditRow).order_by(AuditRow.sequence).execution_options(yield_per=100)


def record_of(row: AuditRow) -> AuditRecord:
    """The row as a value, its outcome read."""
    content = None if row.content is None else json.loads(row.content)
    context_json = None if content is None else content.pop(_CONTEXT, None)
    outcome = None if content is None else _OUTCOME.validate_python(content)
    return AuditRecord(row.sequence, row.request_id, row.created_at, json.loads(row.meta), outcome, row.row_hash, context_json)
