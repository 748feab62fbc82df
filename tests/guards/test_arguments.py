"""Arguments are read by their annotations: a value with one possible meaning is accepted, others get one sentence."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch

from attnviz.guards.arguments import reads_arguments
from tests.each_case import each_case


class Thing:
    """A class that nobody has heard of."""


@reads_arguments
def accepted_arguments(
    text: str, *, count: int | None = None, flag: bool = True, share: float = 0.5, side: Literal["src", "tgt"] = "src",
    heads: Sequence[int] | None = None, words: str | Sequence[str] = "", path: str | Path = "",
    things: Sequence[Thing] = (), tell: Callable[[int], None] | None = None, anything: Any = None,
    later: "Sequence[Thing] | Missing" = (),  # type: ignore[name-defined]  # noqa: F821
) -> dict[str, Any]:  # fmt: skip
    """Return the arguments that were accepted."""
    return dict(locals())


@each_case(
    ("given", "taken"),
    [
        ({"count": np.int64(2)}, {"count": 2}),
        ({"count": torch.tensor(2)}, {"count": 2}),
        ({"flag": np.bool_(False)}, {"flag": False}),
        ({"share": 1}, {"share": 1}),
        ({"heads": 2}, {"heads": [2]}),
        ({"heads": range(2)}, {"heads": [0, 1]}),
        ({"heads": np.arange(2)}, {"heads": [0, 1]}),
        ({"words": ("a", "b")}, {"words": ("a", "b")}),
        ({"words": None, "flag": True}, {"words": ""}),
        ({"path": Path("x")}, {"path": Path("x")}),
        ({"anything": [object]}, {"anything": [object]}),
        ({"later": 3}, {"later": 3}),
    ],
)
def test_what_is_meant_is_taken(given, taken):
    found = accepted_arguments("a", **given)
    assert {name: found[name] for name in taken} == taken
    assert all(type(found[name]) is type(value) for name, value in taken.items())


def test_one_thing_is_taken_where_several_are_asked_for():
    one = Thing()
    assert accepted_arguments("a", things=one)["things"] == [one]


@each_case(
    ("given", "says"),
    [
        ({"text": None}, "text is one text, not None."),
        ({"text": ["a", "b"]}, "text is one text, not a list."),
        ({"text": torch.zeros(2)}, "text is one text, not a Tensor."),
        (
            {"text": np.zeros((2, 2, 3))},
            "text is one text, not a ndarray. Only vision models, such as ViT, read images.",
        ),
        ({"count": "0"}, "count is a whole number, not '0'."),
        ({"count": 1.0}, "count is a whole number, not 1.0."),
        ({"count": True}, "count is a whole number, not True."),
        ({"flag": "no"}, "flag is True or False, not 'no'."),
        ({"share": "1"}, "share is a number, not '1'."),
        ({"side": 3}, "side is one of src, tgt, not 3."),
        ({"heads": "0"}, "heads is a list of whole numbers, not '0'."),
        ({"heads": [0.5]}, "heads is a list of whole numbers, not a list."),
        ({"words": 3}, "words is one text or a list of texts, not 3."),
        ({"path": 3}, "path is one text or a path, not 3."),
        ({"things": "a"}, "things is a list of a Thing, not 'a'."),
        ({"tell": 3}, "tell is a function, not 3."),
        ({"count": "9" * 500}, f"count is a whole number, not '{'9' * 59}."),
    ],
)
def test_what_is_not_meant_gets_a_sentence_that_names_it(given, says):
    with pytest.raises(ValueError, match=f"^{re.escape(says)}$"):
        accepted_arguments(**({"text": "a"} | given))


def test_a_wrong_name_and_a_missing_argument_are_python_s_own():
    for given in ({}, {"text": "a", "unknown": 1}):
        with pytest.raises(TypeError):
            accepted_arguments(**given)
