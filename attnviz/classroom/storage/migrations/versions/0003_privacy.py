"""Classes without nicknames, and texts that the class may see."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the columns: nothing is anonymous or picked so far."""
    op.add_column("classes", sa.Column("is_anonymous", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("answers", sa.Column("is_picked", sa.Boolean, nullable=False, server_default=sa.false()))
