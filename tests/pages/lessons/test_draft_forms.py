"""The draft editor without a browser: mistakes by the names of the fields, the picture, a class."""

import dataclasses
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.classroom import instance
from attnviz.lessons.draft import Draft, DraftStep
from attnviz.ui.lessons import lesson_draft
from tests.lessons.front_matter import FRONT_MATTER

LINK = "/heads?src=I+love+you&to=fr&kind=cross&layer=1&head=0"
HEAD = Draft("Where?", "10", "anybody", "en")
UNFINISHED = {
    "cell": {},
    "row": {},
    "head": {"heads": "L0 H1"},
    "token": {"options": "one"},
    "translation": {"options": "one"},
    "number": {"within": "near"},
    "choice": {"options": "one\ntwo", "measure": "heads", "when": "much"},
    "text": {},
}


@pytest.fixture
def edit(open_page):
    """Provide the editor at step `at` of these steps; 0 is the form of the lesson itself."""

    def make(*steps: DraftStep, head: Draft = HEAD, at: int = 1) -> AppTest:
        app = open_page("lessons", edit=str(at))
        draft = dataclasses.replace(head, steps=steps)
        app.session_state["_attnviz_draft"] = lesson_draft.Desk(draft, revision=1, is_known=True)
        return app.run()

    return make


def joined_text(sentences) -> str:
    return "\n".join(one.value for one in sentences).replace("\\", "")


def labels(app: AppTest) -> list[str]:
    return [one.label for one in (*app.text_input, *app.text_area, *app.selectbox, *app.multiselect, *app.checkbox)]


@pytest.mark.parametrize("kind", UNFINISHED)
@pytest.mark.parametrize("link", ["", LINK])
def test_a_question_that_is_not_finished_names_the_fields_as_they_are_on_screen(edit, kind: str, link: str) -> None:
    app = edit(DraftStep("One", "", link, {"kind": kind, **UNFINISHED[kind]}))
    assert not app.exception
    named = re.findall(r"^“([^”]+)”", joined_text(app.warning), re.MULTILINE)
    assert "What is asked" in named, "and all others at once"
    assert len(named) >= {"cell": 1, "translation": 2, "text": 1, "row": 2, "choice": 2}.get(kind, 3)
    for name in named:
        assert any(label.startswith(name) for label in labels(app)), f"there is a field “{name}”"


def test_the_head_names_all_its_mistakes_by_its_fields(edit) -> None:
    app = edit(DraftStep("One"), head=Draft("", "soon", "", "en"), at=0)
    assert joined_text(app.warning).split("  \n") == [
        "Give the lesson a title.",
        "Say for whom the lesson is.",
        "“Minutes” is a whole number from 1 to 240.",
    ]
    assert "Minutes" in labels(app)


def test_the_open_steps_picture_is_beside_its_form(edit) -> None:
    steps = DraftStep("Map", "", LINK), DraftStep("Links", "", f"{LINK}&tab=links&lines=1.0~0.1"), DraftStep("Same")
    app = edit(*steps, at=1)
    (chart,) = app.get("plotly_chart")
    assert "Cross-attention, L1 H0" in chart.proto.spec
    assert "As the lesson opens it: Heads, tab Heads." in joined_text(app.caption)
    (chart,) = edit(*steps, at=2).get("plotly_chart")
    assert '"name":"L1 H0' in chart.proto.spec
    assert '"name":"L0 H1' in chart.proto.spec
    (chart,) = edit(*steps, at=3).get("plotly_chart")
    assert '"name":"L1 H0' in chart.proto.spec, "a step without a link keeps the picture before it"


def test_a_picture_that_cannot_be_run_is_one_sentence(edit) -> None:
    app = edit(DraftStep("One", "", "/heads?src=&to=fr"))
    assert not app.exception
    assert not app.get("plotly_chart")
    assert "sentence is empty" in joined_text(app.warning)


def test_a_file_with_several_mistakes_is_opened_as_no_draft_and_all_are_named(edit) -> None:
    broken = FRONT_MATTER.replace("minutes: 10", "minutes: ten") + "## One\n\n```question\nkind: row\n```\n"
    with pytest.raises(ValueError, match=r"^love\.md has 3 mistakes:") as error:
        lesson_draft.open_file("love.md", broken.encode())
    assert str(error.value).split("\n")[1:] == [
        "Line 3, front matter: “minutes” is a whole number from 1 to 240.",
        "Line 10, step 1, question: “ask” is missing; write “ask: …”.",
        "Line 10, step 1, question: “row” is missing; write “row: …”.",
    ]


def test_a_draft_that_is_no_lesson_begins_no_class_and_says_all_that_is_missing(edit) -> None:
    app = edit(DraftStep("One", "", "", {"kind": "text"}), head=Draft("", "10", "anybody", "en"))
    app.button(key="draft-class").click().run()
    assert joined_text(app.error).split("  \n") == ["Give the lesson a title.", "Step 1: “What is asked” is missing."]


def test_a_finished_draft_begins_a_class(edit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTNVIZ_DATABASE", f"sqlite:///{tmp_path / 'classes.sqlite'}")
    instance.close()
    app = edit(DraftStep("One", "Look.", LINK, {"kind": "text", "ask": "What do you see?"}))
    app.button(key="draft-class").click().run()
    assert not app.exception
    assert len(app.query_params["class"]) == 8
    instance.close()
