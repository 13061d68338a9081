"""Ratings, comments, reported gaps."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Creates the tables of what readers say about outcomes."""
    op.create_table(
        "ratings",
        sa.Column("request_id", sa.String, sa.ForeignKey("audit.request_id"), primary_key=True),
        sa.Column("up", sa.Boolean, nullable=False),
        sa.Column("text", sa.String),
        sa.Column("author", sa.String, nullable=False),
        sa.Column("created_at", sa.Integer, nullable=False),
    )
    op.create_table(
        "comments",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("request_id", sa.String, sa.ForeignKey("audit.request_id"), nullable=False, index=True),
        sa.Column("text", sa.String),
        sa.Column("author", sa.String, nullable=False),
        sa.Column("created_at", sa.Integer, nullable=False),
    )
    op.create_table(
        "gaps",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("request_id", sa.String, sa.ForeignKey("audit.request_id"), nullable=False, unique=True),
        sa.Column("question", sa.String),
        sa.Column("note", sa.String),
        sa.Column("owner", sa.String, nullable=False),
        sa.Column("status", sa.String, nullable=False),
        sa.Column("reported_by", sa.String, nullable=False),
        sa.Column("created_at", sa.Integer, nullable=False),
        sa.Column("changed_at", sa.Integer, nullable=False),
    )
