"""The form of "Ask the room", without a browser."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.classroom.page.class_page import page_text


@pytest.fixture
def form(open_page) -> AppTest:
    """Open the form of "Ask the room" about a map."""

    def draw_asking_form() -> None:
        from attnviz.classroom.page import asking

        asking.draw_asking_form("Heads", "src=I+love+you&to=fr&kind=cross&layer=1&head=0")

    open_page("heads", src="I love you", to="fr")
    return AppTest.from_function(draw_asking_form, default_timeout=300).run()


def test_every_kind_of_question_has_its_fields(form: AppTest) -> None:
    for kind in form.selectbox(key="ask-kind").options:
        form.selectbox(key="ask-kind").select(kind).run()
        assert not form.exception, kind
        assert form.text_input[0].label == "Question", kind


def test_a_question_to_the_room_says_what_is_missing_and_begins_a_class(form: AppTest, classes) -> None:
    app = form
    app.selectbox(key="ask-kind").set_value("choice").run()
    for field, text, sentence in (
        ("ask-question-choice", "", "Type the question first."),
        ("ask-question-choice", "Two or three?", "Type 2 to 8 answers to choose from, one per line."),
    ):
        app.text_input(key=field).set_value(text)
        app.button(key="ask-start").click().run()
        assert sentence in page_text(app)
    app.text_area(key="ask-options-choice").set_value("two\nthree")
    app.button(key="ask-start").click().run()
    assert not app.error
    (own,) = app.session_state["_attnviz_seats"].values()
    assert classes.teachers.view(own.key).lesson.steps[0].question.ask == "Two or three?"
