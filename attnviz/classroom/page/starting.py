"""Starting a class. The visitor who starts it becomes its teacher."""

import streamlit as st

from attnviz.app.address import navigation
from attnviz.classroom.errors import ClassroomError
from attnviz.classroom.page import following, seat
from attnviz.classroom.page.room import room
from attnviz.classroom.page.seat import CLASS, TEACHER, Seat
from attnviz.classroom.state import TeacherKey
from attnviz.lessons.lesson import Lesson, Link
from attnviz.lessons.question import Question


def start_class(lesson: Lesson) -> None:
    """Start a class on a lesson, and open its console. Buttons use this as their callback."""
    try:
        key = room().teachers.start(lesson, address=st.context.ip_address or "")
    except ClassroomError as refusal:
        following.say(str(refusal))
        return
    teach(key)


def ask(question: Question, link: Link | None) -> None:
    """Start a class on a single question. Raises ValueError if the class is refused."""
    teach(room().teachers.ask_the_room(question, link, address=st.context.ip_address or ""))


def teach(key: TeacherKey) -> None:
    """Take the teacher's seat in a class, and open its console in the next run."""
    seat.take(Seat(key.code, TEACHER, key.secret))
    navigation.send(following.HOME, {CLASS: key.code})
