"""The database tables of classes. Times are in seconds since 1970 (UTC), and secrets are stored as hashes."""

from sqlalchemy import Boolean, Double, ForeignKey, Integer, LargeBinary, MetaData, String, Text, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

# Names that a migration can call them by, on every database.
_NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}
_NUMBERED = {"sqlite_autoincrement": True}  # the number of a deleted row is never used again


class Table(DeclarativeBase):
    """The base class of the tables."""

    metadata = MetaData(naming_convention=_NAMES)


class ClassRow(Table):
    """A class. `material` is its lesson as JSON, `step` its current step; `shared` and `news` count its changes.

    If it `is_anonymous`, it has no nicknames. `ends` is the time at which the timer of its open question ends, or null.
    """

    __tablename__ = "classes"
    __table_args__ = _NUMBERED

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    code: Mapped[str] = mapped_column(String(16), unique=True)
    teacher: Mapped[bytes] = mapped_column(LargeBinary)
    material: Mapped[str] = mapped_column(Text)
    is_guided: Mapped[bool] = mapped_column(Boolean)
    is_over: Mapped[bool] = mapped_column(Boolean)
    is_anonymous: Mapped[bool] = mapped_column(Boolean, default=False)
    step: Mapped[int] = mapped_column(Integer)
    shared: Mapped[int] = mapped_column(Integer)
    news: Mapped[int] = mapped_column(Integer)
    created: Mapped[float] = mapped_column(Double)
    expires: Mapped[float] = mapped_column(Double, index=True)
    ends: Mapped[float | None] = mapped_column(Double)


class ClassStepRow(Table):
    """A step that the class has visited: open, closed or revealed, and before or after the explanation."""

    __tablename__ = "class_steps"

    class_id: Mapped[int] = mapped_column(ForeignKey("classes.id", ondelete="CASCADE"), primary_key=True)
    step: Mapped[int] = mapped_column(Integer, primary_key=True)
    state: Mapped[str] = mapped_column(String(16))
    round: Mapped[str] = mapped_column(String(16))


class MemberRow(Table):
    """A student. `folded` is the nickname normalized for comparison, and `token` the hash of the browser's token."""

    __tablename__ = "members"
    __table_args__ = (UniqueConstraint("class_id", "folded"), _NUMBERED)

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    class_id: Mapped[int] = mapped_column(ForeignKey("classes.id", ondelete="CASCADE"))
    nickname: Mapped[str] = mapped_column(String(64))
    folded: Mapped[str] = mapped_column(Text)
    token: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    step: Mapped[int] = mapped_column(Integer)
    joined: Mapped[float] = mapped_column(Double)
    seen: Mapped[float] = mapped_column(Double)


class AnswerRow(Table):
    """An answer: one per member, step and round.

    `given` is JSON, or null for a skipped question, and `score` is from 0 to 1. The class may see a text if it
    `is_picked`. `former_ids` is a JSON list with the client ids of the answers that this one replaced. An answer that
    `is_final` never changes, because the student has seen the right answer.
    """

    __tablename__ = "answers"
    __table_args__ = (UniqueConstraint("member_id", "step", "round"), _NUMBERED)

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    class_id: Mapped[int] = mapped_column(ForeignKey("classes.id", ondelete="CASCADE"), index=True)
    member_id: Mapped[int] = mapped_column(ForeignKey("members.id", ondelete="CASCADE"))
    step: Mapped[int] = mapped_column(Integer)
    round: Mapped[str] = mapped_column(String(16))
    client_id: Mapped[str] = mapped_column(String(64))
    given: Mapped[str] = mapped_column(Text)
    score: Mapped[float | None] = mapped_column(Double)
    saved: Mapped[float] = mapped_column(Double)
    is_picked: Mapped[bool] = mapped_column(Boolean, default=False)
    former_ids: Mapped[str] = mapped_column(Text, default="[]")
    is_final: Mapped[bool] = mapped_column(Boolean, default=False)


class HintRow(Table):
    """The number of hints that a member has opened at a step; there is no row before the first hint."""

    __tablename__ = "hints"

    member_id: Mapped[int] = mapped_column(ForeignKey("members.id", ondelete="CASCADE"), primary_key=True)
    step: Mapped[int] = mapped_column(Integer, primary_key=True)
    rungs: Mapped[int] = mapped_column(Integer)
