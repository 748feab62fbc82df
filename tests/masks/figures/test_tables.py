"""Tables of the Masks page: next tokens of several runs, the three answers of a row without keys, words to ask for."""

import math
import re

import pandas as pd
import pytest

from attnviz.kit.glossary import definition, definitions
from attnviz.kit.views.terms import term, term_if_known
from attnviz.masks.figures.tables import RunColumn, next_tokens_table, three_answers

NAMES = {"-inf": "−∞", "-1e9": "−1e9 (masked_fill)", "fused": "PyTorch's fused kernel"}


def answers(**changed: dict) -> str:
    common = {"weights": [0.25] * 4, "sum": 1.0, "smallest": 0.25, "largest": 0.25, "finding": "all the same <b>"}
    nan = dict.fromkeys(("sum", "smallest", "largest"), math.nan)
    lines = {
        "-inf": common | nan | {"weights": [0.0] * 4, "finding": "−∞ − (−∞)"},
        "-1e9": common,
        "fused": common | {"weights": [0.0] * 4, "sum": 0.0, "smallest": 0.0, "largest": 0.0},
    }
    table = pd.DataFrame([{"fill": fill, **line, **changed.get(fill, {})} for fill, line in lines.items()])
    return three_answers(table, NAMES, row="Row 2 <i>")


def headings(drawn: str) -> list[str]:
    return [re.sub("<[^>]*>", "", heading) for heading in re.findall("<h5>(.*?)</h5>", drawn)]


def test_the_three_answers_are_named_from_the_numbers() -> None:
    drawn = answers()
    assert headings(drawn) == [
        "−∞: NaN",
        "−1e9 (masked_fill): uniform, 0.25 each",
        "PyTorch&#x27;s fused kernel: zeros",
    ]
    assert "all the same &lt;b&gt;" in drawn
    assert "Row 2 &lt;i&gt;" in drawn


def test_an_answer_that_torch_refuses_is_told_as_refused() -> None:
    drawn = answers(**{"-1e9": {"weights": math.nan, "finding": "torch refuses"}})
    assert headings(drawn)[1] == "−1e9 (masked_fill): refused"
    assert "torch refuses" in drawn


def test_next_tokens_stand_beside_each_other_as_text_with_what_each_column_is() -> None:
    ways = [RunColumn("one <b>", "says & does", [("<eos>", 0.75), ("b", 0.125)]), RunColumn("none", "nothing", [])]
    drawn = next_tokens_table(ways)
    assert "one &lt;b&gt;" in drawn
    assert "says &amp; does" in drawn
    assert "&lt;eos&gt;" in drawn
    assert "background-size:75.0% 3px'>0.7500" in drawn
    assert drawn.count("NaN") == 1


def test_a_word_that_can_be_asked_for_has_a_definition() -> None:
    assert definition("renormalised")
    assert "tabindex='0'" in term("one pass over the whole target")
    with pytest.raises(KeyError):
        term("no such word")
    assert term_if_known("no such <word>") == "no such &lt;word&gt;"


def test_no_two_words_differ_by_their_capitals_alone() -> None:
    """A word is looked up as it stands on a button or in a sentence."""
    assert len({word.lower() for word in definitions("Masks")}) == len(definitions("Masks"))
