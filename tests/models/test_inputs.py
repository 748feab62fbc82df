"""Callers ask `Inputs` for a model's fields: each kind answers the questions of pages and shell."""

from attnviz.models.inputs import Inputs
from tests.each_case import each_case

QUESTIONS = ("has_language", "takes_target", "is_pair", "is_prompt")


@each_case(
    ("inputs", "yes"),
    [
        (Inputs.TRANSLATION, {"has_language", "takes_target"}),
        (Inputs.SOURCE_AND_TARGET, {"takes_target"}),
        (Inputs.PAIR, {"is_pair"}),
        (Inputs.PROMPT, {"is_prompt"}),
    ],
)
def test_each_kind_of_input_answers_what_callers_ask(inputs: Inputs, yes: set[str]) -> None:
    assert {question for question in QUESTIONS if getattr(inputs, question)} == yes
