"""The class's step as this visitor may see it. Students' screens open the step that the class is at."""

from dataclasses import replace

import streamlit as st

from attnviz.app.address import navigation
from attnviz.app.frame.page import current_page
from attnviz.classroom.errors import ClassGoneError, ClassroomError
from attnviz.classroom.page import live, seat
from attnviz.classroom.page.seat import CLASS, Seat
from attnviz.classroom.state import CLOSED, REVEALED, MemberView, Receipt, TeacherView
from attnviz.lessons.lesson import Lesson, Link
from attnviz.lessons.page import answer_drafts, open_lesson, step_navigation, windows
from attnviz.lessons.page.open_lesson import OpenedLesson, Progress
from attnviz.lessons.page.wording import translate

HOME = "Class"
_VIEW, _PLACE = "_attnviz_class_view", "_attnviz_class_place"


def begin() -> None:
    """Read at which step the class is; the next run of the page opens that step. Call this early in each run.

    While the database is unreachable, the last view is used, so that nothing typed is lost.
    """
    own = seat.current_seat()
    try:
        found = None if own is None else _read(own)
    except ClassGoneError as gone:
        assert own is not None  # only a visitor with a seat can be gone
        seat.give_up(own)
        say(translate(gone))
        found = None
    except ClassroomError as problem:
        say(translate(problem))
        found = view() if own is not None else None
    st.session_state[_VIEW] = found
    open_lesson.follow(None if found is None else _step(found))
    if isinstance(found, MemberView):
        _fill(found)
    if windows.is_panel():
        return
    if isinstance(found, MemberView):
        _go_along(found)
    elif isinstance(found, TeacherView) and windows.is_beside():
        _teacher_along(found)


def _read(own: Seat) -> MemberView | TeacherView:
    return live.member_view(own) if own.role == seat.STUDENT else live.teacher_view(own)


def _fill(found: MemberView) -> None:
    """Fill the question's empty fields, for instance after a reload, with the saved answer, so that it can be
    changed.
    """
    now = open_lesson.open_lesson()
    if found.may_answer and found.given is not None and now is not None and now.question is not None:
        answer_drafts.fill(now, now.question, found.given)


def _step(found: MemberView | TeacherView) -> tuple[OpenedLesson, Progress]:
    return _student_step(found) if isinstance(found, MemberView) else _teacher_step(found)


def view() -> MemberView | TeacherView | None:
    """Return the view that `begin` has read; None for a visitor without a seat, or if the class cannot be read."""
    found = st.session_state.get(_VIEW)
    return found if found is not None and found.code == seat.code() else None


def note_answer(found: MemberView, saved: Receipt) -> None:
    """Store this visitor's saved answer in the view `found`, in which nothing else has changed."""
    st.session_state[_VIEW] = replace(found, given=saved.given, has_answered=True)


def is_waiting(found: MemberView) -> bool:
    """Check whether a student waits for the teacher to open the step."""
    return found.is_guided and found.state == CLOSED and not found.has_answered


def say(sentence: str) -> None:
    """Add a sentence about the class to the page's notes."""
    current_page().add(sentence)


def address(code: str, link: Link | None) -> tuple[str, dict[str, str]]:
    """Return the page that shows a step's link, and the parameters of its address."""
    place = {CLASS: code}
    return (
        (HOME, place)
        if link is None
        else (link.page, {name: text for name, text in link.texts.items() if text} | place)
    )


def show_step(found: TeacherView) -> None:
    """Move the teacher's screen to the picture of the class's step."""
    navigation.send(*teacher_address(found.code, found.lesson, found.class_at, is_revealed=found.state == REVEALED))


def teacher_address(code: str, lesson: Lesson, at: int, *, is_revealed: bool) -> tuple[str, dict[str, str]]:
    """Return a step's page and address without the texts that a projector must not show before the reveal."""
    link = lesson.picture(at)
    if link is None:
        return HOME, {CLASS: code}
    question = None if is_revealed else lesson.steps[at].question
    return link.page, step_navigation.texts_of(link, question) | {CLASS: code}


def _go_along(found: MemberView) -> None:
    """Open the class's picture on a student's screen once for each opened step and round, and for each reveal."""
    if is_waiting(found):
        return
    moment = f"{found.at} {found.round} {found.is_revealed if found.is_guided else ''}"
    if _is_new(found.code, moment, *address(found.code, found.link)):
        show(found)


def show(found: MemberView) -> None:
    """Move the student's screen to the picture of the class's step."""
    navigation.send(*address(found.code, found.link))


def _teacher_along(found: TeacherView) -> None:
    """Open the class's new step in the teacher's picture window, when the controls are in another window."""
    is_first = _PLACE not in st.session_state
    where = teacher_address(found.code, found.lesson, found.class_at, is_revealed=found.state == REVEALED)
    if _is_new(found.code, str(found.class_at), *where) and not is_first:
        show_step(found)


def _is_new(code: str, moment: str, page: str, query: dict[str, str]) -> bool:
    """Check whether the class has moved to another step or round since this function was last called."""
    place, before = (code, moment, page, tuple(sorted(query.items()))), st.session_state.get(_PLACE)
    st.session_state[_PLACE] = place
    return place != before


def _student_step(found: MemberView) -> tuple[OpenedLesson, Progress]:
    """Return the student's step as a lesson with a single step. Each round has its own name, and so its own fields."""
    step = replace(found.step, link=found.link)
    lesson = Lesson(f"{found.code}-{found.at}-{found.round}", found.title, 1, "", found.language, (step,))
    marked = found.marked if found.is_revealed else None
    did = Progress(found.given, found.truth, marked, is_skipped=found.is_revealed and marked is None, rungs=found.rungs)
    did.is_closed, did.awaits_reveal = not found.may_answer, found.is_guided
    return OpenedLesson(lesson, 0), did


def _teacher_step(found: TeacherView) -> tuple[OpenedLesson, Progress]:
    lesson = replace(found.lesson, name=f"{found.code}-taught")
    did = Progress(truth=found.truth, is_skipped=found.state == REVEALED, awaits_reveal=True)
    return OpenedLesson(lesson, found.class_at), did
