"""A draft: what was typed is kept, becomes a lesson's file, and comes back from one."""

import dataclasses
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz.lessons.draft import MOST_STEPS, QUESTION, Draft, DraftStep
from attnviz.lessons.lesson import Lesson
from attnviz.lessons.library import SHIPPED
from attnviz.lessons.proofreading import head_problem, lesson_of, picture_link, remarks, step_problem
from attnviz.lessons.reading import read, read_file
from attnviz.lessons.writing import draft_of, file_name, markdown

LINK = "/heads?src=The+red+dog+sleeps.&to=fr&kind=cross&layer=2&head=4"
HEAD = Draft("Where?", "10", "anybody", "en")
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=40)


def parts(part):
    """Lists and objects of JSON, of names that a draft has."""
    names = st.sampled_from(["title", "steps", "name", "question", *QUESTION])
    return st.lists(part) | st.dictionaries(names, part)


def without_lines(lesson: Lesson) -> Lesson:
    """What a lesson says, wherever it stands in its file, and by whomever it was signed."""
    steps = tuple(
        dataclasses.replace(
            step,
            line=0,
            link=step.link and dataclasses.replace(step.link, line=0),
            question=step.question and dataclasses.replace(step.question, line=0),
        )
        for step in lesson.steps
    )
    return dataclasses.replace(lesson, steps=steps, signed={})


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.md")), ids=lambda path: path.stem)
def test_a_shipped_lesson_comes_back_from_its_draft(path) -> None:
    lesson = read_file(path)
    draft = Draft.from_json(draft_of(lesson).to_json())
    assert without_lines(read(markdown(draft), name=lesson.name)) == without_lines(lesson)
    assert head_problem(draft) == ""
    assert [step_problem(step) for step in draft.steps] == [""] * len(draft.steps)


@settings(max_examples=60, deadline=None)
@given(ask=TEXTS, why=TEXTS, options=st.lists(TEXTS, min_size=2, max_size=3), title=TEXTS)
def test_whatever_is_typed_is_read_as_it_was_typed_or_refused_in_a_sentence(ask, why, options, title) -> None:
    lines = [" ".join(option.split()) for option in options]
    question = {"kind": "choice", "ask": ask, "why": why, "options": "\n".join(lines), "right": "1"}
    draft = dataclasses.replace(HEAD, title=title, steps=(DraftStep("Step", "Text.", "", question),))
    if problem := head_problem(draft) or step_problem(draft.steps[0]):
        assert problem.endswith(".")
        return
    (step,) = lesson_of(draft, "x").steps
    assert step.question is not None
    assert (step.question.ask, step.question.why) == (ask.strip(), why.strip())
    assert [option.text for option in step.question.options] == [line for line in lines if line]


@settings(max_examples=60, deadline=None)
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), parts))
def test_a_browser_may_say_anything(said) -> None:
    try:
        draft = Draft.from_json(json.dumps(said))
    except ValueError:
        return
    assert Draft.from_json(draft.to_json()) == draft


def test_steps_are_moved_doubled_and_deleted() -> None:
    draft = dataclasses.replace(HEAD, steps=tuple(DraftStep(title) for title in "abc"))
    titles = lambda one: "".join(step.title for step in one.steps)  # noqa: E731
    assert titles(draft.moved(0, 1)) == "bac"
    assert titles(draft.moved(2, 0)) == "cab"
    assert titles(draft.doubled(1)) == "abbc"
    assert len({step.name for step in draft.doubled(1).steps}) == 4
    assert titles(draft.without(1)) == "ac"
    assert titles(draft.added(3, DraftStep("d"))) == "abcd"
    full = dataclasses.replace(HEAD, steps=tuple(DraftStep("x") for _ in range(MOST_STEPS)))
    with pytest.raises(ValueError, match="at most 60 steps"):
        full.doubled(0)


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (DraftStep(""), "Give the step a title."),
        (DraftStep("a", "one\n\n## two"), "A heading “## …”, or a line of dashes"),
        (DraftStep("a", "```\nopen", "", {"kind": "text", "ask": "b"}), "begins a block of code"),
        (DraftStep("a", "", "https://example.com/"), "The link leads to none"),
        (DraftStep("a", "", "/heads"), "says nothing of a picture"),
        (DraftStep("a", "", "", {"kind": "cell"}), "A question of kind cell needs “ask: …”."),
        (DraftStep("a", "", "", {"kind": "row", "ask": "b"}), "needs “row: …”"),
        (DraftStep("a", "", "", {"kind": "choice", "ask": "b", "options": "x\ny"}), "Say which option is right"),
        (
            DraftStep("a", "", "", {"kind": "choice", "ask": "b", "options": "x\ny", "measure": "d_k", "when": "1"}),
            "holds a range",
        ),
    ],
)
def test_a_step_that_is_not_finished_says_what_is_missing(step: DraftStep, said: str) -> None:
    assert said in step_problem(step)
    assert "Line" not in step_problem(step)


def test_the_head_says_what_is_missing() -> None:
    assert head_problem(dataclasses.replace(HEAD, title=" ")) == "Give the lesson a title."
    assert "whole number from 1 to 240" in head_problem(dataclasses.replace(HEAD, minutes="x"))
    assert "begins another step" in head_problem(dataclasses.replace(HEAD, about="## No"))
    with pytest.raises(ValueError, match="A lesson has steps: add one"):
        lesson_of(HEAD, "x")


def test_the_answer_is_computed_from_the_picture_of_the_step_or_of_one_before() -> None:
    from attnviz.lessons.picture import pictures

    run = pictures()
    asked = {"kind": "cell", "ask": "Where?", "row": "rouge"}
    broken = DraftStep("b", "", "nowhere", {})
    draft = dataclasses.replace(HEAD, steps=(DraftStep("a", "", LINK), broken, DraftStep("c", "", "", asked)))
    link = picture_link(draft, 2)
    assert link is not None
    assert link.texts["head"] == "4"
    ((said, is_problem),) = remarks(draft, 2, lambda link: None if link is None else run(link))
    assert not is_problem
    assert said.startswith("Right is chien → rouge × red (0.99)")


def test_a_file_is_named_by_its_title() -> None:
    assert file_name(dataclasses.replace(HEAD, title="Where does “it” look?")) == "where-does-it-look.md"
    assert file_name(dataclasses.replace(HEAD, title="?")) == "lesson.md"
