"""The teacher's screen: the question, the answers once they are revealed, the members, and the end of the class."""

import html
from urllib.parse import urlsplit

import segno
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.app import hosting
from attnviz.app.address import persistent
from attnviz.app.address.navigation import origin
from attnviz.app.markdown import literal
from attnviz.classroom.codes import format_code
from attnviz.classroom.errors import ClassroomError
from attnviz.classroom.page import following, live, rehearsing, results, seat, teacher
from attnviz.classroom.page.dates import day
from attnviz.classroom.page.room import teachers
from attnviz.classroom.page.seat import CLASS, Seat
from attnviz.classroom.state import AFTER, BEFORE, CLOSED, REVEALED, MemberLine, TeacherView
from attnviz.lessons.lesson import LessonStep
from attnviz.lessons.page import windows
from attnviz.lessons.question import Question

_OWN_NAMES = ("localhost", "127.", "0.0.0.0", "[::1]")  # each computer's own names for itself
_NAMES, _ANONYMOUS = "class-names", "class-anonymous"


def draw(own: Seat, found: TeacherView) -> None:
    """Draw what the class sees, such as the question, on the left, and the teacher's own controls on the right."""
    stage, side = st.columns([70, 30], gap="medium")
    with stage, st.container(key="class-stage"):
        counts = _stage(own, found)
    with side, st.container(key="class-side"):
        who = _side(own, found)

    def draw_counts(newest: TeacherView) -> None:
        if newest.state != REVEALED:
            with counts:
                teacher.draw_counts(newest)
        who.html(_members(newest))

    live.watch_answers(own, found, draw_counts)


def _stage(own: Seat, found: TeacherView) -> DeltaGenerator:
    """Draw the part of the console that the class sees; return the empty container for the count of answers.

    When the teacher presents the picture, this part fills the window (assets/styles/room.css).
    """
    step = found.lesson.steps[found.class_at]
    if found.is_over:
        st.info("This class has ended. Nobody can join or answer.", icon=":material/flag:")
    title = literal(f"{found.lesson.title} · {found.class_at + 1} of {len(found.lesson.steps)}")
    st.caption(rehearsing.badge(found) + title)
    if _is_lobby(found):
        _draw_invitation(found.code, is_large=True)
    else:
        _draw_question(found, step)
    if not found.is_guided:
        st.info(
            "All students work alone. Each student sees the right answer after giving an answer.",
            icon=":material/hiking:",
        )
    counts = st.container(key="class-counts")
    teacher.controls(own, found)
    if _is_lobby(found) and step.question is not None:
        with st.container(key="class-opens"):
            st.caption(literal(f"Open asks: {step.question.ask} ({step.title})"))
    if found.problem:
        st.warning(literal(found.problem), icon=":material/error:")
    if step.question is not None and _shows_answers(found):
        with st.container(key="class-told"):
            results.draw(found, step.question)
    return counts


def _draw_question(found: TeacherView, step: LessonStep) -> None:
    """Draw the step with the invitation beside it. After the reveal, draw the question alone above the answers."""
    is_told = found.state == REVEALED
    with st.container(key="class-asked"):
        with st.container(key="class-question"):
            if not (is_told and step.question):
                with st.container(key="class-text"):
                    st.markdown(f"### {step.title}\n\n{step.text}")
            if step.question is not None:
                st.markdown(f"### {literal(step.question.ask)}")
                _options(step.question, is_told=is_told)
        if _invites_beside(found):
            _draw_invitation(found.code)


def _shows_answers(found: TeacherView) -> bool:
    return found.state == REVEALED or not found.is_guided


def _invites_beside(found: TeacherView) -> bool:
    """Check whether the code and QR code for joining are drawn next to the question.

    Before the class begins they fill the screen; after the reveal they are among the teacher's controls.
    """
    return not (_is_lobby(found) or _shows_answers(found) or found.is_over)


def _is_lobby(found: TeacherView) -> bool:
    """Check whether the class has not begun yet."""
    return found.class_at == 0 and found.state == CLOSED and not any(one.answered for one in found.members)


def _options(question: Question, *, is_told: bool) -> None:
    """Draw the options of the question for the projector. After the reveal the chart names them instead."""
    if question.options and not is_told:
        st.markdown("\n".join(f"{at}. {literal(option.text)}" for at, option in enumerate(question.options, 1)))


def _side(own: Seat, found: TeacherView) -> DeltaGenerator:
    """Draw the teacher's own controls, and return the container for the list of members."""
    if not (_is_lobby(found) or _invites_beside(found)):
        _draw_invitation(found.code)
    st.segmented_control(
        "Pace of the class", ["together", "alone"], key="class-mode", required=True,
        default="together" if found.is_guided else "alone", disabled=found.is_over,
        format_func={"together": "Together", "alone": "Everybody alone"}.__getitem__,
        on_change=_guide, args=(own,),
    )  # fmt: skip
    if found.lesson.picture(found.class_at) is not None and not windows.is_panel():
        st.button("Show this step’s picture", key="class-picture", on_click=following.show_step, args=(found,))
    if not found.is_rehearsal:
        _names(own, found)
    rehearsing.draw(own, found, may_begin=_is_lobby(found) and not found.members)
    who = st.container()
    if found.members and _shows_names(found):
        _remove(own, found)
    _draw_ending(own, found)
    return who


def _guide(own: Seat) -> None:
    teacher.act(teachers(own).guide, own, is_guided=st.session_state["class-mode"] == "together")


def _names(own: Seat, found: TeacherView) -> None:
    """Draw the toggle for nicknames.

    Before the first student joins it decides whether the class uses nicknames, and afterwards whether this screen
    shows them.
    """
    if not found.members:
        st.toggle(
            "No nicknames in this class", value=found.is_anonymous, key=_ANONYMOUS, disabled=found.is_over,
            help="Each student gets a number. Nobody is asked for a nickname, and none is stored.",
            on_change=_set_anonymous, args=(own,),
        )  # fmt: skip
    elif not found.is_anonymous:
        st.toggle("Show nicknames on this screen", key=_NAMES, help="Leave this off if the class sees this screen.")


def _set_anonymous(own: Seat) -> None:
    teacher.act(teachers(own).set_anonymous, own, is_anonymous=st.session_state[_ANONYMOUS])


def _shows_names(found: TeacherView) -> bool:
    """Check whether this screen shows the members' names. Nicknames that students chose are shown only on request."""
    return found.is_anonymous or found.is_rehearsal or bool(st.session_state.get(_NAMES))


def _members(found: TeacherView) -> str:
    """Return the list of members as HTML: who is connected, who has answered, and each one's step if they work
    alone.
    """
    here = sum(one.is_here for one in found.members)
    is_named = _shows_names(found)
    lines = "".join(
        _member(one, found, one.nickname if is_named else f"Student {number}")
        for number, one in enumerate(found.members, 1)
    )
    none = "" if lines else "<p>Nobody has joined yet.</p>"
    return (
        "<section class='class-members' aria-label='Who is in the class'>"
        f"<h4>{here}{rehearsing.invented_note(found)} here, {len(found.members)} in all</h4>"
        f"{none}<ul>{lines}</ul></section>"
    )


def _member(one: MemberLine, found: TeacherView, name: str) -> str:
    has_answered = found.round in one.answered or (not found.is_guided and BEFORE in one.answered)
    mark = "✓" if has_answered else "…"
    said = "has answered" if has_answered else "has not answered"
    second = " ✓" if AFTER in one.answered and found.round == AFTER and BEFORE in one.answered else ""
    where = "" if one.is_here and found.is_guided else f" <small>{_place_phrase(one)}</small>"
    away = "" if one.is_here else " class='away'"
    return f"<li{away}><span aria-label='{said}'>{mark}{second}</span> <bdi>{html.escape(name)}</bdi>{where}</li>"


def _place_phrase(one: MemberLine) -> str:
    return f"step {one.at + 1}" if one.is_here else "away"


def _remove(own: Seat, found: TeacherView) -> None:
    """Draw the form that removes a student, for example because of a nickname."""
    with st.popover("Remove a student", type="tertiary"):
        names = {one.id: one.nickname for one in found.members}
        st.selectbox(
            "Who", list(names), index=None, format_func=lambda known: names.get(known, ""), key="class-remove-who"
        )
        st.button("Remove, with their answers", key="class-remove", on_click=_take_out, args=(own,))


def _take_out(own: Seat) -> None:
    who = st.session_state.get("class-remove-who")
    if who is not None:
        teacher.act(lambda key: teachers(own).remove(key, who), own)


def _draw_ending(own: Seat, found: TeacherView) -> None:
    """Draw the buttons that save the answers and end or delete the class, and the day on which it will be deleted.

    A rehearsal only has the button that ends it, since nothing of it is stored.
    """
    if found.is_rehearsal:
        if not found.is_over:
            _end(own)
        return
    with st.container(horizontal=True, gap="small", key="class-ending"):
        st.download_button(
            "Answers (CSV)",
            hosting.file_in_turn(lambda: teachers(own).answers_csv(own.key)),
            file_name=f"attnviz-class-{found.code}.csv",
            mime="text/csv",
            on_click="ignore",
            key="class-csv",
        )
        st.download_button(
            "Grades (CSV)",
            lambda: teachers(own).grades_csv(own.key),
            file_name=f"attnviz-class-{found.code}-grades.csv",
            mime="text/csv",
            on_click="ignore",
            key="class-grades",
            help="A line for each student: user, grade from 0 to 100, and how the grade is made up. Gradebooks "
            "can import the file; in Moodle, choose `user` as the identifier.",
        )
        with st.popover("Your link"):
            st.markdown("Anybody with this link can teach this class. Keep the link, and show it to nobody.")
            st.code(_secret_link(own), language=None)
        if not found.is_over:
            _end(own)
        _delete(own)
    st.caption(
        f"The class will be deleted on {day(found.expires)} at the latest, together with all nicknames and answers."
    )


def _end(own: Seat) -> None:
    with st.popover("End the class"):
        st.markdown("After this, nobody can join or answer any more. The answers are kept until they are deleted.")
        st.button("End it", key="class-end", on_click=teacher.act, args=(teachers(own).end, own))


def _delete(own: Seat) -> None:
    with st.popover("Delete"):
        st.markdown("This deletes the class with all nicknames and answers immediately. You cannot undo this.")
        st.button("Delete everything now", key="class-purge", on_click=_purge, args=(own,))


def _purge(own: Seat) -> None:
    try:
        teachers(own).purge(own.key)
    except ClassroomError as refusal:
        following.say(str(refusal))
        return
    seat.give_up(own)
    persistent.write({CLASS: None})
    following.say("The class has been deleted, together with all nicknames and answers.")


def _student_link(code: str) -> str:
    """Return the link for students, with the host under which this browser has opened the page."""
    return f"{origin()}/class?{CLASS}={code}"


def _secret_link(own: Seat) -> str:
    """Return the teacher's link. Its secret follows a "#", since browsers do not send that part to any server."""
    return f"{_student_link(own.code)}#teach={own.token}"


def _reach() -> str:
    """Return a sentence if the link works on this computer only; "" if other computers can follow it."""
    host = urlsplit(origin()).netloc
    if not host.startswith(_OWN_NAMES):
        return ""
    name = host.partition(":")[0] if not host.startswith("[") else "[::1]"
    return f"This link works only on this computer, because {name} always means “this computer”."


def _draw_invitation(code: str, *, is_large: bool = False) -> None:
    """Draw the code, the address and a QR code; `is_large` for the first screen that the class sees.

    The QR code's link contains the code. The printed address leads to the form that asks for it.
    """
    address = _student_link(code)
    picture = segno.make(address, error="m").svg_data_uri(scale=8, border=3, light="#fff")
    size = "large" if is_large else "small"
    shown = html.escape(address.partition("//")[2].partition("?")[0])
    st.html(
        f"<section class='class-invitation {size}' aria-label='How to join'>"
        f"<img src='{picture}' alt='QR code of {shown}'>"
        f"<div><p>Code</p><strong>{format_code(code)}</strong><p>at</p><span>{shown}</span></div></section>"
    )
    if is_large and (said := _reach()):
        st.caption(said)
