"""A lesson's page scores every answer as `attnviz.lessons.scoring` does."""

from collections.abc import Iterator
from typing import Any

import pytest

from attnviz.lessons.folder.lesson_data import question_data
from attnviz.lessons.library import SHIPPED
from attnviz.lessons.picture import LinkedPicture, pictures
from attnviz.lessons.question import CELL, HEAD, NUMBER, ROW, Question
from attnviz.lessons.reading import read_file
from attnviz.lessons.scoring import Truth, fold_text, read_number, score_answer
from tests.each_case import each_case
from tests.heads.component.heads_page import NEEDS_A_BROWSER

pytestmark = NEEDS_A_BROWSER

SCORED = """({ scoreAnswer }, asked) => asked.map(([question, answers]) => answers.map((answer) => {
    const say = ({ english, values }) => english.replace(/{(\\w+)}/g, (_, name) => values[name]);
    const { refusal, share, said, isRight } = scoreAnswer(question, answer, question.truth);
    return refusal ? say(refusal) : [share, said ? say(said) : "", isRight];
}))"""
NONE = [None, "", "three", [], [[]], -1, 99, 0.5]  # no answers to most questions


def answers(question: Question, truth: Truth) -> list[Any]:
    """Right answers, wrong ones, and some that the question cannot have."""
    return [truth.answer, *_WRONG.get(question.kind, lambda *_: range(len(question.options)))(question, truth), *NONE]


def _cells(question: Question, truth: Truth) -> Iterator[Any]:
    every = [[row, col] for row, cells in enumerate(truth.weights) for col in range(len(cells))]
    if question.most == 1:
        yield from ([cell] for cell in every)
    yield from (every[at : at + question.most] for at in range(len(every)))
    yield from ([truth.answer[0]] * question.most, [*truth.answer, [0, 0]], [[-1, 0]], [[0, 1000]])


def _rows(question: Question, truth: Truth) -> Iterator[Any]:
    keys = range(len(truth.answer))
    yield from ([int(at == one) for at in keys] for one in keys)
    yield from ([1 for _ in keys], [0 for _ in keys], [-1, *truth.answer[1:]], truth.answer[1:])
    yield [weight * 0.5 + 0.03 for weight in truth.answer]


def _heads(question: Question, truth: Truth) -> list[Any]:
    return [*map(list, question.heads), [99, 0], truth.answer[:1]]


def _numbers(question: Question, truth: Truth) -> list[Any]:
    near = [truth.answer + question.within * part for part in (-1, -0.999, 0.5, 1, 1.001, 2)]
    return [*near, 0, -truth.answer, truth.answer * 1.5, truth.answer + 0.123456, 1e7, 1e-7, True]


_WRONG = {CELL: _cells, ROW: _rows, HEAD: _heads, NUMBER: _numbers}


def python_score(question: Question, answer: Any, truth: Truth) -> Any:
    try:
        scored = score_answer(question, answer, truth)
    except ValueError as error:
        return str(error)
    share = None if scored.share is None else pytest.approx(scored.share, abs=1e-12)
    return [share, str(scored.said), scored.is_right]


def question_fields(question: Question, truth: Truth, shown: LinkedPicture | None = None) -> dict[str, Any]:
    found = question_data(question, shown, say=str, why="") if shown else None
    return found or vars(question) | {"options": [option.text for option in question.options], "truth": vars(truth)}


def test_scores_of_all_questions_of_the_shipped_lessons(module) -> None:
    run, table = pictures(), []
    for path in sorted(SHIPPED.glob("*.md")):
        lesson = read_file(path)
        for at, question in lesson.questions.items():
            link = lesson.picture(at)
            shown = run(link) if link is not None and link.page != "Learning" else None
            data = question_data(question, shown, say=str, why="")
            truth = Truth(data["truth"]["answer"], weights=data["truth"]["weights"])
            table.append((f"{path.stem} {at + 1}", question, truth, data, answers(question, truth)))
    assert len(table) == 56
    found = module("lessons/lesson_page/js/scoring.js")(SCORED, [[data, tried] for *_, data, tried in table])
    for (name, question, truth, _, tried), scored in zip(table, found, strict=True):
        assert scored == [python_score(question, answer, truth) for answer in tried], name
        assert scored[0][2] is True, name
        assert any(one[2] is False for one in scored if isinstance(one, list)), name


@each_case(
    ("question", "truth", "tried"),
    [
        (Question("text", "?"), Truth(""), ["anything", "  ", "a" * 2000, "é" * 2001, "👍" * 2000, None, 3]),
        (Question("token", "?"), Truth("Straße"), ["strasse", "STRASSE", "straße.", "strase", "", None]),
        (Question("cell", "?", most=2), Truth([[0, 1], [0, 2]], weights=[[0.125, 0.25, 0.625]]), [[[0, 0], [0, 2]]]),
        (Question("cell", "?"), Truth([[0, 0]], weights=[[0.0, 0.0]]), [[[0, 1]], [[0, 0]]]),
        (Question("cell", "?"), Truth([[0, 0]], weights=[[0.505, 0.495]]), [[[0, 1]]]),
        (Question("row", "?"), Truth([0.125, 0.875]), [[1, 0], [0, 1], [1, 7], [3, 3]]),
        (Question("number", "?", within=0.5), Truth(1234567.0), [0, 1.2e9, 1234567.4, 1234000, 1234566.9999]),
        (Question("number", "?"), Truth(0.5), ["1,234", "-12,000", "half", "1/2", "0,5", "1.234.567", "1e999", " "]),
    ],
    ids=lambda one: one.kind if isinstance(one, Question) else "",
)  # fmt: skip
def test_scores_of_kinds_that_no_shipped_lesson_has(module, question, truth, tried) -> None:
    (found,) = module("lessons/lesson_page/js/scoring.js")(SCORED, [[question_fields(question, truth), tried]])
    assert found == [python_score(question, answer, truth) for answer in tried]


def test_texts_are_compared_alike(module) -> None:
    texts = ["Je t'aime.", " je  T’AIME ", "ﬁn", "Straße", "ΑΣ ΣΑΣ", "你好，世界。", "a\u00a0b\u200bc", "–x—", "½", "É"]
    pairs = [(one, other) for one in texts for other in [*texts, one.upper(), one.lower(), f"“{one}”!"]]
    same = module("lessons/lesson_page/js/scoring.js")(
        "({ fold }, all) => all.map(([a, b]) => fold(a) === fold(b))", pairs
    )
    assert same == [fold_text(one) == fold_text(other) for one, other in pairs]


def test_a_typed_number_is_read_alike(module) -> None:
    typed = [
        "0,5",
        ",5",
        "0.5",
        "-0,123",
        "−3",
        "+7",
        "1e-3",
        "12.",
        "1234,5",
        "1,23",
        "0,125",
        "1,234",
        "12,000",
        "5 %",
    ]

    def read(text: str) -> float | None:
        try:
            return read_number(text)
        except ValueError:
            return None

    found = module("lessons/lesson_page/js/numbers.js")(
        "({ readNumber }, all) => all.map((one) => readNumber(one).number ?? null)", typed
    )
    assert (
        found
        == [read(text) for text in typed]
        == [0.5, 0.5, 0.5, -0.123, -3, 7, 1e-3, 12, 1234.5, 1.23, 0.125] + [None] * 3
    )
