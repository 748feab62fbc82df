"""The end of a class: its answers as a file, its deletion, and the link that brings the teacher back."""

import streamlit as st

from attnviz.classroom.errors import ClassroomError
from attnviz.classroom.state import TeacherView
from attnviz.ui import hosted
from attnviz.ui.address import persistent
from attnviz.ui.classes import following, invitation, seat, teacher
from attnviz.ui.classes.dates import day
from attnviz.ui.classes.room import teachers
from attnviz.ui.classes.seat import CLASS, Seat


def draw(own: Seat, found: TeacherView) -> None:
    """Draw the buttons, and the day of the deletion; a rehearsal has nothing to keep."""
    if found.is_rehearsal:
        if not found.is_over:
            _end(own)
        return
    with st.container(horizontal=True, gap="small", key="class-ending"):
        st.download_button(
            "Answers (CSV)",
            hosted.file_in_turn(lambda: teachers(own).answers_csv(own.key)),
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
            help="A line for each student: user, grade from 0 to 100, and what it is made of. Gradebooks read it, "
            "such as Moodle's CSV import with `user` as the identifier.",
        )
        with st.popover("Your link"):
            st.markdown("Anybody with this link can teach this class. Keep it, and show it to nobody.")
            st.code(invitation.secret_link(own), language=None)
        if not found.is_over:
            _end(own)
        _delete(own)
    st.caption(f"The class is deleted on {day(found.expires)} at the latest, with all nicknames and answers.")


def _end(own: Seat) -> None:
    with st.popover("End the class"):
        st.markdown("Nobody can join or answer then. Answers stay until they are deleted.")
        st.button("End it", key="class-end", on_click=teacher.act, args=(teachers(own).end, own))


def _delete(own: Seat) -> None:
    with st.popover("Delete"):
        st.markdown("The class, its nicknames and its answers are deleted at once. This cannot be undone.")
        st.button("Delete everything now", key="class-purge", on_click=_purge, args=(own,))


def _purge(own: Seat) -> None:
    try:
        teachers(own).purge(own.key)
    except ClassroomError as refusal:
        following.say(str(refusal))
        return
    seat.give_up(own)
    persistent.write({CLASS: None})
    following.say("The class is deleted, with all nicknames and answers.")
