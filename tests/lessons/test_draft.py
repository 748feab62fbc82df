"""A draft keeps the typed texts, becomes a lesson's file, and can be made from one."""

import dataclasses
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz.lessons.draft import MOST_STEPS, QUESTION, Draft, DraftStep
from attnviz.lessons.lesson import Lesson
from attnviz.lessons.library import SHIPPED
from attnviz.lessons.proofreading import head_problems, lesson_of, picture_link, remarks, step_problems
from attnviz.lessons.reading import read, read_file
from attnviz.lessons.writing import draft_of, file_name, markdown

LINK = "/heads?src=The+red+dog+sleeps.&to=fr&kind=cross&layer=2&head=4"
HEAD = Draft("Where?", "10", "anybody", "en")
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=40)


def parts(part):
    """Draw lists and objects of JSON with names that a draft has."""
    names = st.sampled_from(["title", "steps", "name", "question", *QUESTION])
    return st.lists(part) | st.dictionaries(names, part)


def without_lines(lesson: Lesson) -> Lesson:
    """Drop a lesson's line numbers and signatures."""
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
    assert head_problems(draft) == []
    assert [step_problems(step) for step in draft.steps] == [[]] * len(draft.steps)


@settings(max_examples=60, deadline=None)
@given(ask=TEXTS, why=TEXTS, options=st.lists(TEXTS, min_size=2, max_size=3), title=TEXTS)
def test_whatever_is_typed_is_read_as_it_was_typed_or_refused_in_a_sentence(ask, why, options, title) -> None:
    lines = [" ".join(option.split()) for option in options]
    question = {"kind": "choice", "ask": ask, "why": why, "options": "\n".join(lines), "right": "1"}
    draft = dataclasses.replace(HEAD, title=title, steps=(DraftStep("Step", "Text.", "", question),))
    if problems := head_problems(draft) + step_problems(draft.steps[0]):
        assert all(problem.endswith(".") for problem in problems)
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
    assert titles(draft.move(0, 1)) == "bac"
    assert titles(draft.move(2, 0)) == "cab"
    assert titles(draft.duplicate(1)) == "abbc"
    assert len({step.name for step in draft.duplicate(1).steps}) == 4
    assert titles(draft.remove(1)) == "ac"
    assert titles(draft.insert(3, DraftStep("d"))) == "abcd"
    full = dataclasses.replace(HEAD, steps=tuple(DraftStep("x") for _ in range(MOST_STEPS)))
    with pytest.raises(ValueError, match="at most 60 steps"):
        full.duplicate(0)


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (DraftStep(""), "Give the step a title."),
        (DraftStep("a", "one\n\n## two"), "A heading “## …”, or a line of dashes"),
        (DraftStep("a", "```\nopen", "", {"kind": "text", "ask": "b"}), "begins a block of code"),
        (DraftStep("a", "", "https://example.com/"), "The link leads to none"),
        (DraftStep("a", "", "/heads"), "shows no picture"),
        (DraftStep("a", "", "", {"kind": "cell"}), "“What is asked” is missing."),
        (DraftStep("a", "", "", {"kind": "row", "ask": "b"}), "“The row” is missing."),
        (
            DraftStep("a", "", "", {"kind": "choice", "ask": "b", "options": "x\ny"}),
            "“Right is” is missing: say which answer is right",
        ),
        (
            DraftStep("a", "", "", {"kind": "choice", "ask": "b", "options": "x\ny", "measure": "d_k", "when": "1"}),
            "“In which range each is right” is a range such as",
        ),
    ],
)
def test_a_step_that_is_not_finished_says_what_is_missing(step: DraftStep, said: str) -> None:
    problems = " ".join(step_problems(step))
    assert said in problems
    assert "Line" not in problems


def test_all_that_a_step_lacks_is_said_at_once_by_the_names_of_the_fields() -> None:
    asked = {"kind": "number", "within": "near", "show": "rows"}
    assert step_problems(DraftStep("", "", "/heads", asked)) == [
        "Give the step a title.",
        "This link shows no picture; use “Copy link” on the page.",
        "“What is asked” is missing.",
        "“What is measured” is missing.",
        "“Right within” is a number from 0 on, not “near”.",
        "“Third hint: a spotlight on” is one of row, map, grid, strip, not “rows”.",
    ]


def test_what_a_measure_lacks_is_said_by_the_names_of_the_fields() -> None:
    from attnviz.lessons.picture import pictures

    run = pictures()
    for measure, said in {
        "weight": "“Row” is missing",
        "leak": "“With” lacks at",
        "wight": "“What is measured” is one of",
    }.items():
        step = DraftStep("a", "", LINK, {"kind": "number", "ask": "b", "measure": measure})
        draft = dataclasses.replace(HEAD, steps=(step,))
        ((problem, is_problem),) = remarks(draft, 0, lambda link: None if link is None else run(link))
        assert is_problem
        assert problem.startswith(said)


def test_a_draft_that_is_no_lesson_says_all_that_is_missing() -> None:
    draft = Draft("", "x", "", "en", steps=(DraftStep("a"), DraftStep("", "", "", {"kind": "text"})))
    with pytest.raises(ValueError, match="Give") as error:
        lesson_of(draft, "x")
    assert str(error.value).split("\n") == [
        "Give the lesson a title.",
        "Say for whom the lesson is.",
        "“Minutes” is a whole number from 1 to 240.",
        "Step 2: Give the step a title.",
        "Step 2: “What is asked” is missing.",
    ]


def test_a_lesson_that_is_not_listed_stays_so_as_a_draft() -> None:
    draft = dataclasses.replace(HEAD, unlisted="true", steps=(DraftStep("a"),))
    assert not lesson_of(draft, "x").is_listed
    assert draft_of(lesson_of(draft, "x")).unlisted == "true"
    assert lesson_of(dataclasses.replace(draft, unlisted=""), "x").is_listed


def test_the_head_says_what_is_missing() -> None:
    assert head_problems(dataclasses.replace(HEAD, title=" ")) == ["Give the lesson a title."]
    assert head_problems(dataclasses.replace(HEAD, minutes="x")) == ["“Minutes” is a whole number from 1 to 240."]
    (problem,) = head_problems(dataclasses.replace(HEAD, about="## No"))
    assert "begins another step" in problem
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
