"""Invented answers: right ones are what the class computed, wrong ones such as a student might give."""

from collections.abc import Callable
from random import Random
from typing import Any

from attnviz.lessons.question import CELL, CHOICE, HEAD, NUMBER, ROW, TEXT, Question
from attnviz.lessons.scoring import Truth, score_answer

TEXTS = (
    "Invented: because the model has met this sentence often.",
    "Invented: it looks at the word that it needs next.",
    "Invented: I would say that the verb decides.",
    "Invented: I am not sure, perhaps the end of the sentence.",
    "Invented: both heads do the same here.",
    "Invented: the mask leaves it no other choice.",
)
_WRITTEN = ("invented word", "another invented word", "a third invented word")
_TRIES = 30


def invented_answer(question: Question, truth: Truth, chance: Random, *, is_right: bool) -> Any:
    """Invent an answer, in the form of `attnviz.lessons.scoring`. Where every answer is right, a wrong one is
    right, too.
    """
    if question.kind == TEXT:
        return chance.choice(TEXTS)
    if is_right:
        return truth.answer
    wrong = (_WRONG.get(question.kind, _other_text)(question, truth, chance) for _ in range(_TRIES))
    return next((given for given in wrong if not score_answer(question, given, truth).is_right), truth.answer)


def _other_cells(question: Question, truth: Truth, chance: Random) -> Any:
    """Draw cells of the rows that are asked about, more often where there is some weight."""
    cells = {
        (row, col): weight + 0.02
        for row, weights in enumerate(truth.weights)
        for col, weight in enumerate(weights)
        if weight is not None
    }
    chosen: list[list[int]] = []
    for _ in range(question.most):
        (cell,) = chance.choices(list(cells), list(cells.values()))
        del cells[cell]
        chosen.append(list(cell))
    return sorted(chosen)


def _uneven_row(question: Question, truth: Truth, chance: Random) -> Any:
    """Draw a row with most weight on some key, and a little on the others."""
    row = [round(0.3 * chance.random(), 2) for _ in truth.answer]
    row[chance.randrange(len(row))] = 1.0
    return row


def _other_head(question: Question, truth: Truth, chance: Random) -> Any:
    return list(chance.choice(question.heads))


def _number_off(question: Question, truth: Truth, chance: Random) -> Any:
    """Draw a number that is off by more than the question allows; whole where the right one is."""
    size = max(abs(truth.answer), question.within)
    off = max(size * chance.uniform(0.15, 0.9), 1.5 * question.within)
    off = max(chance.randint(1, 3), round(off)) if float(truth.answer).is_integer() else off
    below = truth.answer - off
    is_below = chance.random() < 0.5 and not below < 0 <= truth.answer  # a count below 0 is nobody's guess
    wrong = below if is_below else truth.answer + off
    return wrong if float(truth.answer).is_integer() else float(f"{wrong:.2g}")


def _other_option(question: Question, truth: Truth, chance: Random) -> Any:
    return chance.randrange(len(question.options))


def _other_text(question: Question, truth: Truth, chance: Random) -> Any:
    """Draw another token or translation."""
    return _other_option(question, truth, chance) if question.options else chance.choice(_WRITTEN)


_WRONG: dict[str, Callable[[Question, Truth, Random], Any]] = {
    CELL: _other_cells,
    ROW: _uneven_row,
    HEAD: _other_head,
    NUMBER: _number_off,
    CHOICE: _other_option,
}
