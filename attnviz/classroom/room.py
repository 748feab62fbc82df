"""A class together: what its pages may ask for. Knows no page.

Every refusal is a `ClassroomError`, one sentence to be shown as it is; a `ClassGoneError` among them says that there is
no such class or member (any more), a `StoreError` that nothing was saved and the same call may be made again.
"""

from collections.abc import Callable
from typing import Any

from attnviz.classroom.state import ClassVersion, Joined, MemberView, Receipt, TeacherKey, TeacherView
from attnviz.lessons.lesson import Lesson, Link
from attnviz.lessons.picture import Picture
from attnviz.lessons.question import Question

RunPicture = Callable[[Link | None], Picture | None]


class Classroom:
    """All classes of one database. Safe to be called from any thread; two processes may share a database."""

    def start(self, lesson: Lesson, *, is_guided: bool = True, address: str = "") -> TeacherKey:
        """A new class on a lesson; its first step is closed. `address` is whence it is asked for."""
        raise NotImplementedError

    def ask_the_room(self, question: Question, link: Link | None, *, address: str = "") -> TeacherKey:
        """A new class on a single question about the picture that a link shows."""
        raise NotImplementedError

    def version(self, code: str) -> ClassVersion:
        """Whether there is news of a class: cheap, to be asked once a second by every page."""
        raise NotImplementedError

    # Students.

    def join(self, code: str, nickname: str, *, address: str = "") -> Joined:
        """A new member. Spaces, hyphens and small letters in the code do not matter."""
        raise NotImplementedError

    def heartbeat(self, token: str) -> ClassVersion:
        """That a student's screen is there; once a second. Writes seldom."""
        raise NotImplementedError

    def seen_by(self, token: str, at: int | None = None) -> MemberView:
        """What a student may see. In a class that walks alone `at` is the step that they go to; None stays."""
        raise NotImplementedError

    def picture(self, token: str) -> Picture | None:
        """The run of the student's step, for the server alone: it holds what is right."""
        raise NotImplementedError

    def answer(self, token: str, at: int, given: Any, *, client_id: str) -> Receipt:
        """Save an answer to step `at` in the round that is open; when this returns it is on the disk. `given` is as
        `attnviz.lessons.scoring` has it. The same `client_id` again gives the same receipt.
        """
        raise NotImplementedError

    def skip(self, token: str, at: int) -> None:
        """In a class that walks alone: show what is right without an answer, which is counted."""
        raise NotImplementedError

    def leave(self, token: str) -> None:
        """The student goes, and with them their nickname and answers."""
        raise NotImplementedError

    # The teacher.

    def taught_by(self, key: TeacherKey, at: int | None = None) -> TeacherView:
        """What the teacher may see; of step `at`, or of that which the class is at."""
        raise NotImplementedError

    def go(self, key: TeacherKey, at: int) -> None:
        """The class goes to a step, which is open from then on unless it was closed or revealed before."""
        raise NotImplementedError

    def open(self, key: TeacherKey) -> None:
        """The class's step takes answers. Refused once it is revealed."""
        raise NotImplementedError

    def close(self, key: TeacherKey) -> None:
        """The class's step takes no answers."""
        raise NotImplementedError

    def ask_again(self, key: TeacherKey) -> None:
        """A second round: the step is open once more, after the explanation. Refused once it is revealed."""
        raise NotImplementedError

    def reveal(self, key: TeacherKey) -> None:
        """Everybody sees what is right."""
        raise NotImplementedError

    def guide(self, key: TeacherKey, *, is_guided: bool) -> None:
        """Walk together, or let everybody walk alone and see what is right after each own answer."""
        raise NotImplementedError

    def remove(self, key: TeacherKey, member: int) -> None:
        """Remove a member with their answers, as for a nickname that nobody wants to see."""
        raise NotImplementedError

    def end(self, key: TeacherKey) -> None:
        """No more answers and members; what there is can be seen until it expires."""
        raise NotImplementedError

    def csv(self, key: TeacherKey) -> bytes:
        """Every answer as a line, UTF-8; no cell is read as a formula by a spreadsheet."""
        raise NotImplementedError

    def purge(self, key: TeacherKey) -> None:
        """Delete the class, its members and answers, now."""
        raise NotImplementedError
