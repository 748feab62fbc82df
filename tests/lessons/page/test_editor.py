"""The draft's editor without a browser: what stands beside the text, what is inserted, and a class on it."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.classroom import instance
from attnviz.lessons.page import lesson_draft
from tests.lessons.front_matter import FRONT_MATTER
from tests.lessons.page.lesson_page import page_text

LINK = "/heads?src=I+love+you&to=fr&kind=cross&layer=1&head=0"
GOOD = f"{FRONT_MATTER}## One\n\nLook.\n\n{LINK}\n\n```question\nkind: number\nask: How many?\nmeasure: heads\n```\n"
BROKEN = GOOD.replace("minutes: 10", "minutes: ten").replace("measure: heads", "mesure: heads")


@pytest.fixture
def edit(open_page):
    """Provide the editor of a text, with the caret on a line."""

    def make(text: str, line: int = 7) -> AppTest:
        app = open_page("lessons", edit="1")
        app.session_state["_attnviz_draft"] = lesson_draft.Desk(text, revision=1, is_known=True, line=line)
        return app.run()

    return make


def text_of(app: AppTest) -> str:
    return app.text_area(key="draft-text").value or ""


def test_answers_and_mistakes_of_all_blocks_stand_beside_the_text_in_one_run(edit) -> None:
    app = edit(
        BROKEN + "\n## Two\n\n```question\nkind: cell\nask: Which?\nrow: love\n```\n\n## Three\n\nSee “Je → x”.\n"
    )
    assert not app.exception
    said = page_text(app)
    assert "Line 3, front matter: “minutes” is a whole number from 1 to 240." in said
    assert "a question of kind number has no field “mesure”" in said
    assert "There is no row “love”" in said, "a step is checked on the picture of one that has a mistake"
    assert "The text names the row “Je → x”" in said
    app.text_area(key="draft-text").set_value(GOOD).run()
    assert "Right is" in page_text(app)
    assert not app.warning


def test_the_carets_step_is_seen_as_a_student_sees_it_and_can_be_answered(edit) -> None:
    app = edit(GOOD.replace("measure: heads", "measure: heads\ncover: map"))
    assert "As a student sees it" in page_text(app)
    assert "**How many?**" in page_text(app)
    assert not app.get("plotly_chart"), "covered until it is answered"
    app.button(key="lesson-skip").click().run()
    assert "Skipped. The model:" in page_text(app)
    (chart,) = app.get("plotly_chart")
    assert "Cross-attention, L1 H0" in chart.proto.spec
    assert "As the lesson opens it: Heads, tab Heads." in page_text(app)


def test_the_preview_of_a_german_lesson_is_german(edit) -> None:
    app = edit(GOOD.replace("language: en", "language: de"))
    app.button(key="lesson-submit").click().run()
    said = page_text(app)
    assert app.button(key="lesson-submit").label == "Antworten"
    assert "Schreib zuerst eine Zahl, zum Beispiel 12 oder 0.5." in said.replace("\\", "")
    assert "As a student sees it" in said, "its author's page is English"


def test_links_are_drawn_as_links(edit) -> None:
    (chart,) = edit(GOOD.replace(LINK, f"{LINK}&tab=links&lines=1.0~0.1")).get("plotly_chart")
    assert '"name":"L0 H1' in chart.proto.spec


def test_a_kind_of_question_is_inserted_and_its_row_chosen_from_the_picture(edit) -> None:
    app = edit(GOOD.split("```")[0])
    app.selectbox(key="draft-insert").set_value("A row: draw how its weight is shared out").run()
    line = text_of(app).split("\n").index("row: ") + 1
    app.session_state["_attnviz_draft"].line = line
    app.run()
    (offer,) = app.button_group
    assert offer.options[1].startswith("1  j → ")
    offer.set_value(offer.options[1]).run()
    assert "ask: How does this row share out its weight?\nrow: " in text_of(app)
    assert "row: \n" not in text_of(app)
    assert "Right is most" in page_text(app)


def test_a_step_that_is_as_it_was_is_not_computed_again(edit, monkeypatch: pytest.MonkeyPatch) -> None:
    from attnviz.lessons.page import editor

    computed: list[str] = []

    def check(step, link, signed, **more):
        computed.append(step.title)
        return ()

    monkeypatch.setattr(editor, "check_step", check)
    app = edit(GOOD + "\n## Two\n\nText.\n")
    app.text_area(key="draft-text").set_value(GOOD + "\nA line.\n\n## Two\n\nText!\n").run()
    assert computed[-4:] == ["One", "Two", "One", "Two"]
    app.text_area(key="draft-text").set_value(text_of(app) + "\n## Three\n").run()
    assert computed[-5:] == ["One", "Two", "One", "Two", "Three"]


def test_a_draft_that_is_no_lesson_begins_no_class_and_says_all_that_is_missing(edit) -> None:
    app = edit(BROKEN)
    app.button(key="draft-class").click().run()
    (told,) = app.error
    assert "minutes" in told.value
    assert "mesure" in told.value


def test_a_finished_draft_begins_a_class(edit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTNVIZ_DATABASE", f"sqlite:///{tmp_path / 'classes.sqlite'}")
    instance.close()
    app = edit(GOOD)
    app.button(key="draft-class").click().run()
    assert not app.exception
    assert len(app.query_params["class"]) == 8
    instance.close()


def test_a_copy_of_a_lesson_is_its_file_without_signatures(open_page) -> None:
    app = open_page("lessons")
    app.button(key="copy-8-find-the-bug").click().run()
    assert not app.exception
    assert text_of(app).startswith("---\ntitle: Find the bug\n")
    assert "signed:" not in text_of(app)
    app.button(key="draft-leave").click().run()
    assert any(
        button.label.replace("\\", "") == "Go on with your draft: Find the bug (6 steps)" for button in app.button
    )


def test_a_file_with_mistakes_is_opened_as_it_is(edit) -> None:
    app = edit(GOOD)
    with pytest.raises(ValueError, match="is not UTF-8 text"):
        lesson_draft.open_file("love.md", b"\xff")
    assert "One" in text_of(app)
