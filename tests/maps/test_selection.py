"""Maps as shown: labels belong to their rows, heads and means are chosen, masks are kept."""

import pytest
import torch

from attnviz.maps.grouping import RowLabel
from attnviz.maps.selection import select
from attnviz.models.translator.tiny import tiny_translator
from attnviz.text.display import display
from attnviz.text.tokens import Token
from tests.analysis.heads.by_hand import BOS, tokens, trace_of
from tests.each_case import each_case


@pytest.fixture(scope="module")
def trace():
    return tiny_translator(seed=0).trace("machine learning is fun.", to="fr", tgt_text="un petit chien rouge")


def test_default_options_return_the_traces_own_maps(trace) -> None:
    for kind in trace.kinds:
        maps = select(trace, kind)
        assert torch.equal(maps.attn, trace.attn(kind))
        assert torch.equal(maps.visible_cells(1, 3), trace.mask(kind, layer=1, head=3))
        assert maps.left_out == ""


@pytest.mark.parametrize("kind", ["decoder_self", "cross"])
def test_the_row_labelled_a_to_b_is_the_row_whose_query_is_a_and_whose_output_is_b(trace, kind) -> None:
    maps = select(trace, kind)
    queries, outputs = trace.query_tokens(kind), trace.output_tokens(kind)
    assert len(maps.rows) == len(queries) == maps.attn.shape[-2]
    for at, row in enumerate(maps.rows):
        assert row == RowLabel(display(queries[at].text), display(outputs[at].text), (at,))
        assert row.text == f"{display(queries[at].text)} → {display(outputs[at].text)}"
    assert [row.output for row in maps.rows[:-1]] == [row.input for row in maps.rows[1:]]


def test_an_encoder_row_has_one_token(trace) -> None:
    maps = select(trace, "encoder_self")
    assert [row.text for row in maps.rows] == [col.text for col in maps.cols]
    assert all(row.output is None for row in maps.rows)


def test_a_decoding_cut_at_the_limit_says_so() -> None:
    trace = trace_of("cross", [[1.0], [1.0]], src=tokens("▁he"), tgt=tokens(BOS, "▁a"), cut=True)
    assert [row.text for row in select(trace, "cross").rows] == [f"{BOS} → a", "a → (cut)"]


def test_masks_that_differ_from_head_to_head_are_kept_apart() -> None:
    mask = torch.ones(1, 3, 2, 2, dtype=torch.bool)
    mask[0, 1, 0, 1] = False
    attn = torch.full((1, 3, 2, 2), 0.5)
    maps = select(trace_of("encoder_self", attn, src=tokens("▁a", "▁b"), mask=mask), "encoder_self")
    assert torch.equal(maps.mask, mask)
    assert maps.visible_cells(0, 1).tolist() == [[True, False], [True, True]]
    assert maps.visible_cells(0, "mean").all()


def test_repeated_tokens_keep_their_places() -> None:
    src = tokens("▁ha", "▁ha", "▁ha")
    maps = select(trace_of("encoder_self", torch.eye(3), src=src), "encoder_self")
    assert [(col.text, col.tokens) for col in maps.cols] == [("ha", (0,)), ("ha", (1,)), ("ha", (2,))]
    assert torch.equal(maps.weights(0, 0), torch.eye(3))


def test_invisible_characters_are_named() -> None:
    src = (Token("a\u200bb", 1, 0, 3), Token("<b>", 2, 3, 6))
    maps = select(trace_of("encoder_self", torch.eye(2), src=src), "encoder_self")
    assert [col.text for col in maps.cols] == ["a U+200B b", "<b>"]  # the drawing code escapes


def test_mean_is_over_layers_heads_or_both(trace) -> None:
    maps = select(trace, "cross")
    assert torch.allclose(maps.weights("mean", 3), maps.attn[:, 3].mean(0))
    assert torch.allclose(maps.weights(1, "mean"), maps.attn[1].mean(0))
    assert torch.allclose(maps.weights("mean", "mean"), maps.attn.mean((0, 1)))


@each_case("choice", [(2, 0), (0, 5), (-1, 0), ("all", 0), (True, 0), (0, "0")])
def test_a_layer_or_head_that_is_not_there_is_refused(trace, choice) -> None:
    with pytest.raises(ValueError, match="or 'mean', not"):
        select(trace, "cross").weights(*choice)


def test_a_kind_that_is_not_there_is_refused() -> None:
    trace = trace_of("encoder_self", [[1.0]], src=tokens("▁a"))
    with pytest.raises(ValueError, match="it has encoder_self"):
        select(trace, "cross")
