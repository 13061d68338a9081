"""Documents and their versions, folder runs, jobs, audit chain."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_REFUSE_CHANGES = """
CREATE TRIGGER document_versions_{verb} BEFORE {verb} ON document_versions
BEGIN SELECT RAISE(ABORT, 'document versions are immutable'); END
"""
_REFUSE_AUDIT_DELETE = """
CREATE TRIGGER audit_delete BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END
"""
_REFUSE_AUDIT_UPDATE = """
CREATE TRIGGER audit_update BEFORE UPDATE ON audit
WHEN NEW.content IS NOT NULL OR NEW.sequence IS NOT OLD.sequence OR NEW.request_id IS NOT OLD.request_id
  OR NEW.created_at IS NOT OLD.created_at OR NEW.meta IS NOT OLD.meta OR NEW.content_hash IS NOT OLD.content_hash
  OR NEW.previous_hash IS NOT OLD.previous_hash OR NEW.row_hash IS NOT OLD.row_hash
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END
"""


def upgrade() -> None:
    """Creates every table of the first schema, and the triggers that keep what must not change."""
    _create_catalogue()
    _create_jobs()
    _create_audit()


def _create_catalogue() -> None:
    op.create_table(
        "documents",
        sa.Column("entry_id", sa.String, primary_key=True),
        sa.Column("active_version", sa.Integer),
        sa.Column("folder_hash", sa.String),
        sa.Column("kept_hash", sa.String),
        sa.ForeignKeyConstraint(["entry_id", "active_version"], ["document_versions.entry_id", "document_versions.number"]),
    )
    op.create_table(
        "document_versions",
        sa.Column("entry_id", sa.String, sa.ForeignKey("documents.entry_id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("content", sa.String, nullable=False),
        sa.Column("content_hash", sa.String, nullable=False),
        sa.Column("created_at", sa.Integer, nullable=False),
        sa.Column("author", sa.String, nullable=False),
        sa.Column("note", sa.String, nullable=False),
        sa.Column("origin", sa.String, nullable=False),
    )
    for verb in ("UPDATE", "DELETE"):
        op.execute(_REFUSE_CHANGES.format(verb=verb))
    op.create_table(
        "activations",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("entry_id", sa.String, sa.ForeignKey("documents.entry_id"), nullable=False, index=True),
        sa.Column("number", sa.Integer),
        sa.Column("created_at", sa.Integer, nullable=False),
        sa.Column("author", sa.String, nullable=False),
        sa.Column("note", sa.String, nullable=False),
    )
    op.create_table(
        "folder_runs",
        sa.Column("folder", sa.String, primary_key=True),
        sa.Column("folder_hash", sa.String, nullable=False),
        sa.Column("state_hash", sa.String, nullable=False),
        sa.Column("report", sa.String, nullable=False),
    )


def _create_jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("state", sa.String, nullable=False, index=True),
        sa.Column("requested_by", sa.String, nullable=False),
        sa.Column("reason", sa.String, nullable=False),
        sa.Column("arguments", sa.JSON, nullable=False),
        sa.Column("created_at", sa.Integer, nullable=False),
        sa.Column("started_at", sa.Integer),
        sa.Column("finished_at", sa.Integer),
        sa.Column("process", sa.String),
        sa.Column("stage", sa.String, nullable=False),
        sa.Column("done", sa.Integer, nullable=False),
        sa.Column("total", sa.Integer, nullable=False),
        sa.Column("result", sa.JSON),
        sa.Column("error", sa.String),
    )


def _create_audit() -> None:
    op.create_table(
        "audit",
        sa.Column("sequence", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("request_id", sa.String, nullable=False, unique=True),
        sa.Column("created_at", sa.Integer, nullable=False, index=True),
        sa.Column("meta", sa.String, nullable=False),
        sa.Column("content", sa.String),
        sa.Column("content_hash", sa.String),
        sa.Column("previous_hash", sa.String, nullable=False),
        sa.Column("row_hash", sa.String, nullable=False),
    )
    op.create_table(
        "audit_head",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("rows", sa.Integer, nullable=False),
        sa.Column("row_hash", sa.String, nullable=False),
    )
    op.execute(_REFUSE_AUDIT_DELETE)
    op.execute(_REFUSE_AUDIT_UPDATE)
