"""The tables of release 1.0: classes, their steps, members, answers and hints.

The revision is called 0005 because release 1.0 wrote this name into its databases.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "classes",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("code", sa.String(16), nullable=False, unique=True),
        sa.Column("teacher", sa.LargeBinary, nullable=False),
        sa.Column("material", sa.Text, nullable=False),
        sa.Column("is_guided", sa.Boolean, nullable=False),
        sa.Column("is_over", sa.Boolean, nullable=False),
        sa.Column("step", sa.Integer, nullable=False),
        sa.Column("shared", sa.Integer, nullable=False),
        sa.Column("news", sa.Integer, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("expires", sa.Double, nullable=False, index=True),
        sa.Column("is_anonymous", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("ends", sa.Double),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "class_steps",
        sa.Column("class_id", sa.Integer, sa.ForeignKey("classes.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("step", sa.Integer, primary_key=True),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("round", sa.String(16), nullable=False),
    )
    op.create_table(
        "members",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("class_id", sa.Integer, sa.ForeignKey("classes.id", ondelete="CASCADE"), nullable=False),
        sa.Column("nickname", sa.String(64), nullable=False),
        sa.Column("folded", sa.Text, nullable=False),
        sa.Column("token", sa.LargeBinary, nullable=False, unique=True),
        sa.Column("step", sa.Integer, nullable=False),
        sa.Column("joined", sa.Double, nullable=False),
        sa.Column("seen", sa.Double, nullable=False),
        sa.UniqueConstraint("class_id", "folded"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "answers",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("class_id", sa.Integer, sa.ForeignKey("classes.id", ondelete="CASCADE"), nullable=False, index=True),
        sa.Column("member_id", sa.Integer, sa.ForeignKey("members.id", ondelete="CASCADE"), nullable=False),
        sa.Column("step", sa.Integer, nullable=False),
        sa.Column("round", sa.String(16), nullable=False),
        sa.Column("client_id", sa.String(64), nullable=False),
        sa.Column("given", sa.Text, nullable=False),
        sa.Column("score", sa.Double),
        sa.Column("saved", sa.Double, nullable=False),
        sa.Column("is_picked", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("former_ids", sa.Text, nullable=False, server_default="[]"),
        sa.Column("is_final", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.UniqueConstraint("member_id", "step", "round"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "hints",
        sa.Column("member_id", sa.Integer, sa.ForeignKey("members.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("step", sa.Integer, primary_key=True),
        sa.Column("rungs", sa.Integer, nullable=False),
    )
