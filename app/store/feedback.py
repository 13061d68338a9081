"""Ratings, comments and reported gaps, each bound to an outcome in the audit log."""

from datetime import UTC, datetime
from typing import Literal

from sqlalchemy import ForeignKey, literal, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.store.audit import AuditRow
from app.store.database import Base, Database, UtcTime
from custom_postprocessors.evidence import Frozen
from pipelines.errors import BadInput, NotFound

MAX_TEXT_CHARACTERS = 2000
MAX_OWNER_CHARACTERS = 100
GapStatus = Literal["open", "accepted", "done", "dismissed"]


class RatingRow(Base):
    """One thumb; at most one an outcome."""

    __tablename__ = "ratings"

    request_id: Mapped[str] = mapped_column(ForeignKey("audit.request_id"), primary_key=True)
    up: Mapped[bool]
    text: Mapped[str | None]
    author: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(UtcTime)


class CommentRow(Base):
    """One dated comment; any number an outcome."""

    __tablename__ = "comments"

    id: Mapped[int] = mapped_column(primary_key=True)
    request_id: Mapped[str] = mapped_column(ForeignKey("audit.request_id"), index=True)
    text: Mapped[str | None]
    author: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(UtcTime)


class GapRow(Base):
    """A question the knowledge base should answer and does not; at most one an outcome."""

    __tablename__ = "gaps"

    id: Mapped[int] = mapped_column(primary_key=True)
    request_id: Mapped[str] = mapped_column(ForeignKey("audit.request_id"), unique=True)
    question: Mapped[str | None]
    note: Mapped[str | None]
    owner: Mapped[str]
    status: Mapped[str]
    remark: Mapped[str] = mapped_column(server_default="", default="")
    reported_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    changed_at: Mapped[datetime] = mapped_column(UtcTime)


class Rating(Frozen):
    """A thumb with an optional text."""

    request_id: str
    up: bool
    text: str | None
    author: str
    created_at: datetime


class Comment(Frozen):
    """A dated comment; `text` is None once its content was deleted."""

    id: int
    request_id: str
    text: str | None
    author: str
    created_at: datetime


class Gap(Frozen):
    """A reported gap, as editors see it. `note` is the reader's, `remark` the editors'."""

    id: int
    request_id: str
    question: str | None
    note: str | None
    owner: str
    status: GapStatus
    remark: str = ""
    reported_by: str
    created_at: datetime
    changed_at: datetime


class Feedback:
    """What readers say about outcomes. `keep_content` False keeps no text, only that something was said."""

    def __init__(self, database: Database, *, keep_content: bool = True) -> None:
        self._database = database
        self._keep_content = keep_content

    def rate(self, request_id: str, *, up: bool, text: str | None = None, author: str) -> Rating:
        """Keeps a thumb.

        Raises:
            NotFound: there is no such outcome.
            BadInput: it has a rating already, or the text is too long.
        """
        row = RatingRow(
            request_id=request_id, up=up, text=self._kept(_checked(text)), author=author, created_at=datetime.now(UTC)
        )
        with self._database.write() as session:
            _require_outcome(session, request_id)
            if session.get(RatingRow, request_id) is not None:
                raise BadInput("Diese Antwort wurde schon bewertet.", hint="Weitere Hinweise bitte als Kommentar.")
            session.add(row)
        return Rating.model_validate(row, from_attributes=True)

    def comment(self, request_id: str, text: str, *, author: str) -> Comment:
        """Adds a comment.

        Raises:
            NotFound: there is no such outcome.
            BadInput: the text is empty, too long, or the same as the author's last comment on this outcome.
        """
        wanted = _checked(text)
        if not wanted:
            raise BadInput("Der Kommentar ist leer.", hint="Bitte einen Text eingeben.")
        row = CommentRow(request_id=request_id, text=self._kept(wanted), author=author, created_at=datetime.now(UTC))
        with self._database.write() as session:
            _require_outcome(session, request_id)
            last = session.scalar(
                select(CommentRow).where(CommentRow.request_id == request_id).order_by(CommentRow.id.desc()).limit(1)
            )
            if last is not None and wanted == last.text and author == last.author:
                raise BadInput("Dieser Kommentar wurde schon gespeichert.", hint="Bitte nicht zweimal absenden.")
            session.add(row)
            session.flush()
        return Comment.model_validate(row, from_attributes=True)

    def report_gap(self, request_id: str, question: str, note: str, *, author: str) -> Gap:
        """Puts the question of an outcome on the editors' list.

        Raises:
            NotFound: there is no such outcome.
            BadInput: it was reported before, or the note is too long.
        """
        now = datetime.now(UTC)
        row = GapRow(
            request_id=request_id,
            question=self._kept(question),
            note=self._kept(_checked(note)),
            owner="",
            status="open",
            reported_by=author,
            created_at=now,
            changed_at=now,
        )
        try:
            with self._database.write() as session:
                _require_outcome(session, request_id)
                if session.scalar(select(GapRow.id).where(GapRow.request_id == request_id)) is not None:
                    raise BadInput("Diese Lücke wurde schon gemeldet.", hint="Die Redaktion sieht sie in ihrer Liste.")
                session.add(row)
                session.flush()
        except IntegrityError as exc:
            raise BadInput("Diese Lücke wurde schon gemeldet.", hint="Die Redaktion sieht sie in ihrer Liste.") from exc
        return Gap.model_validate(row, from_attributes=True)

    def set_gap(
        self, gap_id: int, *, status: GapStatus | None = None, owner: str | None = None, remark: str | None = None
    ) -> Gap:
        """Changes status, owner or the editors' remark of a gap.

        Raises:
            NotFound: there is no such gap.
            BadInput: the remark is too long.
        """
        wanted = None if remark is None else _checked(remark) or ""
        with self._database.write() as session:
            row = session.get(GapRow, gap_id)
            if row is None:
                raise NotFound(f"There is no gap {gap_id!r}.", hint="See `python -m app gaps list`.")
            row.status = status or row.status
            row.owner = row.owner if owner is None else owner.strip()[:MAX_OWNER_CHARACTERS]
            row.remark = row.remark if wanted is None else wanted
            row.changed_at = datetime.now(UTC)
            return Gap.model_validate(row, from_attributes=True)

    def gaps(self, *, status: GapStatus | None = None) -> tuple[Gap, ...]:
        """Reported gaps, newest first."""
        statement = select(GapRow).order_by(GapRow.id.desc())
        if status is not None:
            statement = statement.where(GapRow.status == status)
        with self._database.read() as session:
            return tuple(Gap.model_validate(row, from_attributes=True) for row in session.scalars(statement))

    def rating(self, request_id: str) -> Rating | None:
        """The rating of an outcome; None when it has none."""
        with self._database.read() as session:
            row = session.get(RatingRow, request_id)
            return None if row is None else Rating.model_validate(row, from_attributes=True)

    def comments(self, request_id: str) -> tuple[Comment, ...]:
        """The comments on an outcome, oldest first."""
        statement = select(CommentRow).where(CommentRow.request_id == request_id).order_by(CommentRow.id)
        with self._database.read() as session:
            return tuple(Comment.model_validate(row, from_attributes=True) for row in session.scalars(statement))

    def delete_texts(self, before: datetime) -> int:
        """Deletes every text on outcomes older than `before` and returns how many; thumbs, authors, times and states stay."""
        old = select(AuditRow.request_id).where(AuditRow.created_at < before)
        changes = (
            update(RatingRow).where(RatingRow.request_id.in_(old), RatingRow.text.is_not(None)).values(text=None),
            update(CommentRow).where(CommentRow.request_id.in_(old), CommentRow.text.is_not(None)).values(text=None),
            update(GapRow)
            .where(GapRow.request_id.in_(old), or_(GapRow.question.is_not(None), GapRow.note.is_not(None)))
            .values(question=None, note=None),
        )
        with self._database.write() as session:
            return sum(len(session.execute(change.returning(literal(1))).all()) for change in changes)

    def _kept(self, text: str | None) -> str | None:
        return text if self._keep_content else None


def _require_outcome(session: Session, request_id: str) -> None:
    if session.scalar(select(AuditRow.sequence).where(AuditRow.request_id == request_id)) is None:
        raise NotFound(f"Es gibt keine Antwort {request_id!r}.", hint="Die Anfrage-ID steht unter der Antwort.")


def _checked(text: str | None) -> str | None:
    clean = (text or "").strip()
    if len(clean) > MAX_TEXT_CHARACTERS:
        raise BadInput(f"Der Text hat {len(clean)} Zeichen, erlaubt sind {MAX_TEXT_CHARACTERS}.", hint="Bitte kürzen.")
    return clean or None
