"""A lesson's questions on a page, without a browser: hints, answers, what follows, and the list of lessons."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.lessons.page import judging, lesson_draft, wording
from attnviz.lessons.page.open_lesson import OpenedLesson, Progress
from attnviz.lessons.reading import read
from attnviz.lessons.scoring import AnswerScore, Truth
from tests.lessons.page.lesson_page import LESSON, cross, page_text, payload


def test_an_answer_uncovers_and_says_what_was_right_and_why(open_lesson) -> None:
    app = open_lesson()
    next(box for box in app.selectbox if box.label == "Key").select_index(0).run()
    app.button(key="lesson-submit").click().run()
    assert not app.exception
    weights = cross(app)[1, 0]
    assert weights.any()
    assert payload(app).header["lesson"] == {"right": [[2, int(weights[2].argmax())]], "guess": [[2, 0]]}
    assert "It is so." in page_text(app)
    assert f"({weights[2].max():.2f})" in page_text(app)


def test_an_answer_that_is_missing_is_asked_for_and_nothing_uncovered(open_lesson) -> None:
    app = open_lesson()
    app.button(key="lesson-submit").click().run()
    assert "Choose a cell first." in page_text(app)
    assert not cross(app)[1, 0].any()


def test_a_skip_uncovers_and_is_counted(open_lesson) -> None:
    app = open_lesson()
    app.button(key="lesson-skip").click().run()
    assert "Skipped." in page_text(app)
    assert cross(app)[1, 0].any()


def test_hints_come_one_after_another_and_the_last_is_a_spotlight(open_lesson) -> None:
    app = open_lesson()
    for words in ("A nudge.", "A suggestion.", "marked on the map"):
        assert words not in page_text(app)
        app.button(key="lesson-hint").click().run()
        assert words in page_text(app)
    assert payload(app).header["lesson"]["spot"] == "row"
    assert not [button for button in app.button if button.key == "lesson-hint"]


def test_where_the_translation_is_asked_for_no_target_is_shown(open_lesson) -> None:
    app = open_lesson(step=3)
    assert "Covered until" in page_text(app)
    assert app.text_input(key="tgt-shown").value == ""
    assert "aime" not in str(app.query_params)


def test_next_opens_the_link_of_the_step_that_follows(open_lesson) -> None:
    app = open_lesson(words="1")
    app.button(key="lesson-next").click().run()
    assert app.query_params["lesson_step"] in ("2", ["2"])
    assert "words" not in app.query_params, "what the visitor changed on the way is as the link says"


def test_the_list_has_every_lesson_and_says_what_is_wrong_with_a_file(open_lesson, open_page) -> None:
    app = open_page("lessons")
    assert not app.exception
    assert "**10 · Love**" in page_text(app)
    assert "**broken.md**" in page_text(app)
    assert "Line 3, front matter: “minutes” is a whole number" in page_text(app)
    assert "15 minutes" in page_text(app)


def primary(app: AppTest) -> list[str | None]:
    return [button.key for button in app.button if button.proto.type == "primary"]


def test_the_first_lesson_that_is_not_done_has_the_one_primary_button(open_lesson, open_page) -> None:
    app = open_page("lessons")
    assert primary(app) == ["begin-1-what-a-head-looks-at"]
    app.session_state["_attnviz_lessons"] = {
        "1-what-a-head-looks-at": {at: Progress(is_skipped=True) for at in range(6)},
        "2-one-sentence-seventy-two-maps": {0: Progress(is_skipped=True)},
    }
    app.run()
    assert "**1 · What a head looks at** :green-badge[:material/check: Done]" in page_text(app)
    assert "**2 · One sentence, seventy-two maps**" in page_text(app)
    assert primary(app) == ["begin-2-one-sentence-seventy-two-maps"]
    assert [button.label for button in app.button if button.proto.type == "primary"] == ["Go on"]


@pytest.mark.parametrize("step", [1, 2])
def test_a_row_that_the_picture_does_not_have_is_one_sentence(open_lesson, tmp_path: Path, step: int) -> None:
    text = LESSON.replace('row: "2"', "row: nowhere").replace('row: "1"', "row: nowhere")
    (tmp_path / "love.md").write_text(text, encoding="utf-8")
    app = open_lesson(step=step)
    assert not app.exception
    assert "There is no row “nowhere”: there are " in page_text(app)


def test_the_end_is_told_when_the_last_question_is_over(open_lesson) -> None:
    app = open_lesson("masks", step=4)
    assert "The end" not in page_text(app)
    app.button(key="lesson-skip").click().run()
    assert "The end. None of 4 answered, 1 skipped." in page_text(app)
    assert primary(app) == ["lesson-all"], "there is no lesson after this one"


def test_the_end_of_a_lesson_leads_to_the_next_one(open_lesson) -> None:
    """To the next one that is listed: “broken” stands between."""
    app = open_lesson(
        lesson="9-what-a-patch-looks-at", step=8, page="heads", model="toy:digits", image="house", tab="patches"
    )
    app.button(key="lesson-skip").click().run()
    assert "Skipped. Right: “Above 0.9”." in page_text(app)
    app.button(key="lesson-following").click().run()
    assert app.query_params["lesson"] in ("love", ["love"])
    assert app.query_params["lesson_step"] in ("1", ["1"])


@pytest.mark.parametrize(
    ("answered", "right", "words"),
    [(0, 0, "None of 4 answered."), (3, 0, "3 of 4 answered, none right."), (3, 2, "3 of 4 answered, 2 right."),
     (4, 4, "4 of 4 answered, all right."), (1, 1, "1 of 4 answered, 1 right.")],
)  # fmt: skip
def test_a_lesson_is_summed_up_in_plain_words(monkeypatch, answered: int, right: int, words: str) -> None:
    did = {at: Progress(marked=AnswerScore(float(at < right))) for at in range(answered)}
    monkeypatch.setattr(judging, "lesson_progress", lambda lesson: did)
    monkeypatch.setattr(wording, "language", lambda: "en")
    assert judging.summary(OpenedLesson(read(LESSON), 3)) == f"The end. {words}"


def test_what_is_right_is_told_in_words_without_the_measure(open_lesson) -> None:
    app = open_lesson(
        page="heads", lesson="8-find-the-bug", step=6, model="toy:french", src="the red cat sees your horse"
    )
    app.button(key="lesson-skip").click().run()
    assert "Skipped. Right: “Nothing, this model is sound”." in page_text(app)


def test_a_lesson_that_there_is_not_is_one_note(open_lesson) -> None:
    app = open_lesson(lesson="none")
    assert not app.exception
    assert "There is no lesson “none”" in page_text(app)
    assert cross(app)[1, 0].any()
    assert "There is no lesson “none”" in page_text(app.run()), "as long as the address names it"


def test_the_list_stands_below_a_lesson_that_is_open(open_page) -> None:
    app = open_page("lessons", lesson="8-find-the-bug")
    assert "#### A perfect score" in page_text(app)
    assert "**1 · What a head looks at**" in page_text(app)


def test_a_lesson_that_was_done_in_this_browser_before_has_its_mark(open_page) -> None:
    app = open_page("lessons")
    app.session_state["_attnviz_draft"] = lesson_draft.Desk(is_known=True, done=frozenset({"8-find-the-bug"}))
    app.run()
    assert "**8 · Find the bug** :green-badge[:material/check: Done]" in page_text(app)
    keeper = "".join(part.proto.json for part in app.get("bidi_component"))
    assert "8-find-the-bug" in keeper, "the browser keeps it"


@pytest.mark.parametrize(("share", "verdict"), [(0.4, "Not right. So much."), (0.95, "Right. So much.")])
def test_a_drawn_row_is_right_or_not_by_a_rule_that_stays_in_sight(open_lesson, share: float, verdict: str) -> None:
    app = open_lesson(step=2)
    row = [1.0] + [0.0] * (cross(app).shape[-1] - 1)
    did = Progress(guess=row, truth=Truth(row, "this"), marked=AnswerScore(share, "So much."))
    app.session_state["_attnviz_lessons"] = {"love": {1: did}}
    rule = "Your row counts as right if it shares at least 90% of the weight with the model’s row."
    assert f"{verdict} {rule} The model: this." in page_text(app.run())


@pytest.mark.parametrize("step", ["0", "-1", "99", "x", "1e9", "²"])
def test_a_step_that_there_is_not_is_the_first_or_the_last(open_lesson, step: str) -> None:
    app = open_lesson(lesson_step=step)
    assert not app.exception


def test_close_leaves_the_picture_uncovered(open_lesson) -> None:
    app = open_lesson()
    app.button(key="lesson-close").click().run()
    assert cross(app)[1, 0].any()
    assert "lesson" not in app.query_params
