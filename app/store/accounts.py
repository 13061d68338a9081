"""Accounts of people and their sessions; of passwords and session tokens only hashes are kept."""

import hashlib
import secrets
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from sqlalchemy import JSON, ForeignKey, delete, func, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.access.keys import ENVIRONMENT_KEY, LOCAL_CALLER
from app.access.passwords import fits, hash_password
from app.access.person import LOCAL_PERSON, ROLES, Person, Role
from app.store.database import Base, Database, UtcTime
from custom_postprocessors.evidence import Frozen
from pipelines.errors import BadInput, NotFound

MAX_NAME_CHARACTERS = 60
TOKEN_BYTES = 32
_RESERVED = frozenset({LOCAL_PERSON.name, LOCAL_CALLER, ENVIRONMENT_KEY, "serve"})


class AccountRow(Base):
    """One account. A name is used once, so that it always says whose rating or version it was."""

    __tablename__ = "accounts"

    name: Mapped[str] = mapped_column(primary_key=True)
    roles: Mapped[list[str]] = mapped_column(JSON)
    password: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    removed_at: Mapped[datetime | None] = mapped_column(UtcTime)


class SessionRow(Base):
    """One login; its primary key is the SHA-256 of the token that the browser has."""

    __tablename__ = "sessions"

    token_hash: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(ForeignKey("accounts.name"), index=True)
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    expires_at: Mapped[datetime] = mapped_column(UtcTime)


class Account(Frozen):
    """An account without its password; `removed_at` None: its owner may log in."""

    name: str
    roles: tuple[Role, ...]
    created_at: datetime
    removed_at: datetime | None


class Accounts:
    """The accounts of one database; every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, name: str, password: str, roles: Iterable[Role]) -> None:
        """Makes an account; its owner may log in at once.

        Raises:
            BadInput: the name is empty, too long, reserved or was used before; no role is given; the password is too short
                or too long.
        """
        name = name.strip()
        if not 1 <= len(name) <= MAX_NAME_CHARACTERS or not name.isprintable():
            raise BadInput(f"Account name {name!r} is not usable.", hint=f"Use 1 to {MAX_NAME_CHARACTERS} printable characters.")
        if name.casefold() in _RESERVED:
            raise BadInput(f"Account name {name!r} is reserved.", hint="Choose another name.")
        granted = _in_order(roles)
        row = AccountRow(
            name=name, roles=granted, password=hash_password(password), created_at=datetime.now(UTC), removed_at=None
        )
        with self._database.write() as session:
            if session.get(AccountRow, name) is not None:
                raise BadInput(f"There is or was an account {name!r}.", hint="Choose another name.")
            session.add(row)

    def set_password(self, name: str, password: str) -> None:
        """Replaces the password and ends every session of the account.

        Raises:
            NotFound: there is no such account.
            BadInput: the password is too short or too long.
        """
        kept = hash_password(password)
        with self._database.write() as session:
            _existing(session, name).password = kept
            _end_sessions(session, name)

    def set_roles(self, name: str, roles: Iterable[Role]) -> None:
        """Replaces the roles; they count from the next request on.

        Raises:
            NotFound: there is no such account.
            BadInput: no role is given.
        """
        granted = _in_order(roles)
        with self._database.write() as session:
            _existing(session, name).roles = granted

    def remove(self, name: str) -> None:
        """Closes an account for ever and ends its sessions; its name stays with what it did.

        Raises:
            NotFound: there is no such account.
        """
        with self._database.write() as session:
            _existing(session, name).removed_at = datetime.now(UTC)
            _end_sessions(session, name)

    def list(self) -> tuple[Account, ...]:
        """Every account, also removed ones, oldest first."""
        with self._database.read() as session:
            rows = session.scalars(select(AccountRow).order_by(AccountRow.created_at, AccountRow.name))
            return tuple(Account.model_validate(row, from_attributes=True) for row in rows)

    def any(self) -> bool:
        """Whether somebody may log in, so that the interface asks for a login."""
        with self._database.read() as session:
            valid = select(func.count()).select_from(AccountRow).where(AccountRow.removed_at.is_(None))
            return bool(session.scalar(valid))

    def person(self, name: str, password: str) -> Person | None:
        """Whose name and password these are; None when they fit no account. Takes as long whichever is wrong."""
        with self._database.read() as session:
            row = session.get(AccountRow, name)
        valid = row is not None and row.removed_at is None
        if not fits(password, row.password if row is not None and valid else None):
            return None
        return None if row is None else _person(row)

    def begin_session(self, name: str, lifetime: timedelta) -> str:
        """Starts a session and returns its token, which cannot be read again; expired sessions of everybody are forgotten."""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        now = datetime.now(UTC)
        row = SessionRow(token_hash=_hash(token), name=name, created_at=now, expires_at=now + lifetime)
        with self._database.write() as session:
            session.execute(delete(SessionRow).where(SessionRow.expires_at <= now))
            session.add(row)
        return token

    def of_session(self, token: str) -> Person | None:
        """The person of a session with the roles of this moment; None when it has ended or never was."""
        wanted = (
            select(AccountRow)
            .join(SessionRow, SessionRow.name == AccountRow.name)
            .where(
                SessionRow.token_hash == _hash(token),
                SessionRow.expires_at > datetime.now(UTC),
                AccountRow.removed_at.is_(None),
            )
        )
        with self._database.read() as session:
            row = session.scalar(wanted)
            return None if row is None else _person(row)

    def end_session(self, token: str) -> None:
        """Ends a session; one that does not exist is no error."""
        with self._database.write() as session:
            session.execute(delete(SessionRow).where(SessionRow.token_hash == _hash(token)))


def _existing(session: Session, name: str) -> AccountRow:
    row = session.get(AccountRow, name)
    if row is None or row.removed_at is not None:
        raise NotFound(f"There is no account {name!r}.", hint="See `python -m app users list`.")
    return row


def _end_sessions(session: Session, name: str) -> None:
    session.execute(delete(SessionRow).where(SessionRow.name == name))


def _in_order(roles: Iterable[Role]) -> list[str]:
    granted = set(roles)
    if not granted:
        raise BadInput("No role is given.", hint=f"Name at least one of {', '.join(ROLES)}.")
    return [role for role in ROLES if role in granted]


def _person(row: AccountRow) -> Person:
    return Person(row.name, frozenset(role for role in ROLES if role in row.roles))


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
