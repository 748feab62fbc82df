"""A timer for the question that a class is asked."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the column; no class of before has a timer."""
    op.add_column("classes", sa.Column("ends", sa.Double, nullable=True))
