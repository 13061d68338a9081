"""Keys of programs: named, of one role, kept only as hashes; withdrawn keys stay on record."""

import secrets
from datetime import UTC, datetime

from sqlalchemy import select
from sqlalchemy.orm import Mapped, mapped_column

from app.access.keys import ENVIRONMENT_KEY, LOCAL_CALLER, Key, KeyRole, digest
from app.store.database import Base, Database, UtcTime
from custom_postprocessors.evidence import Frozen
from pipelines.errors import BadInput, NotFound

SECRET_BYTES = 32
MAX_NAME_CHARACTERS = 60


class KeyRow(Base):
    """One key. A name is used once, so that it always says whose rating or job it was."""

    __tablename__ = "keys"

    name: Mapped[str] = mapped_column(primary_key=True)
    role: Mapped[str]
    digest: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    withdrawn_at: Mapped[datetime | None] = mapped_column(UtcTime)


class StoredKey(Frozen):
    """A key without its secret; `withdrawn_at` None: it is valid."""

    name: str
    role: KeyRole
    created_at: datetime
    withdrawn_at: datetime | None


class KeyStore:
    """The keys of one database; every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, name: str, role: KeyRole) -> str:
        """Makes a key, valid at once, and returns its secret, which cannot be read again.

        Raises:
            BadInput: the name is empty, too long, reserved, or was used before.
        """
        name = name.strip()
        if not 1 <= len(name) <= MAX_NAME_CHARACTERS or not name.isprintable():
            raise BadInput(f"Key name {name!r} is not usable.", hint=f"Use 1 to {MAX_NAME_CHARACTERS} printable characters.")
        if name in (ENVIRONMENT_KEY, LOCAL_CALLER):
            raise BadInput(f"Key name {name!r} is reserved.", hint="Choose another name.")
        secret = secrets.token_urlsafe(SECRET_BYTES)
        row = KeyRow(name=name, role=role, digest=digest(secret).hex(), created_at=datetime.now(UTC), withdrawn_at=None)
        with self._database.write() as session:
            if session.get(KeyRow, name) is not None:
                raise BadInput(f"There is or was a key {name!r}.", hint="Choose another name, e.g. with the year.")
            session.add(row)
        return secret

    def withdraw(self, name: str) -> None:
        """Makes a key invalid for ever.

        Raises:
            NotFound: there is no valid key of this name.
        """
        with self._database.write() as session:
            row = session.get(KeyRow, name)
            if row is None or row.withdrawn_at is not None:
                raise NotFound(f"There is no valid key {name!r}.", hint="See `python -m app keys list`.")
            row.withdrawn_at = datetime.now(UTC)

    def list(self) -> tuple[StoredKey, ...]:
        """Every key, also withdrawn ones, oldest first."""
        with self._database.read() as session:
            rows = session.scalars(select(KeyRow).order_by(KeyRow.created_at, KeyRow.name))
            return tuple(
                StoredKey.model_validate(
                    {"name": row.name, "role": row.role, "created_at": row.created_at, "withdrawn_at": row.withdrawn_at}
                )
                for row in rows
            )

    def valid(self) -> tuple[Key, ...]:
        """The keys that let callers in."""
        with self._database.read() as session:
            rows = session.scalars(select(KeyRow).where(KeyRow.withdrawn_at.is_(None)).order_by(KeyRow.name))
            return tuple(Key(row.name, "admin" if row.role == "admin" else "service", bytes.fromhex(row.digest)) for row in rows)
