"""The messages of a class, read off the websocket: before the reveal, a student gets nothing that gives the answer
away.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from attnviz.classroom.room import Classroom
from attnviz.classroom.state import TeacherKey
from attnviz.lessons.picture import pictures
from attnviz.lessons.reading import read
from tests.browser import server
from tests.websocket.class_lessons import ASKED, CELL, KINDS, LESSON, TELLING, TEXTS
from tests.websocket.screen import Screen
from tests.websocket.visitor import state


class Listener(Screen):
    """A visitor who keeps every byte that is sent."""

    heard = b""

    def _take(self, message: ForwardMsg) -> None:
        self.heard += message.SerializeToString()
        super()._take(message)

    def sits(self, code: str, role: str, token: str) -> None:
        """Report this visitor's seat as the browser does."""
        seat = json.dumps({"seat": {"code": code, "role": role, "token": token}})
        self.send(self.state("class-seat", json_value=seat))


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("classes") / "classes.sqlite"


@pytest.fixture(scope="module")
def address(database: Path) -> Iterator[str]:
    environment = {"ATTNVIZ_DATABASE": f"sqlite:///{database}", "OMP_WAIT_POLICY": "passive"}
    with server.dashboard(database.with_name("dashboard.log"), environment) as address:
        yield address


@pytest.fixture
def classes(address: str, database: Path) -> Iterator[Classroom]:
    """Provide the same classes in this process."""
    run = pictures()
    found = Classroom(f"sqlite:///{database}", lambda link: None if link is None else run(link))
    yield found
    found.close()


@pytest.fixture
def key(classes: Classroom) -> TeacherKey:
    """Make a class at its first step, which Bob has answered."""
    key = classes.teachers.start(read(LESSON))
    bob = classes.students.join(key.code, "Bob").token
    classes.teachers.open(key)
    classes.students.answer(bob, 0, "Je t'aime.", in_round="before", client_id="1")
    return key


def test_a_student_hears_nothing_that_tells_before_the_reveal(address: str, classes: Classroom, key) -> None:
    token = classes.students.join(key.code, "Ann").token
    with Listener(address) as ann:
        ann.open("class", {"class": key.code})
        ann.sits(key.code, "student", token)
        assert b"What does it write" in ann.heard
        assert ann.shown.exceptions == []
        assert not [telling for telling in TELLING if telling in ann.heard]

        classes.teachers.reveal(key)
        ann.send()
        assert b"nobody may know" in ann.heard
        assert b"Bob" not in ann.heard, "others' names are nobody's"


@pytest.mark.parametrize("page", ["class", "heads", "decoding"])
def test_a_students_token_is_no_teachers(address: str, classes: Classroom, key, page: str) -> None:
    token = classes.students.join(key.code, "Ann").token
    with Listener(address) as ann:
        ann.open(page, {"src": "I love you.", "to": "fr", "class": key.code})
        ann.sits(key.code, "teacher", token)
        assert ann.shown.exceptions == []
        assert b"Bob" not in ann.heard
        assert b"nobody may know" not in ann.heard
        assert not [name for name in ann.shown.widgets if name.startswith(("class-reveal", "class-purge"))]


def test_the_projector_hears_no_name_and_no_text_that_the_teacher_did_not_let_be_seen(
    address: str, classes: Classroom
) -> None:
    key = classes.teachers.start(read(TEXTS))
    zebulon, ann = (classes.students.join(key.code, name).token for name in ("Zebulon", "Ann"))
    classes.teachers.open(key)
    for token, text in ((zebulon, "Quokkas."), (ann, "Narwhals.")):
        classes.students.answer(token, 0, text, in_round="before", client_id="1")
    private = (b"Zebulon", b"Quokkas", b"Narwhals")
    with Listener(address) as teacher, Listener(address) as student:
        for screen, role, token in ((teacher, "teacher", key.secret), (student, "student", ann)):
            screen.open("class", {"class": key.code})
            screen.sits(key.code, role, token)
        for act in (classes.teachers.close, classes.teachers.ask_again, classes.teachers.reveal):
            act(key)
            teacher.send()
            assert not [said for said in private if said in teacher.heard]
        (quokkas, _) = classes.teachers.view(key).summaries["before"].texts
        classes.teachers.pick(key, quokkas.id, is_picked=True)
        teacher.send()
        assert "Quokkas." in teacher.heard.decode("utf-8", "replace")
        assert b"Narwhals" not in teacher.heard
        student.send()
        assert not [said for said in private[:2] if said in student.heard]
        teacher.send(teacher.state("class-names", bool_value=True))
        assert b"Zebulon" in teacher.heard


@pytest.mark.parametrize("kind", list(KINDS))
def test_nobody_hears_whose_answer_it_is_whatever_is_asked(address: str, classes: Classroom, kind: str) -> None:
    question, given = KINDS[kind]
    key = classes.teachers.start(read(ASKED.format(question=question)))
    zebulon, ann, ben = (classes.students.join(key.code, name).token for name in ("Zebulon", "Ann", "Ben"))
    classes.teachers.open(key)
    for token in (zebulon, ann):
        classes.students.answer(token, 0, given, in_round="before", client_id="1")
    with Listener(address) as console, Listener(address) as picture, Listener(address) as student:
        for screen, role, token in (
            (console, "teacher", key.secret),
            (picture, "teacher", key.secret),
            (student, "student", ben),
        ):
            page = "class" if screen is console else "heads"
            screen.open(page, {"src": "I love you.", "to": "fr", "layer": "1", "head": "0", "class": key.code})
            screen.sits(key.code, role, token)
        for act in (classes.teachers.close, classes.teachers.ask_again, classes.teachers.reveal):
            act(key)
            for screen in (console, picture, student):
                screen.send()
                assert screen.shown.exceptions == []
                assert b"Zebulon" not in screen.heard
        assert b"class-shares" in console.heard, "the answers are shown"


def test_in_a_class_without_nicknames_none_is_sent_or_stored(address: str, classes: Classroom, database: Path) -> None:
    key = classes.teachers.start(read(TEXTS))
    classes.teachers.set_anonymous(key, is_anonymous=True)
    joined = [classes.students.join(key.code, name) for name in ("Xanthippe", "")]
    assert [one.nickname for one in joined] == ["Student 1", "Student 2"]
    classes.teachers.open(key)
    classes.students.answer(joined[0].token, 0, "Quokkas.", in_round="before", client_id="1")
    with Listener(address) as teacher, Listener(address) as student:
        for screen, role, token in ((teacher, "teacher", key.secret), (student, "student", joined[1].token)):
            screen.open("class", {"class": key.code})
            screen.sits(key.code, role, token)
        classes.teachers.reveal(key)
        for screen in (teacher, student):
            screen.send()
            assert b"Xanthippe" not in screen.heard
        assert b"Student 2" in teacher.heard
        assert b"Student 2" in student.heard
        assert not [said for said in (b"Student 1", b"Quokkas") if said in student.heard]
    assert b"Xanthippe" not in classes.teachers.answers_csv(key)
    stored = b"".join(file.read_bytes() for file in database.parent.glob("classes.sqlite*"))
    assert b"Xanthippe" not in stored


def test_a_hint_is_sent_when_it_is_opened(address: str, classes: Classroom, key) -> None:
    token = classes.students.join(key.code, "Ann").token
    with Listener(address) as ann:
        ann.open("class", {"class": key.code})
        ann.sits(key.code, "student", token)
        ann.press("class-hint")
        assert b"Plum is one" in ann.heard
        assert b"nearly the answer" not in ann.heard
        assert classes.teachers.view(key).hinted == 1


def test_a_student_who_presses_the_teachers_buttons_changes_nothing(address: str, classes: Classroom, key) -> None:
    token = classes.students.join(key.code, "Ann").token
    with Listener(address) as teacher, Listener(address) as ann:
        teacher.open("class", {"class": key.code})
        teacher.sits(key.code, "teacher", key.secret)
        teacher.send(teacher.state("class-names", bool_value=True))
        buttons = [name for name in teacher.shown.widgets if name.startswith("class-") and name != "class-seat"]
        assert {"class-reveal", "class-close", "class-purge", "class-remove"} <= set(buttons)
        before = classes.teachers.view(key)
        for page in ("class", "heads"):
            ann.open(page, {"src": "I love you.", "to": "fr", "class": key.code})
            ann.sits(key.code, "student", token)
            for name in buttons:
                ann.send(state(teacher.shown.widgets[name][1].id, trigger_value=True))
            assert not [telling for telling in TELLING if telling in ann.heard]
        after = classes.teachers.view(key)
        assert (after.state, after.class_at, len(after.members)) == (before.state, before.class_at, len(before.members))


def test_an_answer_that_is_sent_again_or_after_the_step_was_closed_is_not_counted(address, classes, key) -> None:
    token = classes.students.join(key.code, "Ann").token
    with Listener(address) as ann:
        ann.open("class", {"class": key.code})
        ann.sits(key.code, "student", token)
        (field,) = [name for name in ann.shown.widgets if name.endswith("-said")]
        typed = ann.state(field, string_value="Mine.")
        ann.choose(field, string_value="Mine.")
        submit = ann.state("class-submit", trigger_value=True)
        classes.teachers.close(key)
        ann.press("class-submit", typed)
        assert "cannot answer this step at the moment" in " ".join(ann.shown.alerts)
        classes.teachers.open(key)
        ann.ask_for_news()
        for _ in range(3):
            ann.send(typed, submit)
        texts = classes.teachers.view(key).summaries["before"].texts
        assert [said.text for said in texts] == ["Je t'aime.", "Mine."]


def test_what_is_typed_in_the_moment_in_which_the_button_is_pressed_is_the_answer(address, classes, key) -> None:
    token = classes.students.join(key.code, "Ann").token
    with Listener(address) as ann:
        ann.open("class", {"class": key.code})
        ann.sits(key.code, "student", token)
        (field,) = [name for name in ann.shown.widgets if name.endswith("-said")]
        ann.press("class-submit", ann.state(field, string_value="Mine."))
        assert (
            "Your answer is in: Mine. You can change your answer until the teacher closes this step."
            in ann.shown.alerts
        )
        assert [said.text for said in classes.teachers.view(key).summaries["before"].texts] == [
            "Je t'aime.",
            "Mine.",
        ]


def test_a_cell_that_is_marked_in_the_moment_in_which_the_button_is_pressed_is_the_answer(address, classes) -> None:
    key = classes.teachers.start(read(CELL))
    token = classes.students.join(key.code, "Ann").token
    classes.teachers.open(key)
    with Listener(address) as ann:
        ann.open("heads", {"src": "I love you.", "to": "fr", "layer": "1", "head": "0", "class": key.code})
        ann.sits(key.code, "student", token)
        map_id = ann.shown.widgets["heads"][1].id
        for seq, col in ((1, 2), (2, 0)):
            marked = json.dumps({"view": {"marks": [[1, col]], "seq": seq}})
            ann.press("class-submit", state(map_id, json_value=marked))
            assert classes.teachers.view(key).summaries["before"].cells == {(1, col): 1}


def test_a_page_that_was_left_does_not_run_when_it_still_asks_for_news(address: str, classes: Classroom, key) -> None:
    token = classes.students.join(key.code, "Ann").token
    with Listener(address, patience=120) as ann:
        ann.open("class", {"class": key.code})
        ann.sits(key.code, "student", token)
        late = ann.poll()
        ann.open("decoding", {"src": "I love you.", "to": "fr", "class": key.code})
        assert ann.poll().rerun_script.page_script_hash != late.rerun_script.page_script_hash
        ann.tell_raw(late.SerializeToString())
        assert ann.pass_over(2.0) == 0, "this run's first message would have a browser empty the page that it shows"
        assert ann.ask_for_news().exceptions == []
