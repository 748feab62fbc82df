"""The welcome page: an example that has just been run, and where to go."""

from attnviz.app.frame import top_bar


def test_the_welcome_page_shows_a_live_example(open_page) -> None:
    app = open_page(src="I love you")
    assert not app.exception
    assert app.get("plotly_chart")


def test_the_first_step_is_the_first_lesson_and_every_page_has_one_line(open_page) -> None:
    app = open_page(src="I love you")
    assert app.button(key="first-lesson").label == "New here? Lesson 1, 15 minutes"
    labels = [link.proto.label for link in app.get("page_link")]
    assert len(labels) == 8
    assert all(len(label) < 64 for label in labels), labels
    app.button(key="first-lesson").click().run()
    assert not app.exception
    assert "Guess before you look" in "".join(text.value for text in app.markdown)


def test_another_sentence_is_another_example(open_page) -> None:
    app = open_page(src="I love you")
    before = app.get("plotly_chart")[0].proto.spec
    app.text_input(key="src-shown").set_value("a big red dog jumped").run()
    assert not app.exception
    assert app.get("plotly_chart")[0].proto.spec != before


def test_a_long_sentence_leaves_the_page_in_sight(open_page) -> None:
    app = open_page(src="The cat sleeps. " * 40)
    assert not app.exception
    story = next(block.proto.body for block in app.get("html") if "has just read" in block.proto.body)
    assert "The cat sleeps. The cat" in story
    assert " …</b>" in story
    assert len(story) < 1_500


def test_the_texts_own_sentences_come_first_among_the_examples() -> None:
    assert top_bar.examples()[:3] == (
        "I love you.",
        "Machine learning is fun.",
        "A big red dog jumped over a small pond.",
    )
