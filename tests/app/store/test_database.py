import importlib
import pkgutil
import sqlite3
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine, text

import app.store
from app.store import documents
from app.store.database import Base, Database
from app.store.documents import Catalogue, Change
from pipelines.errors import StoreError

for module in pkgutil.iter_modules(app.store.__path__):
    importlib.import_module(f"app.store.{module.name}")


def test_migrations_make_exactly_the_declared_tables(tmp_path: Path) -> None:
    Database(tmp_path).close()
    engine = create_engine(f"sqlite:///{tmp_path / 'pv.db'}")
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []
    engine.dispose()
    assert {"audit", "documents", "jobs", "tags", "prompt_versions", "endpoint_versions"} <= set(Base.metadata.tables)


def test_is_durable_and_opens_twice(tmp_path: Path) -> None:
    first, second = Database(tmp_path), Database(tmp_path)
    with first.read() as session:
        pragmas = [session.scalar(text(f"PRAGMA {name}")) for name in ("journal_mode", "synchronous", "foreign_keys")]
    assert pragmas == ["wal", 2, 1]
    with second.read() as session:
        assert session.scalar(text("SELECT count(*) FROM documents")) == 0
    first.close()
    second.close()


def test_a_failed_transaction_has_no_effect(tmp_path: Path) -> None:
    database = Database(tmp_path)

    def write_and_fail() -> None:
        with database.write() as session:
            documents.add_version(session, "pv-a-01", "x", Change("editor"), origin="upload")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_and_fail()
    assert Catalogue(database).documents() == ()
    database.close()


def test_a_writer_waits_for_the_other_and_a_reader_does_not(tmp_path: Path) -> None:
    database = Database(tmp_path)
    catalogue = Catalogue(database)
    with database.write() as session:
        documents.add_version(session, "pv-a-01", "x", Change("editor"), origin="upload")
        assert catalogue.documents() == ()
        other = sqlite3.connect(tmp_path / "pv.db", timeout=0.1)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
        other.close()
    assert [d.entry_id for d in catalogue.documents()] == ["pv-a-01"]
    database.close()


def test_a_database_of_a_newer_program_is_refused(tmp_path: Path) -> None:
    Database(tmp_path).close()
    with sqlite3.connect(tmp_path / "pv.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    with pytest.raises(StoreError, match="newer program"):
        Database(tmp_path)


def test_a_file_that_is_no_database_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "pv.db").write_text("not a database, but long enough to be read as one" * 20, encoding="utf-8")
    with pytest.raises(StoreError, match="could not be used"):
        Database(tmp_path)


def test_an_impossible_folder_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(StoreError, match="cannot be made"):
        Database(tmp_path / "file" / "data")


def test_moments_come_back_in_utc_to_the_microsecond(tmp_path: Path) -> None:
    database = Database(tmp_path)
    moment = datetime(2026, 3, 29, 2, 30, 0, 123457, tzinfo=timezone(timedelta(hours=2)))
    catalogue = Catalogue(database)
    catalogue.add_version("pv-a-01", "x", Change("editor", at=moment), origin="upload")
    assert catalogue.versions("pv-a-01")[0].created_at == moment.astimezone(UTC)
    database.close()


def test_a_moment_without_time_zone_is_refused(tmp_path: Path) -> None:
    database = Database(tmp_path)
    with pytest.raises(Exception, match="time zone"):
        Catalogue(database).add_version("pv-a-01", "x", Change("e", at=datetime(2026, 1, 1)), origin="upload")
    database.close()
