"""Scores of answers, from 0 to 1, compared with the model's values. Imports no page and no model.

Answers are JSON values: cells as `[[row, col], …]`, a row as a list of weights, a head as `[layer, head]`, a token,
translation or free text as a string, a number as a number, and an option as its index counted from 0.
"""

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from attnviz.lessons.phrases import Translatable, sentence
from attnviz.lessons.question import CELL, CHOICE, HEAD, NUMBER, ROW, TEXT, TOKEN, TRANSLATION, Question, positions

MOST_TEXT = 2_000  # characters of a free text
RIGHT_FROM = 0.9  # the least share that counts as right
_MOST_WEIGHTS = 4_096
_NO_NUMBER = Translatable("Write a number first, such as 12 or 0.5.")
_NONE_DRAWN = Translatable("Draw a weight for at least one key first.")
_PLAIN_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+", re.ASCII)
_COMMA_OR_GROUP = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)  # 1,234 may mean 1.234 or 1234


@dataclass(frozen=True)
class Truth:
    """The right answer, in the same form as an answer; "" for a free text, which is not scored.

    For a question of kind `cell`, `weights` has the rows of the whole map, with None for cells that cannot be chosen.
    `margin` is the difference between the right answer's value and the next best one's. `said` is the right answer in
    words. `measured` is the value of the measure by which an option was selected; only authors see it.
    """

    answer: Any
    said: str = ""
    weights: Sequence[Sequence[float | None]] = ()
    margin: float | None = None
    measured: float | None = None


@dataclass(frozen=True)
class AnswerScore:
    """The score of an answer: `share` from 0 to 1, or None if the kind is not scored, and a sentence on the
    difference.
    """

    share: float | None
    said: str = ""

    @property
    def is_right(self) -> bool:
        """Whether the answer counts as right: `share` is at least `RIGHT_FROM`, which a finger on a screen can
        reach.
        """
        return self.share is not None and self.share >= RIGHT_FROM


def score_answer(question: Question, answer: Any, truth: Truth) -> AnswerScore:
    """Score an answer, rounded to whole percent. Raises ValueError for an answer that does not fit the question."""
    answer = validate_answer(question, answer, truth)
    found = _SCORE[question.kind](question, answer, truth)
    return found if found.share is None else replace(found, share=math.floor(found.share * 100 + 0.5) / 100)


def validate_answer(question: Question, answer: Any, truth: Truth) -> Any:
    """Return the answer if it is valid for this question. Raises ValueError with a sentence on what is missing."""
    problem = _PROBLEM[question.kind](question, answer, truth)
    if problem:
        raise ValueError(problem)
    return answer


def distribution_score(guess: Sequence[float], weights: Sequence[float]) -> float:
    """Compute the overlap 1 − ½ Σ |p − q| of two distributions over the same keys, from 0 to 1."""
    return max(0.0, 1 - sum(abs(p - q) for p, q in zip(guess, weights, strict=True)) / 2)


def normalise(guess: Sequence[float]) -> list[float]:
    """Divide weights by their sum. Raises ValueError if all are 0."""
    total = math.fsum(guess)
    if not total > 0:
        raise ValueError(_NONE_DRAWN)
    return [weight / total for weight in guess]


def read_number(text: str) -> float:
    """Read a number from typed text; a decimal comma counts as a decimal point.

    Raises ValueError for a text that is not a number, and for a comma that may separate thousands.
    """
    typed = text.strip().replace("−", "-")
    if _COMMA_OR_GROUP.fullmatch(typed):
        whole, decimal = typed.replace(",", ""), typed.replace(",", ".")
        raise ValueError(
            Translatable(
                "Is “{typed}” {whole} or {decimal}? Write it without the comma, or with a point.",
                typed=typed,
                whole=whole,
                decimal=decimal,
            )
        )
    if _DECIMAL_COMMA.fullmatch(typed):
        typed = typed.replace(",", ".")
    if not typed:
        raise ValueError(_NO_NUMBER)
    if not _PLAIN_NUMBER.fullmatch(typed) or not math.isfinite(float(typed)):
        raise ValueError(
            Translatable("“{typed}” is not one number. Please write one such as 12 or 0.5.", typed=typed[:40])
        )
    return float(typed)


def fold_text(text: str) -> str:
    """Normalize a text for comparison: remove punctuation and symbols, fold case, and collapse spaces."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    words = "".join(" " if unicodedata.category(one)[0] in "PZC" else one for one in plain)
    return " ".join(words.split())


def _cells(question: Question, answer: Any, truth: Truth) -> AnswerScore:
    """Score chosen cells by the sum of their weights, divided by the largest sum of as many cells."""
    best = sum(truth.weights[row][col] or 0.0 for row, col in truth.answer)
    got = sum(truth.weights[row][col] or 0.0 for row, col in answer)
    hits = len({tuple(cell) for cell in answer} & {tuple(cell) for cell in truth.answer})
    share = min(1.0, got / best) if best > 0 else 0.0
    if hits == len(truth.answer):
        return AnswerScore(1.0)
    share = min(share, 0.89)  # near the largest weight is not on it
    said = Translatable(
        "Your choice has weight {got}; the largest weight is {best}.", got=f"{got:.2f}", best=f"{best:.2f}"
    )
    return AnswerScore(share, said)


def _row(question: Question, answer: Any, truth: Truth) -> AnswerScore:
    share = distribution_score(normalise(answer), truth.answer)
    return AnswerScore(
        share, Translatable("Your row shares {share} of its weight with the model's row.", share=f"{share:.0%}")
    )


def _score_equal(question: Question, answer: Any, truth: Truth) -> AnswerScore:
    return AnswerScore(float(answer == truth.answer))


def _same_text(question: Question, answer: Any, truth: Truth) -> AnswerScore:
    if question.options:
        return _score_equal(question, answer, truth)
    return AnswerScore(float(fold_text(answer) == fold_text(truth.answer)))


def _number(question: Question, answer: Any, truth: Truth) -> AnswerScore:
    off = abs(answer - truth.answer)
    if off <= question.within + 1e-9 * abs(truth.answer):
        return AnswerScore(
            1.0, "" if off == 0 else Translatable("Off by {off}, which is near enough.", off=f"{off:.3g}")
        )
    share = max(0.0, 1 - off / max(abs(truth.answer), question.within, 1e-12)) / 2
    return AnswerScore(share, Translatable("Off by {off}.", off=f"{off:.3g}"))


def _no_score(question: Question, answer: Any, truth: Truth) -> AnswerScore:
    return AnswerScore(None)


_SCORE = {
    CELL: _cells,
    ROW: _row,
    HEAD: _score_equal,
    TOKEN: _same_text,
    TRANSLATION: _same_text,
    NUMBER: _number,
    CHOICE: _score_equal,
    TEXT: _no_score,
}


def _cells_problem(question: Question, answer: Any, truth: Truth) -> str:
    one = (
        Translatable("Choose a cell first.")
        if question.row
        else Translatable("Choose a cell first: its row and its key.")
    )
    needed = one if question.most == 1 else Translatable("Please choose {count} cells first.", count=question.most)
    if not isinstance(answer, Sequence) or isinstance(answer, str) or not positions(answer, question.most):
        return needed
    if len({tuple(cell) for cell in answer}) < question.most:
        return needed
    n_rows, n_cols = len(truth.weights), len(truth.weights[0]) if truth.weights else 0
    if not all(0 <= row < n_rows and 0 <= col < n_cols for row, col in answer):
        return Translatable("There is no such cell: the map has {rows} rows and {keys} keys.", rows=n_rows, keys=n_cols)
    if any(truth.weights[row][col] is None for row, col in answer):
        return Translatable("Please choose cells in the row that the question asks about.")
    return ""


def _row_problem(question: Question, answer: Any, truth: Truth) -> str:
    n_keys = len(truth.answer)
    if not isinstance(answer, Sequence) or isinstance(answer, str) or not len(answer) == n_keys <= _MOST_WEIGHTS:
        return _NONE_DRAWN
    if not all(_is_number(weight) and weight >= 0 for weight in answer) or not sum(answer) > 0:
        return _NONE_DRAWN
    return ""


def _head_problem(question: Question, answer: Any, truth: Truth) -> str:
    is_one = isinstance(answer, Sequence) and list(answer) in [list(head) for head in question.heads]
    return "" if is_one else Translatable("Choose one of the heads first.")


def _option_problem(question: Question, answer: Any, truth: Truth) -> str:
    is_one = isinstance(answer, int) and not isinstance(answer, bool) and 0 <= answer < len(question.options)
    return "" if is_one else Translatable("Choose one of the answers first.")


def _said_problem(question: Question, answer: Any, truth: Truth) -> str:
    return _option_problem(question, answer, truth) if question.options else _text_problem(question, answer, truth)


def _text_problem(question: Question, answer: Any, truth: Truth) -> str:
    if not isinstance(answer, str) or not answer.strip():
        return Translatable("Write an answer first.")
    return (
        ""
        if len(answer) <= MOST_TEXT
        else Translatable("An answer has at most {most} characters.", most=f"{MOST_TEXT:,}")
    )


def _number_problem(question: Question, answer: Any, truth: Truth) -> str:
    if isinstance(answer, str):  # a text that `read_number` refuses
        try:
            read_number(answer)
        except ValueError as error:
            return sentence(error)
    return "" if _is_number(answer) else _NO_NUMBER


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


_PROBLEM = {
    CELL: _cells_problem,
    ROW: _row_problem,
    HEAD: _head_problem,
    TOKEN: _said_problem,
    TRANSLATION: _said_problem,
    NUMBER: _number_problem,
    CHOICE: _option_problem,
    TEXT: _text_problem,
}
