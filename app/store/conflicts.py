"""Who looks after a conflict of the register, how far that is, and what was noted; joined with the register by its id.

The id depends on entries, sections and values only: it stays while a conflict stays, and goes with it.
"""

from datetime import UTC, datetime
from typing import Literal, get_args

from sqlalchemy import select
from sqlalchemy.orm import Mapped, mapped_column

from app.store.database import Base, Database, UtcTime
from custom_postprocessors.evidence import Frozen
from pipelines.errors import BadInput

CareStatus = Literal["open", "in_progress", "done"]
CARE_STATUSES: tuple[CareStatus, ...] = get_args(CareStatus)
MAX_NOTE_CHARACTERS = 2000


class ConflictCareRow(Base):
    """What is known of one conflict beside the register."""

    __tablename__ = "conflict_care"

    conflict_id: Mapped[str] = mapped_column(primary_key=True)
    quantity: Mapped[str]
    owner: Mapped[str]
    status: Mapped[str]
    note: Mapped[str]
    changed_by: Mapped[str]
    changed_at: Mapped[datetime] = mapped_column(UtcTime)


class ConflictCare(Frozen):
    """Owner, status and note of one conflict."""

    conflict_id: str
    quantity: str = ""
    owner: str = ""
    status: CareStatus = "open"
    note: str = ""
    changed_by: str = ""
    changed_at: datetime | None = None


class ConflictCares:
    """The care of the conflicts of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> dict[str, ConflictCare]:
        """By conflict id; also of conflicts that the register no longer has."""
        with self._database.read() as session:
            rows = session.scalars(select(ConflictCareRow).order_by(ConflictCareRow.conflict_id))
            return {row.conflict_id: ConflictCare.model_validate(row, from_attributes=True) for row in rows}

    def of(self, conflict_id: str) -> ConflictCare:
        """Of one conflict; open and without owner when nobody has touched it."""
        return self.all().get(conflict_id, ConflictCare(conflict_id=conflict_id))

    def set(
        self,
        conflict_id: str,
        quantity: str,
        *,
        by: str,
        owner: str | None = None,
        status: CareStatus | None = None,
        note: str | None = None,
    ) -> ConflictCare:
        """Changes what is given; the caller has made sure that the register has this conflict.

        Raises:
            BadInput: the note or the owner is too long.
        """
        if len(note or "") > MAX_NOTE_CHARACTERS or len(owner or "") > 100:
            raise BadInput("Notiz oder Name ist zu lang.", hint=f"Erlaubt sind {MAX_NOTE_CHARACTERS} und 100 Zeichen.")
        with self._database.write() as session:
            row = session.get(ConflictCareRow, conflict_id)
            if row is None:
                row = ConflictCareRow(conflict_id=conflict_id, owner="", status="open", note="")
                session.add(row)
            row.quantity = quantity
            row.owner = row.owner if owner is None else owner.strip()
            row.status = status or row.status
            row.note = row.note if note is None else note.strip()
            row.changed_by, row.changed_at = by, datetime.now(UTC)
            session.flush()
            return ConflictCare.model_validate(row, from_attributes=True)
