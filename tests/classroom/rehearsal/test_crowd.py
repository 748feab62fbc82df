"""Invented answers fit the question: right ones are the truth, wrong ones are not right."""

from random import Random

from attnviz.classroom.rehearsal.rehearsals import TEXTS, invented_answer
from attnviz.lessons.question import Option, Question
from attnviz.lessons.scoring import Truth, score_answer
from tests.each_case import each_case

MAP = [[0.7, 0.2, 0.1], [0.1, 0.6, 0.3]]
TWO = (Option("one"), Option("two"))
CASES = {
    "cell": (Question("cell", "?"), Truth([[0, 0]], weights=MAP)),
    "cells": (Question("cell", "?", most=2), Truth([[0, 0], [1, 1]], weights=MAP)),
    "cell of a row": (Question("cell", "?", row="1"), Truth([[1, 1]], weights=[[None] * 3, MAP[1]])),
    "row": (Question("row", "?", row="0"), Truth([0.7, 0.2, 0.1])),
    "head": (Question("head", "?", heads=((0, 1), (2, 3), (1, 1))), Truth([2, 3])),
    "token": (Question("token", "?", row="0"), Truth("chien")),
    "token of two": (Question("token", "?", row="0", options=TWO), Truth(1)),
    "translation": (Question("translation", "?"), Truth("Un chien.")),
    "share": (Question("number", "?", measure="weight", within=0.05), Truth(0.31)),
    "count": (Question("number", "?", measure="heads"), Truth(8)),
    "nothing": (Question("number", "?", measure="entropy"), Truth(0.0)),
    "choice": (Question("choice", "?", options=TWO), Truth(0)),
}


@each_case(("question", "truth"), CASES.values(), ids=CASES.keys())
def test_right_answers_are_the_truth_and_wrong_ones_are_taken_and_not_right(question: Question, truth: Truth) -> None:
    for number in range(60):
        chance = Random(f"seed {number}")
        assert invented_answer(question, truth, chance, is_right=True) == truth.answer
        wrong = invented_answer(question, truth, chance, is_right=False)
        assert not score_answer(question, wrong, truth).is_right
        assert question.kind != "number" or wrong >= 0, "what is counted or shared out is never below 0"


def test_wrong_answers_differ() -> None:
    for question, truth in CASES.values():
        found = {str(invented_answer(question, truth, Random(f"{n}"), is_right=False)) for n in range(40)}
        assert len(found) > 1 or question.kind == "choice" or question.options


def test_where_only_one_cell_can_be_chosen_it_is() -> None:
    question, truth = Question("cell", "?"), Truth([[0, 0]], weights=[[1.0]])
    assert invented_answer(question, truth, Random(1), is_right=False) == [[0, 0]]


def test_texts_say_that_they_are_invented() -> None:
    found = {invented_answer(Question("text", "?"), Truth(""), Random(n), is_right=n % 2 == 0) for n in range(50)}
    assert found == set(TEXTS)
    assert all(text.startswith("Invented: ") for text in TEXTS)
