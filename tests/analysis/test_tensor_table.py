"""A tensor as a table: every number with its place, whatever the order of the axes, and with its tokens."""

import numpy as np
import pytest

from attnviz.analysis import tables as module
from attnviz.analysis.tables import tensor_table

pytestmark = pytest.mark.computes

AXES = ("batch", "heads", "q_len")
TENSOR = np.arange(2 * 3 * 5, dtype=np.float32).reshape(2, 3, 5)


def test_every_number_has_its_place_along_each_axis() -> None:
    turned = TENSOR.transpose(2, 0, 1)
    table = tensor_table(turned, ("q_len", "batch", "heads"))
    assert len(table) == 30
    for line in table.itertuples():
        assert line.value == turned[line.q_len, line.batch, line.heads]


def test_tokens_are_those_of_the_sentence() -> None:
    sentences = [list("abcde"), list("vwxyz")]
    table = tensor_table(TENSOR, AXES, tokens={"q_len": sentences, "k_len": sentences})
    assert [column for column in table if "token" in column] == ["q_len token"]
    for line in table.to_dict("records"):
        assert line["q_len token"] == sentences[line["batch"]][line["q_len"]]


def test_an_axis_of_size_one_has_no_token() -> None:
    table = tensor_table(TENSOR[..., :1], AXES, tokens={"q_len": [list("abcde")] * 2})
    assert list(table) == [*AXES, "value"]


def test_too_many_numbers_keep_one_head_then_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_LINES", 12)
    table = tensor_table(TENSOR, AXES, head=2)
    assert (set(table["heads"]), set(table["batch"])) == ({2}, {0, 1})
    assert table["value"].tolist() == [*TENSOR[0, 2], *TENSOR[1, 2]]
    monkeypatch.setattr(module, "MOST_LINES", 9)
    assert tensor_table(TENSOR, AXES, head=1)["value"].tolist() == TENSOR[0, 1].tolist()


def test_names_must_be_as_many_as_axes() -> None:
    with pytest.raises(ValueError, match="3 axes"):
        tensor_table(TENSOR, AXES[:2])
