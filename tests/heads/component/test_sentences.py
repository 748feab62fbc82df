"""Labels that the strip's tokens already are: left out of the payload, and read back as the browser reads them."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import torch

from attnviz.heads.payload import heads_payload
from attnviz.heads.sentences import packed_strip, sentence_strip, strip_labels
from attnviz.maps.grouping import ColLabel, RowLabel
from attnviz.maps.maps import EagerMaps
from attnviz.tracing.external.from_tensors import from_tensors

ROWS, COLS = 5, 7
NO_METRICS = pd.DataFrame({"kind": [], "layer": [], "head": []})
SOURCE = [f"key{i}" for i in range(COLS)]
TARGET = ["<bos>", *(f"out{i}" for i in range(ROWS))]
STRIP = {
    "lines": [
        {"name": "source", "tokens": [[text, False] for text in SOURCE]},
        {"name": "target", "tokens": [[text, text == "<bos>"] for text in TARGET]},
    ],
    "axes": {"cross": {"query": [1, 1], "key": [0, 0]}, "encoder_self": {"query": [0, 0], "key": [0, 0]}},
}


def steps() -> EagerMaps:
    """Make a decoder's map in which every label is a token of the strip in turn."""
    rows = tuple(RowLabel(TARGET[i], TARGET[i + 1], (i,)) for i in range(ROWS))
    cols = tuple(ColLabel(text, (i,)) for i, text in enumerate(SOURCE))
    square = torch.ones(1, 1, ROWS, COLS)
    return EagerMaps("cross", square > 0, rows, cols, attn=square / COLS)


def header_of(maps: EagerMaps) -> dict:
    return heads_payload({maps.kind: maps}, NO_METRICS, view={}, strip=STRIP)[0]


def test_labels_that_are_the_tokens_of_the_strip_are_not_told_twice():
    header = header_of(steps())
    assert not {"rows", "cols"} & header["kinds"][0].keys()
    assert header["strip"]["lines"][1] == {"name": "target", "tokens": TARGET, "special": [0]}
    read_back = strip_labels("cross", header["strip"], (ROWS, COLS))
    assert read_back["rows"] == [[row.input, row.output] for row in steps().rows]
    assert read_back["cols"] == SOURCE


def test_an_encoder_s_rows_put_out_nothing():
    rows = tuple(RowLabel(text, None, (i,)) for i, text in enumerate(SOURCE))
    cols = tuple(ColLabel(text, (i,)) for i, text in enumerate(SOURCE))
    square = torch.ones(1, 1, COLS, COLS)
    header = header_of(EagerMaps("encoder_self", square > 0, rows, cols, attn=square / COLS))
    assert not {"rows", "cols"} & header["kinds"][0].keys()
    assert strip_labels("encoder_self", header["strip"], (COLS, COLS))["rows"] == [[text, None] for text in SOURCE]


@pytest.mark.parametrize("change", [{"rows": 0}, {"rows": ROWS - 1}, {"cols": COLS - 1}])
def test_one_label_that_is_another_than_the_strip_s_is_told(change):
    ((name, at),) = change.items()
    axis = list(getattr(steps(), name))
    axis[at] = dataclasses.replace(axis[at], **({"output": "other"} if name == "rows" else {"text": "other"}))
    told = header_of(dataclasses.replace(steps(), **{name: tuple(axis)}))["kinds"][0]
    assert np.ravel(told[name])[-1 if at else 1] == "other"
    assert len(told.keys() & {"rows", "cols"}) == 1


def test_a_kind_that_the_strip_does_not_know_tells_its_labels():
    told = header_of(dataclasses.replace(steps(), kind="decoder_self"))["kinds"][0]
    assert told["cols"] == SOURCE
    assert told["rows"][0] == ["<bos>", "out0"]


def test_cross_attention_alone_has_both_of_its_sentences():
    trace = from_tensors(torch.full((2, 3), 1 / 3), ["x", "y"], key_tokens=["a", "b", "c"])
    strip = packed_strip(sentence_strip(trace))
    assert [(line["name"], line["tokens"]) for line in strip["lines"]] == [
        ("source", ["a", "b", "c"]),
        ("target", ["x", "y"]),
    ]
    assert strip_labels("cross", strip, (2, 3)) == {"rows": [["x", None], ["y", None]], "cols": ["a", "b", "c"]}
