"""An organisation's own guidance for the system prompts: versions that never change, and which one is active for a purpose.

The rules that make up the product's promise are not here: they are code and stand before any guidance (see
`pipelines.prompts.with_guidance`).
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, get_args

from sqlalchemy import func, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.store.database import Base, Database, UtcTime
from app.store.documents import Change
from custom_postprocessors.evidence import Frozen
from pipelines.errors import BadInput, NotFound

Purpose = Literal["answer", "review"]
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)
MAX_GUIDANCE_CHARACTERS = 4000
BUILT_IN = 0
"""The number that stands for no guidance at all: the product's own rules alone."""


class PromptVersionRow(Base):
    """One version of the guidance for a purpose. Append-only."""

    __tablename__ = "prompt_versions"

    purpose: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    guidance: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    author: Mapped[str]
    note: Mapped[str]


class PromptActivationRow(Base):
    """Who made which version the active one of a purpose. Append-only; the last one counts."""

    __tablename__ = "prompt_activations"

    id: Mapped[int] = mapped_column(primary_key=True)
    purpose: Mapped[str] = mapped_column(index=True)
    number: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    author: Mapped[str]
    note: Mapped[str]


class GuidanceVersion(Frozen):
    """One version; number 0 is the product's own prompt without guidance."""

    purpose: Purpose
    number: int
    guidance: str = ""
    created_at: datetime | None = None
    author: str = ""
    note: str = ""
    active: bool = False

    @property
    def prompt_name(self) -> str:
        """The name that answers record with the hash of the prompt's bytes."""
        return f"{self.purpose}-{self.number}"


class GuidanceActivation(Frozen):
    """When which version became the active one, and by whom."""

    purpose: Purpose
    number: int
    created_at: datetime
    author: str
    note: str


class Guidance:
    """The guidance of one database; exactly one version is active for each purpose."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def active(self, purpose: Purpose) -> GuidanceVersion:
        """The active version; number 0 with an empty text when nothing was ever activated."""
        with self._database.read() as session:
            return _version(session, purpose, _active_number(session, purpose))

    def version(self, purpose: Purpose, number: int) -> GuidanceVersion:
        """One version.

        Raises:
            NotFound: there is no such version.
        """
        with self._database.read() as session:
            return _version(session, purpose, number)

    def versions(self, purpose: Purpose) -> tuple[GuidanceVersion, ...]:
        """Every version, newest first; the last one is number 0."""
        with self._database.read() as session:
            active = _active_number(session, purpose)
            statement = select(PromptVersionRow).where(PromptVersionRow.purpose == purpose)
            rows = session.scalars(statement.order_by(PromptVersionRow.number.desc()))
            found = [_of(row, active) for row in rows]
            return (*found, GuidanceVersion(purpose=purpose, number=BUILT_IN, active=active == BUILT_IN))

    def add(self, purpose: Purpose, guidance: str, change: Change, *, activate: bool = True) -> GuidanceVersion:
        """Adds a version, active at once unless `activate` is False.

        Raises:
            BadInput: the text is empty or too long.
        """
        text = guidance.replace("\r\n", "\n").strip()
        if not 1 <= len(text) <= MAX_GUIDANCE_CHARACTERS:
            raise BadInput(
                f"The guidance has {len(text)} characters.",
                hint=f"Use 1 to {MAX_GUIDANCE_CHARACTERS}; activate version 0 for the product's own prompt.",
            )
        with self._database.write() as session:
            last = session.scalar(select(func.max(PromptVersionRow.number)).where(PromptVersionRow.purpose == purpose)) or 0
            row = PromptVersionRow(
                purpose=purpose,
                number=last + 1,
                guidance=text,
                created_at=change.moment(),
                author=change.author,
                note=change.note,
            )
            session.add(row)
            if activate:
                _activate(session, purpose, last + 1, change)
            session.flush()
            return _of(row, _active_number(session, purpose))

    def activate(self, purpose: Purpose, number: int, change: Change) -> None:
        """Makes a version (0: no guidance) the active one; does nothing when it is.

        Raises:
            NotFound: there is no such version.
        """
        with self._database.write() as session:
            _version(session, purpose, number)
            if _active_number(session, purpose) != number:
                _activate(session, purpose, number, change)

    def history(self, purpose: Purpose | None = None) -> tuple[GuidanceActivation, ...]:
        """Every activation, newest first."""
        statement = select(PromptActivationRow).order_by(PromptActivationRow.id.desc())
        if purpose is not None:
            statement = statement.where(PromptActivationRow.purpose == purpose)
        with self._database.read() as session:
            rows: Sequence[PromptActivationRow] = session.scalars(statement).all()
        return tuple(GuidanceActivation.model_validate(row, from_attributes=True) for row in rows)


def _active_number(session: Session, purpose: Purpose) -> int:
    statement = select(PromptActivationRow.number).where(PromptActivationRow.purpose == purpose)
    return session.scalar(statement.order_by(PromptActivationRow.id.desc()).limit(1)) or BUILT_IN


def _activate(session: Session, purpose: Purpose, number: int, change: Change) -> None:
    session.add(
        PromptActivationRow(purpose=purpose, number=number, created_at=change.moment(), author=change.author, note=change.note)
    )


def _version(session: Session, purpose: Purpose, number: int) -> GuidanceVersion:
    active = _active_number(session, purpose)
    if number == BUILT_IN:
        return GuidanceVersion(purpose=purpose, number=BUILT_IN, active=active == BUILT_IN)
    row = session.get(PromptVersionRow, (purpose, number))
    if row is None:
        raise NotFound(f"The prompt {purpose!r} has no version {number!r}.", hint=f"See `python -m app prompts list {purpose}`.")
    return _of(row, active)


def _of(row: PromptVersionRow, active: int) -> GuidanceVersion:
    return GuidanceVersion.model_validate(
        {
            "purpose": row.purpose,
            "number": row.number,
            "guidance": row.guidance,
            "created_at": row.created_at,
            "author": row.author,
            "note": row.note,
            "active": row.number == active,
        }
    )
