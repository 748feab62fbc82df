"""The page Class: the form to join, a student's waiting room, or the teacher's console."""

from functools import partial

import streamlit as st

from attnviz.app.address import persistent
from attnviz.app.markdown import literal
from attnviz.classroom.codes import format_code
from attnviz.classroom.errors import ClassroomError
from attnviz.classroom.page import console, following, live, seat, student
from attnviz.classroom.page.room import room
from attnviz.classroom.page.seat import CLASS, STUDENT, Seat
from attnviz.classroom.state import MemberView
from attnviz.lessons.page import companion, windows
from attnviz.lessons.page.wording import phrase, translate
from attnviz.lessons.phrases import sentence

_CODE, _NAME, _SAID = "class-code", "class-nickname", "_attnviz_join_said"


def bar() -> None:
    """Draw the sentence that this page shows in its top bar."""
    st.markdown(phrase("**Class** · Take a lesson or answer a question together. No account needed."))


def draw() -> None:
    """Draw the form to join, a student's panel, or the teacher's console."""
    seat.draw()
    own, found = seat.current_seat(), following.view()
    if own is None or found is None:
        if own is not None:  # the class cannot be read just now
            live.watch(own)
        with st.container(key="lesson-alone"):
            _draw_join_form()
        return
    if isinstance(found, MemberView):
        live.watch(own)
        with st.container(key="lesson-alone"), companion.linked_windows(partial(following.show, found)):
            student.draw(own, found)
    elif windows.is_panel():
        with companion.linked_windows(partial(following.show_step, found)):
            companion.button()
            console.draw(own, found)
    else:
        console.draw(own, found)


def _draw_join_form() -> None:
    """Draw the form that joins a class. A code from the link is filled in."""
    linked = seat.code()
    st.markdown(f"#### {phrase('Join a class')}")
    try:
        days = room().keep_days
    except ClassroomError as problem:
        st.error(literal(translate(problem)), icon=":material/error:")
        return
    with st.form("class-join"):
        st.text_input(
            phrase("Code, from your teacher"),
            value=format_code(linked) if linked else persistent.text(CLASS)[:100],
            key=_CODE,
            autocomplete="off",
            placeholder=phrase("such as BCDF GHJK"),
        )
        st.text_input(
            phrase("Nickname"),
            key=_NAME,
            autocomplete="off",
            placeholder=phrase("the name that your teacher sees; none in a class without nicknames"),
        )
        st.caption(_stored_sentence(days))
        st.form_submit_button(phrase("Join"), type="primary", width="stretch", on_click=_join)
    if said := st.session_state.get(_SAID):
        st.error(literal(translate(said)), icon=":material/error:")
    for own in seat.all_taken():
        code = format_code(own.code)
        is_teacher = own.role == seat.TEACHER
        name = phrase("Go on teaching {code}", code=code) if is_teacher else phrase("Go on with {code}", code=code)
        st.button(name, key=f"class-on-{own.code}", on_click=persistent.write, args=({CLASS: own.code},))
    st.caption(
        phrase("Teaching? Start a class on a lesson (page **Lessons**), or **Ask the room** on any page, in the menu.")
    )


def _stored_sentence(days: float) -> str:
    """Return the text that says what a class stores about its students, and for how long."""
    return phrase(
        "What is stored: your nickname, your answers and their times, how many hints you opened, and "
        "which step you see. Nothing else, and no account. Your teacher sees your nickname beside "
        "your answers. Other students see it only if your teacher shows the list of nicknames on the "
        "screen, and never beside an answer; they see a text of yours only if your teacher picks it. "
        "In a class without nicknames, no nickname is stored. All of this will be deleted when the "
        "teacher deletes the class, or at the latest {days} days after the class began.",
        days=f"{days:g}",
    )


def _join() -> None:
    """Join the class in the form. A refusal is shown below the form, and typed texts stay."""
    st.session_state[_SAID] = ""
    try:
        joined = room().students.join(
            st.session_state[_CODE], st.session_state[_NAME], address=st.context.ip_address or ""
        )  # fmt: skip
    except ClassroomError as refusal:
        st.session_state[_SAID] = sentence(refusal)
        return
    seat.take(Seat(joined.code, STUDENT, joined.token))
    persistent.write({CLASS: joined.code})
