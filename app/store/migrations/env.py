"""Alembic's entry point: it is given an open connection with a transaction and runs the migrations in it."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=True)
context.run_migrations()
