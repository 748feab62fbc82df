"""Right answers come from the model's own run: compared with PyTorch's numbers of the same trace."""

from dataclasses import replace

import pytest
import torch

from attnviz.lessons.answers import truth_of
from attnviz.lessons.lesson import Link
from attnviz.lessons.picture import LinkedPicture, pictures
from attnviz.lessons.question import Option, Question, Range
from tests.each_case import each_case

TEXTS = {"src": "The red dog sleeps.", "to": "fr", "kind": "cross", "layer": "2", "head": "4"}


@pytest.fixture(scope="module")
def picture() -> LinkedPicture:
    return pictures()(Link("Heads", TEXTS))


def test_the_cell_is_where_the_trace_has_most(picture: LinkedPicture) -> None:
    attn = picture.trace.attn("cross", layer=2, head=4)
    truth = truth_of(Question("cell", "?", most=2), picture)
    best = attn.flatten().topk(2).indices.tolist()
    assert sorted(map(tuple, truth.answer)) == sorted(divmod(at, attn.shape[1]) for at in best)


def test_cells_of_other_rows_cannot_be_chosen(picture: LinkedPicture) -> None:
    truth = truth_of(Question("cell", "?", row="rouge"), picture)
    assert truth.answer == [[2, 1]]
    assert [row for row, weights in enumerate(truth.weights) if None not in weights] == [2]


def test_a_row_is_the_softmax_of_its_scores(picture: LinkedPicture) -> None:
    truth = truth_of(Question("row", "?", row="2"), picture)
    scores = picture.trace.scores("cross", layer=2, head=4)[2]
    torch.testing.assert_close(torch.tensor(truth.answer), scores.softmax(-1))


def test_a_token_is_what_the_model_wrote_and_options_are_found_by_it(picture: LinkedPicture) -> None:
    assert truth_of(Question("token", "?", row="1"), picture).answer == "chien"
    options = (Option("rouge"), Option("Chien"))
    assert truth_of(Question("token", "?", row="1", options=options), picture).answer == 1
    with pytest.raises(ValueError, match="0 of the options"):
        truth_of(Question("token", "?", row="2", options=(Option("a"), Option("b"))), picture)


def test_a_head_is_that_of_the_largest_measure_or_the_least(picture: LinkedPicture) -> None:
    question = Question("head", "?", heads=((0, 0), (2, 4)), by="weight", row="rouge", col="red")
    assert truth_of(question, picture).answer == [2, 4]
    assert truth_of(replace(question, least=True), picture).answer == [0, 0]


def test_a_choice_is_the_range_that_the_measure_lies_in(picture: LinkedPicture) -> None:
    options = (Option("few", Range(0, 10)), Option("many", Range(11, 100)))
    question = Question("choice", "?", measure="maps", options=options)
    assert truth_of(question, picture).answer == 1
    with pytest.raises(ValueError, match="lies in none"):
        truth_of(replace(question, options=(options[0], Option("no", Range(100, 200)))), picture)


@each_case(
    ("question", "words"),
    [
        (Question("cell", "?", row="vert"), "There is no row “vert”"),
        (Question("cell", "?", row="17"), "rows 0 to 5"),
        (Question("number", "?", measure="beauty"), "“measure” is one of .*, not “beauty”"),
        (Question("number", "?", measure="weight", row="0"), "“col” is missing: the measure weight needs it"),
        (Question("head", "?", heads=((0, 0), (9, 9)), by="entropy"), "There is no L9 H9"),
        (Question("head", "?", heads=((0, 0), (1, 1)), by="charm"), "not “charm”"),
        (Question("number", "?", measure="parameter_share", more={"heads": "3"}), "do not divide"),
    ],
)
def test_a_question_that_does_not_fit_says_why(picture: LinkedPicture, question: Question, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        truth_of(question, picture)


def test_without_a_picture_only_what_the_author_says_is_right() -> None:
    options = (Option("a"), Option("b"))
    assert truth_of(Question("choice", "?", options=options, right=1), None).answer == 1
    with pytest.raises(ValueError, match="put a link"):
        truth_of(Question("cell", "?"), None)
