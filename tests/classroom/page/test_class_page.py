"""The page Class and the panel of a class, without a browser: its sentences on bad input, and its messages to each
member.
"""

import pytest

from attnviz.classroom.page.seat import STUDENT, TEACHER, Seat
from tests.classroom.page.class_page import join, page_text, sent_text


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("Ann", "called “Ann” already"),
        (" ", "at least one letter"),
        ("x" * 10_000, "at most 40 characters"),
        ("a\u202eb", "invisible characters"),
    ],
)
def test_a_nickname_that_cannot_be_is_refused_in_a_sentence_and_stays(open_page, classes, key, typed, sentence) -> None:
    classes.students.join(key.code, "Ann")
    app = join(open_page("class"), key.code, typed)
    assert not app.exception
    assert sentence in page_text(app)
    assert app.text_input(key="class-nickname").value == typed


@pytest.mark.parametrize("code", ["", "12", "BCDFGHJK", "x" * 10_000])
def test_a_code_of_no_class_is_refused_in_a_sentence(open_page, key, code: str) -> None:
    app = join(open_page("class"), code, "Ann")
    assert not app.exception
    assert len(app.error) == 1
    assert app.text_input(key="class-code").value == code


def test_a_code_counts_with_spaces_and_small_letters_and_what_is_stored_is_said_before(open_page, key) -> None:
    app = open_page("class")
    assert "What is stored: your nickname, your answers and their times, how many hints you opened" in page_text(app)
    app = join(app, f" {key.code[:4].lower()} - {key.code[4:].lower()} ", "Ann")
    assert "Waiting for the teacher" in page_text(app)
    assert app.query_params["class"] == key.code


def test_the_link_brings_the_code(open_page, key) -> None:
    app = open_page("class", **{"class": key.code.lower()})
    assert app.text_input(key="class-code").value.replace(" ", "") == key.code


def test_a_class_that_has_ended_takes_nobody(open_page, classes, key) -> None:
    classes.teachers.end(key)
    assert "ended" in page_text(join(open_page("class"), key.code, "Ann"))


@pytest.mark.parametrize("role", [STUDENT, TEACHER])
def test_the_list_of_lessons_stands_beside_a_class(sit, classes, key, role: str) -> None:
    token = classes.students.join(key.code, "Ann").token
    classes.teachers.open(key)
    app = sit("heads", Seat(key.code, role, token if role == STUDENT else key.secret))
    app = app.switch_page("pages/lessons.py").run()
    assert not app.exception
    assert "Two or three?" in page_text(app)
    assert [button for button in app.button if button.key.startswith("begin-")]


def test_a_student_is_sent_nothing_that_tells_before_the_reveal(sit, classes, key) -> None:
    tokens = [classes.students.join(key.code, name).token for name in ("Ann", "Bob")]
    classes.teachers.open(key)
    classes.students.answer(tokens[1], 0, 1, in_round="before", client_id="1")
    app = sit("heads", Seat(key.code, STUDENT, tokens[0]))
    assert "Two or three?" in page_text(app)
    assert "Covered until the teacher reveals the answer." in page_text(app)
    assert "secret reason" not in sent_text(app)
    assert "Bob" not in sent_text(app)
    assert not [part for part in app.get("bidi_component") if len(part.proto.bytes) > 500], "no picture"

    classes.teachers.reveal(key)
    app.run()
    assert "secret reason" in page_text(app)
    assert "You gave no answer." in page_text(app)


def test_an_answer_is_in_once(sit, classes, key) -> None:
    token = classes.students.join(key.code, "Ann").token
    classes.teachers.open(key)
    app = sit("heads", Seat(key.code, STUDENT, token))
    app.button(key="class-submit").click().run()
    assert len(app.error) == 1, "nothing is chosen"
    app.radio[0].set_value(1).run()
    app.button(key="class-submit").click().run()
    assert "Your answer is in: three <b>$x$</b>. You can change your answer" in page_text(app)
    assert classes.teachers.view(key).summaries["before"].options == (0, 1)


def test_names_and_texts_that_the_teacher_lets_be_seen_are_text(sit, classes, key) -> None:
    token = classes.students.join(key.code, "<script>Ann").token
    classes.teachers.go(key, 1)
    classes.teachers.open(key)
    classes.students.answer(token, 1, "<b>so</b> & so", in_round="before", client_id="1")
    classes.teachers.reveal(key)
    app = sit("class", Seat(key.code, TEACHER, key.secret))
    assert not app.exception
    assert "Ann" not in sent_text(app)
    assert "&amp; so" not in sent_text(app)
    app.toggle(key="class-names").set_value(True).run()
    app.button(key="class-picking").click().run()
    (box,) = (box for box in app.checkbox if box.key.startswith("class-pick-"))
    assert box.label.replace("\\", "") == "<b>so</b> & so"
    box.set_value(True).run()
    app.run()
    drawn = "\n".join(element.proto.body for element in app.get("html"))
    assert "<bdi>&lt;script&gt;Ann</bdi>" in drawn
    assert "<q><bdi>&lt;b&gt;so&lt;/b&gt; &amp; so</bdi></q>" in drawn


def test_in_a_class_without_nicknames_students_have_numbers(open_page, sit, classes, key) -> None:
    app = sit("class", Seat(key.code, TEACHER, key.secret))
    app.toggle(key="class-anonymous").set_value(True).run()
    app = join(open_page("class"), key.code, "Zebulon")
    assert not app.exception
    assert [one.nickname for one in classes.teachers.view(key).members] == ["Student 1"]
    assert "Student 1 · " in page_text(app)


def test_a_refusal_is_of_its_step(sit, classes, key) -> None:
    token = classes.students.join(key.code, "Ann").token
    classes.teachers.open(key)
    app = sit("heads", Seat(key.code, STUDENT, token))
    app.button(key="class-submit").click().run()
    assert "Choose one of the answers first." in page_text(app)
    classes.teachers.ask_again(key)
    app.run()
    assert "Second round" in page_text(app)
    assert "Choose one of the answers first." not in page_text(app)


def test_opening_revealing_and_deleting(sit, classes, key) -> None:
    app = sit("class", Seat(key.code, TEACHER, key.secret))
    for name in ("class-open", "class-reveal"):
        app.button(key=name).click().run()
    assert classes.teachers.view(key).state == "revealed"
    app.button(key="class-purge").click().run()
    assert "The class has been deleted" in page_text(app)
    assert "Join a class" in page_text(app)


def test_a_class_that_is_gone_is_said_once_whatever_is_pressed(sit, classes, key) -> None:
    app = sit("class", Seat(key.code, TEACHER, key.secret))
    classes.teachers.purge(key)
    app.button(key="class-open").click().run()
    assert page_text(app).count("There is no class at this link") == 1


def test_a_class_that_is_put_aside_is_found_again(sit, key) -> None:
    app = sit("heads", Seat(key.code, TEACHER, key.secret))
    app.button(key="class-aside").click().run()
    assert not [button for button in app.button if button.key == "class-aside"]
    app.switch_page("pages/class.py").run()
    app.button(key=f"class-on-{key.code}").click().run()
    assert "Love" in page_text(app)
    assert app.button(key="class-open")


def test_a_token_that_is_worth_nothing_leads_back_to_the_form(sit, key) -> None:
    app = sit("class", Seat(key.code, TEACHER, "x" * 32))
    assert not app.exception
    assert "Join a class" in page_text(app)
    assert app.info


def test_the_teacher_sees_the_question_that_open_asks(sit, classes, key) -> None:
    app = sit("class", Seat(key.code, TEACHER, key.secret))
    ask = classes.teachers.view(key).lesson.steps[0].question.ask
    assert f"Open asks: {ask}" in page_text(app)
    app.button(key="class-open").click().run()
    app.button(key="class-next").click().run()
    assert classes.teachers.view(key).state == "closed"
    assert classes.teachers.view(key).lesson.steps[1].question.ask in page_text(app)
