"""The shipped lessons are true on the shipped model: every answer is computed, and every link opens what it names."""

from collections.abc import Iterator
from functools import partial

import pytest

from attnviz.anatomy.implementations.page.state import ImplementationsState
from attnviz.anatomy.page.experiment import AnatomyState
from attnviz.app.address.persistent import BAR, FOCUS
from attnviz.decoding.decoding import DecodingState
from attnviz.heads.heads_state import HeadsState, read_heads_state
from attnviz.kit import fields
from attnviz.kit.focus import SiteBounds
from attnviz.learning.learning_state import LearningState
from attnviz.lessons.check import LEAST_MARGIN, check_step, check_text
from attnviz.lessons.folder.claims import untrue_claims
from attnviz.lessons.folder.lesson_data import lesson_data
from attnviz.lessons.lesson import Lesson, Link
from attnviz.lessons.library import SHIPPED
from attnviz.lessons.picture import Pictures, pictures
from attnviz.lessons.reading import read_file, read_text
from attnviz.masks.masks import MasksState
from attnviz.masks.page.controls import MasksTab
from attnviz.masks.tabs.leak import LeakState
from attnviz.patches.patches import PatchesState

pytestmark = pytest.mark.computes

FILES = sorted(SHIPPED.glob("*.md"))
STATES = {
    "Masks": (MasksState, MasksTab, LeakState),
    "Decoding": (DecodingState,),
    "Anatomy": (AnatomyState,),
    "Implementations": (ImplementationsState,),
    "Learning": (LearningState,),
}


@pytest.fixture(scope="module")
def run() -> Pictures:
    return pictures()


@pytest.fixture(scope="module", params=FILES, ids=lambda path: path.stem)
def lesson(request: pytest.FixtureRequest) -> Lesson:
    return read_file(request.param)


def test_nine_lessons_are_shipped() -> None:
    assert len(FILES) == 9


def test_every_answer_is_computed_stands_apart_and_is_as_signed(lesson: Lesson, run: Pictures) -> None:
    """`check_text` finds a problem where the next answer is nearer than `LEAST_MARGIN`, and where a text says something
    of its picture (a row, a tab, a button, a mask, a chosen line, tokens that go in) that the picture does not show.
    """
    assert LEAST_MARGIN == 0.02
    text = read_text((SHIPPED / f"{lesson.name}.md").read_text(encoding="utf-8"))
    check = partial(check_step, run=run, claims=untrue_claims)
    found = [one for block in check_text(text, check) for one in block.remarks]
    assert [one.said for one in found if one.is_problem] == []
    assert len(found) == len(lesson.questions)
    assert lesson.signed.keys() == {str(at + 1) for at in lesson.questions}


def test_its_texts_name_no_control_that_its_folder_lacks(lesson: Lesson, run: Pictures) -> None:
    assert lesson_data(lesson, run).warnings == ()


def test_it_takes_ten_to_fifteen_minutes_and_begins_and_ends_with_a_question(lesson: Lesson) -> None:
    assert 10 <= lesson.minutes <= 15
    assert lesson.steps[0].question is not None
    assert lesson.steps[-1].question is not None
    assert lesson.steps[-1].title in ("A sentence that you have not seen", "An image that you have not seen")
    assert all(question.why and question.hints for question in lesson.questions.values())


def test_a_lessons_last_sentence_is_not_used_before(lesson: Lesson) -> None:
    *others, last = [lesson.picture(at) for at in range(len(lesson.steps))]
    assert last is not None
    name = "image" if "image" in last.texts else "src"
    assert last.texts[name] not in {link.texts.get(name) for link in others if link}


def test_its_links_say_nothing_that_a_page_does_not_know(lesson: Lesson, run: Pictures) -> None:
    for step in lesson.steps:
        if step.link is not None:
            assert list(problems(step.link, run)) == []


def problems(link: Link, run: Pictures) -> Iterator[str]:
    """Collect what the page says against a link, and the names that it does not read."""
    states = STATES.get(link.page, ())
    shared = {*BAR, *FOCUS.get(link.page, ()), "tab"}
    known = {name for state in states or (HeadsState, PatchesState) for name in state().to_params()}
    yield from link.texts.keys() - shared - known
    bounds = {} if link.page == "Learning" else SiteBounds.from_trace(run(link).trace).by_field()
    if link.page == "Decoding":  # which shows one kind
        bounds = dict(zip(("layer", "head"), run(link).trace.shape("decoder_self"), strict=True))
    if not states:
        _, said = read_heads_state(link.texts, SiteBounds.from_trace(run(link).trace), (), HeadsState())
        yield from (one for one in said if one.name not in ("sort", "tint"))
    for state in states:
        yield from fields.read(state, link.texts, bounds)[1]
    if (
        link.page != "Learning" and "image" not in link.texts
    ):  # a toy that never ends is what one of the lessons is about
        yield from (note for note in run(link).trace.info.notes if "was cut" not in note or "toy" not in link.query)
