"""Answers that can be changed while their step is open."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the columns. In a class that walks alone each answer is final, and what was skipped is so everywhere."""
    op.add_column("answers", sa.Column("former_ids", sa.Text, nullable=False, server_default="[]"))
    op.add_column("answers", sa.Column("is_final", sa.Boolean, nullable=False, server_default=sa.false()))
    alone = "SELECT id FROM classes WHERE is_guided = FALSE"
    op.execute(f"UPDATE answers SET is_final = TRUE WHERE given = 'null' OR class_id IN ({alone})")
