"""The catalogue: documents, their immutable versions, and which version is active. What is active is what is indexed."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from sqlalchemy import ColumnElement, ForeignKey, ForeignKeyConstraint, Row, Select, and_, func, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.store.database import Base, Database, UtcTime
from pipelines.errors import BadInput, NotFound

Origin = Literal["folder", "upload", "edit"]


class DocumentRow(Base):
    """A document: its active version, and what the folder brought last (see `app.ingest`)."""

    __tablename__ = "documents"
    __table_args__ = (
        ForeignKeyConstraint(
            ["entry_id", "active_version"], ["document_versions.entry_id", "document_versions.number"], use_alter=True
        ),
    )

    entry_id: Mapped[str] = mapped_column(primary_key=True)
    active_version: Mapped[int | None]
    folder_hash: Mapped[str | None]
    kept_hash: Mapped[str | None]


class VersionRow(Base):
    """One version of a document. Triggers refuse any change."""

    __tablename__ = "document_versions"

    entry_id: Mapped[str] = mapped_column(ForeignKey("documents.entry_id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    content: Mapped[str] = mapped_column(deferred=True)
    content_hash: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    author: Mapped[str]
    note: Mapped[str]
    origin: Mapped[str]


class ActivationRow(Base):
    """Who made which version active when; `number` None: the document was taken out. Append-only."""

    __tablename__ = "activations"

    id: Mapped[int] = mapped_column(primary_key=True)
    entry_id: Mapped[str] = mapped_column(ForeignKey("documents.entry_id"), index=True)
    number: Mapped[int | None]
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    author: Mapped[str]
    note: Mapped[str]


@dataclass(frozen=True, slots=True)
class Document:
    """A document without its text. `content_hash` is the active version's; None when nothing is active.

    `folder_hash` is that of what the folder brought last, `changed_at` the time of the newest version.
    """

    entry_id: str
    active_version: int | None
    content_hash: str | None
    versions: int
    folder_hash: str | None = None
    changed_at: datetime | None = None

    @property
    def diverged(self) -> bool:
        """Whether something else is served than what the folder brought last."""
        return self.folder_hash is not None and self.folder_hash != self.content_hash


@dataclass(frozen=True, slots=True)
class DocumentVersion:
    """One version without its text."""

    entry_id: str
    number: int
    content_hash: str
    created_at: datetime
    author: str
    note: str
    origin: str
    active: bool


@dataclass(frozen=True, slots=True)
class Change:
    """Who changes something, when and why; goes into every version and activation."""

    author: str
    note: str = ""
    at: datetime | None = None

    def moment(self) -> datetime:
        """The given time, else now."""
        return self.at or datetime.now(UTC)


def content_hash(content: str) -> str:
    """SHA-256 of a document's text (NFC, LF) in UTF-8, hex."""
    return hashlib.sha256(content.encode("utf-8")).hexdigest()


class Catalogue:
    """Documents by id, over one database. Every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def documents(self) -> tuple[Document, ...]:
        """Every document, also those with nothing active, by id."""
        with self.database.read() as session:
            return tuple(_document(row) for row in session.execute(_documents().order_by(DocumentRow.entry_id)))

    def document(self, entry_id: str) -> Document:
        """One document.

        Raises:
            NotFound: there is none with this id.
        """
        with self.database.read() as session:
            row = session.execute(_documents().where(DocumentRow.entry_id == entry_id)).first()
        if row is None:
            raise _unknown(entry_id)
        return _document(row)

    def versions(self, entry_id: str) -> tuple[DocumentVersion, ...]:
        """Every version of a document, newest first.

        Raises:
            NotFound: there is no such document.
        """
        with self.database.read() as session:
            document = _require(session, entry_id)
            rows = session.scalars(select(VersionRow).where(VersionRow.entry_id == entry_id).order_by(VersionRow.number.desc()))
            return tuple(_version(row, document.active_version) for row in rows)

    def content(self, entry_id: str, number: int | None = None) -> str:
        """The text of a version, or of the active one.

        Raises:
            NotFound: there is no such document or version, or nothing is active.
        """
        with self.database.read() as session:
            wanted = number if number is not None else _require(session, entry_id).active_version
            found = session.scalar(select(VersionRow.content).where(VersionRow.entry_id == entry_id, VersionRow.number == wanted))
        if found is None:
            raise NotFound(
                f"Document {entry_id!r} has no version {wanted!r}.", hint=f"See `python -m app versions list {entry_id}`."
            )
        return found

    def add_version(self, entry_id: str, content: str, change: Change, *, origin: Origin, activate: bool = True) -> int:
        """Adds a version (and the document, when it is new) and returns its number; equal content is a version as well."""
        with self.database.write() as session:
            return add_version(session, entry_id, content, change, origin=origin, activate=activate)

    def activate(self, entry_id: str, number: int, change: Change) -> None:
        """Makes a version the active one; does nothing when it is.

        Raises:
            NotFound: there is no such document or version.
        """
        with self.database.write() as session:
            activate(session, entry_id, number, change)

    def remove(self, entry_id: str, change: Change) -> None:
        """Takes a document out of what is served; its versions stay and can be activated again.

        Raises:
            NotFound: there is no such document.
            BadInput: nothing of it is active.
        """
        with self.database.write() as session:
            if _require(session, entry_id).active_version is None:
                raise BadInput(f"Document {entry_id!r} is not active.", hint="Nothing was changed.")
            deactivate(session, entry_id, change)

    def active_contents(self) -> Iterator[tuple[str, str, str]]:
        """Streams (entry id, content hash, text) of every active version by ascending id, all of one state."""
        with self.database.read() as session:
            statement = (
                select(VersionRow.entry_id, VersionRow.content_hash, VersionRow.content)
                .join(DocumentRow, _is_active())
                .order_by(VersionRow.entry_id)
            )
            for row in session.execute(statement, execution_options={"yield_per": 50}):
                yield row[0], row[1], row[2]

    def active_hashes(self) -> dict[str, str]:
        """Content hash of every active version by entry id, in ascending order of ids."""
        with self.database.read() as session:
            return active_hashes(session)

    def state_hash(self) -> str:
        """SHA-256 over ids and content hashes of everything active: the name of the knowledge base's state."""
        return state_hash(self.active_hashes())


def state_hash(hashes: dict[str, str]) -> str:
    """SHA-256 over entry ids and content hashes in ascending order of ids."""
    return hashlib.sha256("".join(f"{entry_id} {digest}\n" for entry_id, digest in sorted(hashes.items())).encode()).hexdigest()


def active_hashes(session: Session) -> dict[str, str]:
    """`Catalogue.active_hashes` inside a transaction that is open already."""
    statement = select(VersionRow.entry_id, VersionRow.content_hash).join(DocumentRow, _is_active())
    return {entry_id: digest for entry_id, digest in session.execute(statement.order_by(VersionRow.entry_id))}


def add_version(session: Session, entry_id: str, content: str, change: Change, *, origin: Origin, activate: bool = True) -> int:
    """`Catalogue.add_version` inside a transaction that is open already."""
    if session.get(DocumentRow, entry_id) is None:
        session.add(DocumentRow(entry_id=entry_id))
        session.flush()
    last = session.scalar(select(func.max(VersionRow.number)).where(VersionRow.entry_id == entry_id)) or 0
    session.add(
        VersionRow(
            entry_id=entry_id,
            number=last + 1,
            content=content,
            content_hash=content_hash(content),
            created_at=change.moment(),
            author=change.author,
            note=change.note,
            origin=origin,
        )
    )
    session.flush()
    if activate:
        _point(session, entry_id, last + 1, change)
    return last + 1


def activate(session: Session, entry_id: str, number: int, change: Change) -> None:
    """`Catalogue.activate` inside a transaction that is open already."""
    document = _require(session, entry_id)
    if session.get(VersionRow, (entry_id, number)) is None:
        raise NotFound(f"Document {entry_id!r} has no version {number!r}.", hint=f"See `python -m app versions list {entry_id}`.")
    if document.active_version != number:
        _point(session, entry_id, number, change)


def deactivate(session: Session, entry_id: str, change: Change) -> None:
    """`Catalogue.remove` inside a transaction that is open already, without the question whether it is active."""
    _point(session, entry_id, None, change)


def _point(session: Session, entry_id: str, number: int | None, change: Change) -> None:
    _require(session, entry_id).active_version = number
    session.add(
        ActivationRow(entry_id=entry_id, number=number, created_at=change.moment(), author=change.author, note=change.note)
    )
    session.flush()


def _require(session: Session, entry_id: str) -> DocumentRow:
    row = session.get(DocumentRow, entry_id)
    if row is None:
        raise _unknown(entry_id)
    return row


def _unknown(entry_id: str) -> NotFound:
    return NotFound(f"There is no document {entry_id!r}.", hint="See `python -m app docs list`.")


def _documents() -> Select[str, int | None, str | None, int, str | None, datetime]:
    counts = select(
        VersionRow.entry_id, func.count().label("n"), func.max(VersionRow.created_at, type_=UtcTime).label("changed_at")
    )
    counted = counts.group_by(VersionRow.entry_id).subquery()
    return (
        select(
            DocumentRow.entry_id,
            DocumentRow.active_version,
            VersionRow.content_hash,
            counted.c.n,
            DocumentRow.folder_hash,
            counted.c.changed_at,
        )
        .join(counted, counted.c.entry_id == DocumentRow.entry_id)
        .outerjoin(VersionRow, _is_active())
    )


def _is_active() -> ColumnElement[bool]:
    return and_(VersionRow.entry_id == DocumentRow.entry_id, VersionRow.number == DocumentRow.active_version)


def _document(row: Row[str, int | None, str | None, int, str | None, datetime]) -> Document:
    return Document(*row)


def _version(row: VersionRow, active: int | None) -> DocumentVersion:
    return DocumentVersion(
        row.entry_id, row.number, row.content_hash, row.created_at, row.author, row.note, row.origin, row.number == active
    )
