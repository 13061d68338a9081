"""Managed tags, versions of prompts and endpoints, who looks after a conflict, and what editors note about a gap."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_REFUSE_CHANGES = """
CREATE TRIGGER {table}_{verb} BEFORE {verb} ON {table}
BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END
"""
_APPEND_ONLY = ("tag_events", "prompt_versions", "prompt_activations", "endpoint_versions", "endpoint_activations")


def upgrade() -> None:
    """Creates the tables, and the triggers that keep histories as they are."""
    _create_tags()
    _create_prompts()
    _create_endpoints()
    op.create_table(
        "conflict_care",
        sa.Column("conflict_id", sa.String, primary_key=True),
        sa.Column("quantity", sa.String, nullable=False),
        sa.Column("owner", sa.String, nullable=False),
        sa.Column("status", sa.String, nullable=False),
        sa.Column("note", sa.String, nullable=False),
        sa.Column("changed_by", sa.String, nullable=False),
        sa.Column("changed_at", sa.Integer, nullable=False),
    )
    op.add_column("gaps", sa.Column("remark", sa.String, nullable=False, server_default=""))
    for table in _APPEND_ONLY:
        for verb in ("UPDATE", "DELETE"):
            op.execute(_REFUSE_CHANGES.format(table=table, verb=verb))


def _create_tags() -> None:
    op.create_table(
        "tags",
        sa.Column("key", sa.String, primary_key=True),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("created_at", sa.Integer, nullable=False),
        sa.Column("created_by", sa.String, nullable=False),
    )
    op.create_table(
        "tag_entries",
        sa.Column("tag_key", sa.String, sa.ForeignKey("tags.key"), primary_key=True),
        sa.Column("entry_id", sa.String, sa.ForeignKey("documents.entry_id"), primary_key=True),
        sa.Column("created_at", sa.Integer, nullable=False),
        sa.Column("created_by", sa.String, nullable=False),
    )
    op.create_table(
        "tag_events",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("created_at", sa.Integer, nullable=False),
        sa.Column("author", sa.String, nullable=False),
        sa.Column("action", sa.String, nullable=False),
        sa.Column("tag", sa.String, nullable=False),
        sa.Column("detail", sa.String, nullable=False),
    )


def _create_prompts() -> None:
    op.create_table(
        "prompt_versions",
        sa.Column("purpose", sa.String, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("guidance", sa.String, nullable=False),
        sa.Column("created_at", sa.Integer, nullable=False),
        sa.Column("author", sa.String, nullable=False),
        sa.Column("note", sa.String, nullable=False),
    )
    op.create_table(
        "prompt_activations",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("purpose", sa.String, nullable=False, index=True),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("created_at", sa.Integer, nullable=False),
        sa.Column("author", sa.String, nullable=False),
        sa.Column("note", sa.String, nullable=False),
    )


def _create_endpoints() -> None:
    op.create_table(
        "endpoint_versions",
        sa.Column("name", sa.String, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("url", sa.String, nullable=False),
        sa.Column("model", sa.String, nullable=False),
        sa.Column("created_at", sa.Integer, nullable=False),
        sa.Column("author", sa.String, nullable=False),
        sa.Column("note", sa.String, nullable=False),
    )
    op.create_table(
        "endpoint_activations",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("created_at", sa.Integer, nullable=False),
        sa.Column("author", sa.String, nullable=False),
        sa.Column("note", sa.String, nullable=False),
    )
