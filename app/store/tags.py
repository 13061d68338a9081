"""Tags and topics that editors manage: named, assigned to entries, merged, removed; every step stays on record.

They are kept apart from the tags and topics in the frontmatter of entries, which only suggest them.
"""

import hashlib
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal, get_args

from sqlalchemy import ForeignKey, delete, func, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.store.database import Base, Database, UtcTime
from app.store.documents import Change, DocumentRow
from custom_postprocessors.evidence import Frozen
from pipelines.errors import BadInput, NotFound
from pipelines.normalisation import remove_invisible

TagKind = Literal["tag", "topic"]
TAG_KINDS: tuple[TagKind, ...] = get_args(TagKind)
MAX_NAME_CHARACTERS = 80


class TagRow(Base):
    """One tag or topic; `key` is its kind and its folded name."""

    __tablename__ = "tags"

    key: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    name: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    created_by: Mapped[str]


class TagEntryRow(Base):
    """That an entry has a tag."""

    __tablename__ = "tag_entries"

    tag_key: Mapped[str] = mapped_column(ForeignKey("tags.key"), primary_key=True)
    entry_id: Mapped[str] = mapped_column(ForeignKey("documents.entry_id"), primary_key=True)
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    created_by: Mapped[str]


class TagEventRow(Base):
    """What was done to a tag, when and by whom. Append-only."""

    __tablename__ = "tag_events"

    id: Mapped[int] = mapped_column(primary_key=True)
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    author: Mapped[str]
    action: Mapped[str]
    tag: Mapped[str]
    detail: Mapped[str]


class Tag(Frozen):
    """A managed tag or topic and the entries that have it, by ascending id."""

    kind: TagKind
    name: str
    entries: tuple[str, ...] = ()
    created_at: datetime
    created_by: str


class TagEvent(Frozen):
    """One step in the history of the tags; `detail` are the entries or the other tag it was about."""

    created_at: datetime
    author: str
    action: str
    tag: str
    detail: str


class TagSuggestion(Frozen):
    """A tag or topic that the frontmatter of active entries has and that is not managed."""

    kind: TagKind
    name: str
    entries: tuple[str, ...]


class Tags:
    """The managed tags of one database; every method is one transaction. Names are compared without regard to case."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list(self, *, kind: TagKind | None = None) -> tuple[Tag, ...]:
        """Every tag, topics first, then by name."""
        with self._database.read() as session:
            statement = select(TagRow) if kind is None else select(TagRow).where(TagRow.kind == kind)
            rows = sorted(session.scalars(statement), key=lambda row: (row.kind != "topic", row.key))
            return _tags(session, rows)

    def get(self, name: str, *, kind: TagKind = "tag") -> Tag:
        """One tag.

        Raises:
            NotFound: there is no such tag.
        """
        with self._database.read() as session:
            return _tags(session, [_require(session, name, kind)])[0]

    def of_entry(self, entry_id: str) -> tuple[Tag, ...]:
        """The tags of one entry; empty also when there is no such entry."""
        return tuple(tag for tag in self.list() if entry_id in tag.entries)

    def create(self, name: str, change: Change, *, kind: TagKind = "tag", entries: Sequence[str] = ()) -> Tag:
        """Makes a tag and gives it to these entries.

        Raises:
            BadInput: the name is empty or too long, or there is such a tag already.
            NotFound: an entry does not exist; nothing was changed.
        """
        clean = clean_name(name)
        with self._database.write() as session:
            if session.get(TagRow, tag_key(clean, kind)) is not None:
                raise BadInput(f"There is a {kind} {clean!r} already.", hint="Assign it, or choose another name.")
            row = TagRow(key=tag_key(clean, kind), kind=kind, name=clean, created_at=change.moment(), created_by=change.author)
            session.add(row)
            session.flush()
            _note(session, change, "create", row, change.note)
            _assign(session, row, entries, change)
            return _tags(session, [row])[0]

    def assign(self, name: str, entries: Sequence[str], change: Change, *, kind: TagKind = "tag") -> Tag:
        """Gives a tag to entries; those that have it already keep it.

        Raises:
            NotFound: there is no such tag or entry; nothing was changed.
        """
        with self._database.write() as session:
            row = _require(session, name, kind)
            _assign(session, row, entries, change)
            return _tags(session, [row])[0]

    def unassign(self, name: str, entries: Sequence[str], change: Change, *, kind: TagKind = "tag") -> Tag:
        """Takes a tag from entries; those that do not have it are passed over.

        Raises:
            NotFound: there is no such tag.
        """
        with self._database.write() as session:
            row = _require(session, name, kind)
            had = [entry_id for entry_id in dict.fromkeys(entries) if session.get(TagEntryRow, (row.key, entry_id))]
            session.execute(delete(TagEntryRow).where(TagEntryRow.tag_key == row.key, TagEntryRow.entry_id.in_(had)))
            if had:
                _note(session, change, "unassign", row, ", ".join(had))
            return _tags(session, [row])[0]

    def remove(self, name: str, change: Change, *, kind: TagKind = "tag") -> None:
        """Removes a tag from all entries and from the list.

        Raises:
            NotFound: there is no such tag.
        """
        with self._database.write() as session:
            row = _require(session, name, kind)
            _note(session, change, "remove", row, ", ".join(_entries_of(session, row.key)))
            _delete(session, row)

    def merge(self, name: str, into: str, change: Change, *, kind: TagKind = "tag") -> Tag:
        """Gives all entries of one tag to another one of the same kind and removes the first; returns the other one.

        Raises:
            NotFound: one of the two does not exist.
            BadInput: they are the same.
        """
        with self._database.write() as session:
            row, target = _require(session, name, kind), _require(session, into, kind)
            if row.key == target.key:
                raise BadInput(f"{name!r} and {into!r} are the same {kind}.", hint="Name two different ones.")
            moved = _entries_of(session, row.key)
            _note(session, change, "merge", row, target.name)
            _delete(session, row)
            _assign(session, target, moved, change)
            return _tags(session, [target])[0]

    def history(self, *, limit: int = 50) -> tuple[TagEvent, ...]:
        """The newest steps, newest first."""
        with self._database.read() as session:
            rows = session.scalars(select(TagEventRow).order_by(TagEventRow.id.desc()).limit(limit))
            return tuple(TagEvent.model_validate(row, from_attributes=True) for row in rows)

    def suggestions(self, frontmatter: Iterable[tuple[str, str, Sequence[str]]]) -> tuple[TagSuggestion, ...]:
        """What entries suggest and nobody manages, most entries first; `frontmatter` are (entry id, topic, tags)."""
        found: dict[str, tuple[TagKind, str, dict[str, None]]] = {}
        for entry_id, topic, tags in frontmatter:
            named: list[tuple[TagKind, str]] = [("topic", topic), *(("tag", tag) for tag in tags)]
            for kind, name in named:
                if _is_usable(name):
                    clean = clean_name(name)
                    found.setdefault(tag_key(clean, kind), (kind, clean, {}))[2][entry_id] = None
        with self._database.read() as session:
            managed = set(session.scalars(select(TagRow.key)))
        rest = [value for key, value in found.items() if key not in managed]
        rest.sort(key=lambda value: (value[0] != "topic", -len(value[2]), tag_key(value[1], value[0])))
        return tuple(TagSuggestion(kind=kind, name=name, entries=tuple(sorted(entries))) for kind, name, entries in rest)

    def state_hash(self) -> str:
        """SHA-256 over all names and assignments: the name of this state of the tags."""
        return tags_hash(self.list())


def tags_hash(tags: Iterable[Tag]) -> str:
    """SHA-256 over kinds, names and entries, whatever the order."""
    lines = sorted(f"{tag.kind}\t{tag.name}\t{','.join(tag.entries)}\n" for tag in tags)
    return hashlib.sha256("".join(lines).encode("utf-8")).hexdigest()


def clean_name(name: str) -> str:
    """A name as it is kept: NFC, without invisible characters, single blanks.

    Raises:
        BadInput: nothing is left of it, or it is too long.
    """
    clean = " ".join(remove_invisible(unicodedata.normalize("NFC", name)).split())
    if not 1 <= len(clean) <= MAX_NAME_CHARACTERS:
        raise BadInput(f"The name {name!r} has {len(clean)} characters.", hint=f"Use 1 to {MAX_NAME_CHARACTERS}.")
    return clean


def tag_key(name: str, kind: TagKind) -> str:
    """What identifies a tag: kind and name without regard to case."""
    return f"{kind}:{name.casefold()}"


def _is_usable(name: str) -> bool:
    return 1 <= len(" ".join(name.split())) <= MAX_NAME_CHARACTERS


def _tags(session: Session, rows: Sequence[TagRow]) -> tuple[Tag, ...]:
    keys = [row.key for row in rows]
    entries: dict[str, list[str]] = {key: [] for key in keys}
    statement = select(TagEntryRow.tag_key, TagEntryRow.entry_id).order_by(TagEntryRow.entry_id)
    for key, entry_id in session.execute(statement if len(keys) != 1 else statement.where(TagEntryRow.tag_key == keys[0])):
        if key in entries:
            entries[key].append(entry_id)
    return tuple(
        Tag.model_validate(
            {
                "kind": row.kind,
                "name": row.name,
                "entries": tuple(entries[row.key]),
                "created_at": row.created_at,
                "created_by": row.created_by,
            }
        )
        for row in rows
    )


def _require(session: Session, name: str, kind: TagKind) -> TagRow:
    row = session.get(TagRow, tag_key(" ".join(name.split()), kind))
    if row is None:
        raise NotFound(f"There is no {kind} {name!r}.", hint="See `python -m app tags list`.")
    return row


def _entries_of(session: Session, key: str) -> list[str]:
    return list(session.scalars(select(TagEntryRow.entry_id).where(TagEntryRow.tag_key == key).order_by(TagEntryRow.entry_id)))


def _assign(session: Session, row: TagRow, entries: Sequence[str], change: Change) -> None:
    wanted = list(dict.fromkeys(entries))
    known = set(session.scalars(select(DocumentRow.entry_id).where(DocumentRow.entry_id.in_(wanted))))
    unknown = [entry_id for entry_id in wanted if entry_id not in known]
    if unknown:
        raise NotFound(f"There is no document {', '.join(map(repr, unknown))}.", hint="See `python -m app docs list`.")
    has = set(_entries_of(session, row.key))
    new = [entry_id for entry_id in wanted if entry_id not in has]
    at = change.moment()
    session.add_all(TagEntryRow(tag_key=row.key, entry_id=entry_id, created_at=at, created_by=change.author) for entry_id in new)
    if new:
        _note(session, change, "assign", row, ", ".join(new))


def _delete(session: Session, row: TagRow) -> None:
    session.execute(delete(TagEntryRow).where(TagEntryRow.tag_key == row.key))
    session.delete(row)
    session.flush()


def _note(session: Session, change: Change, action: str, row: TagRow, detail: str) -> None:
    last = session.scalar(select(func.max(TagEventRow.id))) or 0
    session.add(
        TagEventRow(
            id=last + 1,
            created_at=change.moment(),
            author=change.author,
            action=action,
            tag=f"{row.kind}: {row.name}",
            detail=detail,
        )
    )
    session.flush()
