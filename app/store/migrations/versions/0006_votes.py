"""Votes of people who compared answers of models."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Creates the table of votes."""
    op.create_table(
        "votes",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("comparison_id", sa.String, nullable=False),
        sa.Column("criterion", sa.String, nullable=False),
        sa.Column("models", sa.JSON, nullable=False),
        sa.Column("outcome", sa.String, nullable=False),
        sa.Column("best", sa.String),
        sa.Column("blind", sa.Boolean, nullable=False),
        sa.Column("question", sa.String),
        sa.Column("index_version", sa.String, nullable=False),
        sa.Column("author", sa.String, nullable=False),
        sa.Column("created_at", sa.Integer, nullable=False),
        sa.UniqueConstraint("comparison_id", "criterion"),
    )
