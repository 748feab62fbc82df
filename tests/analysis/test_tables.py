"""The numbers of a map as a table."""

import io

import pandas as pd
import pytest
import torch

import attnviz
from attnviz.analysis.tables import weights_table
from attnviz.maps.selection import select
from attnviz.models.translator.tiny import tiny_translator

pytestmark = pytest.mark.computes


@pytest.fixture(scope="module")
def trace():
    return tiny_translator(seed=0).trace("i love you", to="fr", tgt_text="un chien rouge")


@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self", "cross"])
def test_every_line_is_its_cell(trace, kind) -> None:
    maps = select(trace, kind)
    table = weights_table(maps, 1, 3)
    attn, mask = trace.attn(kind, layer=1, head=3), trace.mask(kind, layer=1, head=3)
    assert len(table) == attn.numel()
    for line in table.itertuples():
        assert line.weight == attn[line.row, line.key_position]
        assert line.masked != mask[line.row, line.key_position]
        assert line.row_in == maps.rows[line.row].input
        assert line.row_out == (maps.rows[line.row].output or "")
        assert line.key == maps.cols[line.key_position].text


@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self", "cross"])
def test_every_line_says_which_pieces_and_ids_its_texts_are(trace, kind) -> None:
    table = weights_table(select(trace, kind), 0, 0)
    queries, keys, outputs = trace.query_tokens(kind), trace.key_tokens(kind), trace.output_tokens(kind)
    for line in table.itertuples():
        assert (line.row_in_piece, line.row_in_id) == (queries[line.row].piece, queries[line.row].id)
        assert (line.key_piece, line.key_id) == (keys[line.key_position].piece, keys[line.key_position].id)
        if outputs is not None:
            assert (line.row_out_piece, line.row_out_id) == (outputs[line.row].piece, outputs[line.row].id)
    assert ("row_out_id" in table) == (outputs is not None)


def test_tokens_of_which_nobody_said_more_have_no_such_columns() -> None:
    own = attnviz.from_tensors(torch.eye(2), ["a", "b"])
    assert not [name for name in weights_table(select(own, "encoder_self"), 0, 0) if name.endswith(("_id", "_piece"))]


def test_csv_and_back_keeps_every_weight(trace) -> None:
    table = weights_table(select(trace, "cross"), "mean", 0)
    back = pd.read_csv(io.StringIO(table.to_csv(index=False)), keep_default_na=False)
    assert back["key"].tolist() == table["key"].tolist()
    assert back["weight"].astype("float32").tolist() == table["weight"].tolist()


def test_a_head_that_is_not_there_is_refused(trace) -> None:
    with pytest.raises(ValueError, match="head must be a number from 0 to 4 or 'mean', not 9"):
        weights_table(select(trace, "cross"), 0, 9)
