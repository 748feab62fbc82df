"""How right an answer is, by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.lessons.question import Option, Question
from attnviz.lessons.scoring import Truth, distribution_score, normalise, read_number, score_answer
from tests.each_case import each_case

MAP = Truth([[0, 1]], weights=[[0.25, 0.75], [None, None]])
WEIGHTS = st.lists(st.floats(0.01, 1), min_size=3, max_size=3).map(normalise)


def test_the_cell_of_most_weight_is_right_and_another_scores_its_share_of_it() -> None:
    question = Question("cell", "?")
    assert score_answer(question, [[0, 1]], MAP).share == 1
    assert score_answer(question, [[0, 0]], MAP).share == 0.33


def test_a_cell_nearly_as_heavy_is_not_right() -> None:
    truth = Truth([[0, 0]], weights=[[0.505, 0.495]])
    assert not score_answer(Question("cell", "?"), [[0, 1]], truth).is_right


@each_case("answer", [None, [], [[0]], [[0, 2]], [[-1, 0]], [[1, 0]], [[0, 0], [0, 1]], "00", [["0", 0]]])
def test_what_is_no_cell_of_the_question_is_refused_in_one_sentence(answer) -> None:
    with pytest.raises(ValueError, match=r"^[A-Z].*\.$"):
        score_answer(Question("cell", "?"), answer, MAP)


def test_a_row_scores_what_both_distributions_share() -> None:
    assert distribution_score([0.5, 0.5, 0], [0.25, 0.25, 0.5]) == pytest.approx(0.5)
    assert score_answer(Question("row", "?"), [2, 2, 0], Truth([0.25, 0.25, 0.5])).share == pytest.approx(0.5)


@given(WEIGHTS, WEIGHTS)
def test_a_rows_score_is_the_sum_of_minima(p: list[float], q: list[float]) -> None:
    assert distribution_score(p, q) == pytest.approx(sum(map(min, p, q)))
    assert distribution_score(p, q) == distribution_score(q, p)
    assert distribution_score(p, p) == pytest.approx(1)


@each_case("answer", [None, [1, 2], [0, 0, 0], [1, -1, 0], [1, float("nan"), 0], [1, float("inf"), 0]])
def test_what_is_no_row_is_refused(answer) -> None:
    with pytest.raises(ValueError, match="Draw a weight"):
        score_answer(Question("row", "?"), answer, Truth([0.25, 0.25, 0.5]))


def test_a_number_is_right_within_what_the_question_allows() -> None:
    question = Question("number", "?", within=0.5)
    assert score_answer(question, 3.5, Truth(4.0)).is_right
    assert not score_answer(question, 3.4, Truth(4.0)).is_right
    with pytest.raises(ValueError, match="Write a number"):
        score_answer(question, float("nan"), Truth(4.0))


@each_case(("typed", "number"), [("0,5", 0.5), (" −0.25 ", -0.25), ("1234,5", 1234.5), ("0,125", 0.125)])
def test_a_decimal_comma_is_a_decimal_point(typed: str, number: float) -> None:
    assert read_number(typed) == number


@each_case(
    ("typed", "said"),
    [
        ("1,234", "Is “1,234” 1234 or 1.234?"),
        ("1/2", "“1/2” is not one number"),
        ("5 %", "“5 %” is not one number"),
        (" ", "Write a number first"),
    ],
)
def test_a_number_that_can_be_read_two_ways_or_none_is_asked_about(typed: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_number(typed)
    with pytest.raises(ValueError, match=said):
        score_answer(Question("number", "?"), typed, Truth(1.0))


def test_a_score_is_in_whole_percent() -> None:
    truth = Truth([[0, 0]], weights=[[0.9993, 0.0007]])
    assert score_answer(Question("cell", "?"), [[0, 1]], truth).share == 0
    nearly = score_answer(Question("row", "?"), [0.104, 0.896], Truth([0.0, 1.0]))
    assert (nearly.share, nearly.is_right) == (0.9, True), "as “share 90%” and “right from 90%” say"


def test_texts_are_compared_without_case_and_signs() -> None:
    question = Question("translation", "?")
    assert score_answer(question, " je T’AIME ", Truth("Je t'aime.")).is_right
    assert not score_answer(question, "Je t'aimes.", Truth("Je t'aime.")).is_right


def test_an_option_and_a_head_are_right_or_not() -> None:
    choice = Question("choice", "?", options=(Option("a"), Option("b")), right=1)
    assert score_answer(choice, 1, Truth(1)).is_right
    assert score_answer(choice, 0, Truth(1)).share == 0
    head = Question("head", "?", heads=((0, 1), (2, 3)))
    assert score_answer(head, [2, 3], Truth([2, 3])).is_right
    for wrong in (True, 2, None, "1"):
        with pytest.raises(ValueError, match="Choose one"):
            score_answer(choice, wrong, Truth(1))


def test_a_free_text_is_not_scored_and_must_be_there() -> None:
    assert score_answer(Question("text", "?"), "anything", Truth("")).share is None
    with pytest.raises(ValueError, match="Write an answer"):
        score_answer(Question("text", "?"), "  ", Truth(""))
    with pytest.raises(ValueError, match="at most 2,000"):
        score_answer(Question("text", "?"), "a" * 2001, Truth(""))
