"""Finding answers in the audit log: by time, outcome, cited entry, words, and what readers said of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, Literal

from sqlalchemy import ColumnElement, Select, exists, func, select
from sqlalchemy.orm import Session

from app.store.audit import AuditRecord, AuditRow, record_of
from app.store.database import Database
from app.store.feedback import CommentRow, RatingRow

Rated = Literal["up", "down", "any"]


@dataclass(frozen=True, slots=True)
class AnswerFilter:
    """Which answers; what is empty does not restrict. `until` is exclusive.

    `text` is looked for in question and answer, whatever their case; answers without content never have it.
    """

    since: datetime | None = None
    until: datetime | None = None
    statuses: tuple[str, ...] = ()
    entry_id: str = ""
    text: str = ""
    rated: Rated | None = None
    commented: bool = False


@dataclass(frozen=True, slots=True)
class FoundAnswer:
    """An answer with what was said of it. `up` is None when nobody rated it."""

    record: AuditRecord
    up: bool | None
    comments: int


@dataclass(frozen=True, slots=True)
class FoundPage:
    """Answers, newest first, and whether there are older ones."""

    answers: tuple[FoundAnswer, ...]
    more: bool


class AnswerSearch:
    """Reads the audit log by filter; changes nothing."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(self, wanted: AnswerFilter, *, limit: int = 50, before: int | None = None) -> FoundPage:
        """The newest answers that fit; `before` continues below a sequence number."""
        with self._database.read() as session:
            found = list(islice(_sequences(session, wanted, before), limit + 1))
            return FoundPage(tuple(_found(session, sequence) for sequence in found[:limit]), more=len(found) > limit)

    def records(self, wanted: AnswerFilter) -> Iterator[AuditRecord]:
        """Streams every answer that fits, newest first, of one state of the log."""
        with self._database.read() as session:
            for sequence in list(_sequences(session, wanted, None)):
                row = session.get(AuditRow, sequence)
                if row is not None:
                    yield record_of(row)
                    session.expunge(row)


def _sequences(session: Session, wanted: AnswerFilter, before: int | None) -> Iterator[int]:
    conditions = list(_conditions(wanted))
    if before is not None:
        conditions.append(AuditRow.sequence < before)
    if not wanted.text:
        yield from session.scalars(_newest_first(select(AuditRow.sequence)).where(*conditions))
        return
    # SQLite folds the case of ASCII only, and an umlaut is the rule here.
    said = [func.json_extract(AuditRow.content, f"$.{name}") for name in ("question", "answer")]
    needle = wanted.text.casefold()
    statement = _newest_first(select(AuditRow.sequence, *said)).where(*conditions, AuditRow.content.is_not(None))
    for sequence, question, answer in session.execute(statement):
        if needle in f"{question}\n{answer}".casefold():
            yield sequence


def _newest_first(statement: Select[Any]) -> Select[Any]:
    return statement.order_by(AuditRow.sequence.desc()).execution_options(yield_per=200)


def _conditions(wanted: AnswerFilter) -> Iterator[ColumnElement[bool]]:
    if wanted.since is not None:
        yield AuditRow.created_at >= wanted.since
    if wanted.until is not None:
        yield AuditRow.created_at < wanted.until
    if wanted.statuses:
        yield func.json_extract(AuditRow.meta, "$.status").in_(wanted.statuses)
    if wanted.entry_id:
        cited = func.json_each(AuditRow.meta, "$.grounding.cited_ids").table_valued("value")
        yield exists(select(cited.c.value).where(cited.c.value == wanted.entry_id))
    if wanted.rated is not None:
        rating = select(RatingRow.request_id).where(RatingRow.request_id == AuditRow.request_id)
        yield exists(rating if wanted.rated == "any" else rating.where(RatingRow.up == (wanted.rated == "up")))
    if wanted.commented:
        yield exists(select(CommentRow.id).where(CommentRow.request_id == AuditRow.request_id))


def _found(session: Session, sequence: int) -> FoundAnswer:
    row = session.get_one(AuditRow, sequence)
    rating = session.get(RatingRow, row.request_id)
    comments = session.scalar(select(func.count()).select_from(CommentRow).where(CommentRow.request_id == row.request_id))
    return FoundAnswer(record_of(row), None if rating is None else rating.up, comments or 0)
