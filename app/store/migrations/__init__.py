"""The schema of `pv.db`, step by step; brought up to date whenever the database is opened."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util.exc import CommandError
from sqlalchemy import Connection

from pipelines.errors import StoreError


def upgrade_to_head(connection: Connection) -> None:
    """Runs the migrations that are missing, all of them in one transaction; another process waits meanwhile.

    Raises:
        StoreError: the database was written by a newer program.
    """
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    head = ScriptDirectory.from_config(config).get_current_head()
    if MigrationContext.configure(connection).get_current_revision() == head:
        connection.rollback()
        return
    connection.rollback()
    connection.execution_options(begin_statement="BEGIN IMMEDIATE")
    config.attributes["connection"] = connection
    try:
        with connection.begin():
            command.upgrade(config, "head")
    except CommandError as exc:
        raise StoreError(
            f"The database has a schema this program does not know: {exc}.", hint="Install the newer program."
        ) from exc
