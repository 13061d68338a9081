"""`pv.db`: one SQLite file in WAL mode, written in short immediate transactions that are durable when they return."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, Dialect, Engine, Integer, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import DeclarativeBase, Session
from sqlalchemy.types import TypeDecorator

from app.store.migrations import upgrade_to_head
from pipelines.errors import StoreError

DATABASE_FILE = "pv.db"
BUSY_TIMEOUT_SECONDS = 20.0


class Base(DeclarativeBase):
    """Base of every table. A new table also needs a migration in `app/store/migrations/versions/`."""


class UtcTime(TypeDecorator[datetime]):
    """A moment, stored as microseconds since 1970 in UTC, so that order in the database is order in time."""

    impl = Integer
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        """Aware moment to microseconds."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"A moment needs a time zone: {value!r}.")
        delta = value - datetime(1970, 1, 1, tzinfo=UTC)
        return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        """Microseconds to a moment in UTC."""
        if value is None:
            return None
        seconds, microseconds = divmod(value, 1_000_000)
        return datetime.fromtimestamp(seconds, tz=UTC).replace(microsecond=microseconds)


class Database:
    """The open database. Sessions are short: one per unit of work; objects stay readable after it."""

    def __init__(self, data_dir: Path) -> None:
        """Opens `pv.db` under `data_dir`, creates or migrates it.

        Raises:
            StoreError: it cannot be read or written, or a newer program wrote it.
        """
        self.path = data_dir / DATABASE_FILE
        try:
            data_dir.mkdir(parents=True, exist_ok=True)
        except OSError as exc:
            raise StoreError(f"The folder {str(data_dir)!r} cannot be made: {exc.strerror}.", hint="Check PV_DATA_DIR.") from exc
        self._engine = _engine(self.path)
        with self._translated(), self._engine.connect() as connection:
            upgrade_to_head(connection)

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A session that sees one state of the database and writes nothing.

        Raises:
            StoreError: the database cannot be read.
        """
        with self._translated(), Session(self._engine, expire_on_commit=False, autoflush=False) as session:
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A session in an immediate transaction: committed and on disk at the end, or without any effect.

        Raises:
            StoreError: the database cannot be written, e.g. the disk is full or another process holds it too long.
        """
        with self._translated(), Session(self._engine, expire_on_commit=False) as session:
            session.connection(execution_options={"begin_statement": "BEGIN IMMEDIATE"})
            yield session
            session.commit()

    def checkpoint(self) -> None:
        """Empties the write-ahead log into the file, so that deleted content does not stay readable in it; waits for readers.

        Raises:
            StoreError: the database cannot be written.
        """
        with self._translated(), self._engine.connect() as connection:
            connection.exec_driver_sql("COMMIT")
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").close()
            connection.exec_driver_sql("BEGIN")

    def close(self) -> None:
        """Closes every connection."""
        self._engine.dispose()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as exc:
            raise StoreError(
                f"The database {str(self.path)!r} could not be used: {exc.orig}.",
                hint="Check PV_DATA_DIR, its permissions, the free space and other running processes.",
            ) from exc


def _engine(path: Path) -> Engine:
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": BUSY_TIMEOUT_SECONDS, "isolation_level": None})
    event.listen(engine, "connect", _configure)
    event.listen(engine, "begin", _begin)
    return engine


def _configure(connection, record: object) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001 - sqlite3.Connection
    # secure_delete: content that may no longer be kept must not stay readable in free pages.
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin(connection: Connection) -> None:
    # The driver's own transaction handling is off: it would begin late, and a read that turns into a write can fail.
    connection.exec_driver_sql(connection.get_execution_options().get("begin_statement", "BEGIN"))
