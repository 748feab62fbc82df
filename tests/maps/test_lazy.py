"""A long text's maps, read a block of rows at a time: the same numbers and labels as all of them at once."""

from dataclasses import replace
from itertools import product

import pandas as pd
import pytest
import torch

import attnviz
from attnviz.analysis.metric_table import HeadMetrics, head_metrics
from attnviz.maps.blocks import ShownMaps
from attnviz.maps.lazy import maps_overview
from attnviz.maps.options import MapOptions
from attnviz.maps.selection import select
from attnviz.tracing.external.from_tensors import from_tensors
from attnviz.tracing.record import Sentence
from attnviz.tracing.trace import Trace
from attnviz.transformer import row_blocks
from attnviz.transformer.masks import VisibleKeys
from attnviz.transformer.probe import AttentionCall, Site, visible_cells
from tests.analysis.heads.by_hand import EOS, tokens, trace_of

LAYERS, HEADS, LENGTH = 3, 2, 11
OPTIONS = [MapOptions(), MapOptions("hide", words=True), MapOptions("renormalise")]


@pytest.fixture(scope="module")
def trace():
    text, target = "I love you, and the unbelievably reddish dog.", "Je t'aime, et le chien incroyablement rouge."
    return attnviz.load().trace(text, to="fr", tgt_text=target)  # with words of up to five pieces


@pytest.mark.parametrize("rows", [128, 3])
def test_numbers_labels_and_masks_are_those_of_all_maps_at_once(trace, rows, monkeypatch) -> None:
    cut_into_blocks(monkeypatch, rows)
    trace = replace(trace)  # which remembers no blocks of other sizes
    for kind, options in product(("encoder_self", "decoder_self", "cross"), OPTIONS):
        require_the_same(trace, kind, options)


def require_the_same(trace, kind: str, options: MapOptions) -> None:
    whole = select(trace, kind, options)
    long = maps_overview(trace, kind, options, side=64).maps(trace, options)
    assert (long.kind, long.shape, long.left_out) == (whole.kind, whole.shape, whole.left_out)
    assert (long.rows, long.cols) == (whole.rows, whole.cols)
    assert torch.equal(long.mask, whole.mask)
    assert torch.equal(long.rows_with_keys_hidden, whole.rows_with_keys_hidden)
    assert torch.equal(long.all_heads(), whole.all_heads())
    for side in (64, 5):
        assert (long.thumbnails(side).int() - whole.thumbnails(side).int()).abs().max() <= 1
    for layer in (0, whole.shape[0] - 1, "mean"):
        for head in (0, whole.shape[1] - 1, "mean"):
            torch.testing.assert_close(long.weights(layer, head), whole.weights(layer, head), atol=1e-6, rtol=0)
            assert torch.equal(long.visible_cells(layer, head), whole.visible_cells(layer, head))


def test_thumbnails_are_the_largest_weight_of_each_block() -> None:
    torch.manual_seed(0)
    attn = torch.rand(LAYERS, HEADS, LENGTH, LENGTH)
    trace = from_tensors(attn, [f"w{at}" for at in range(LENGTH)])
    small = maps_overview(trace, "encoder_self", side=3).thumbnails
    wanted = torch.nn.functional.adaptive_max_pool2d(attn, 3)
    assert torch.equal(small, (255 * wanted).round().to(torch.uint8))


@pytest.mark.parametrize("layer", [-1, LAYERS, True])
def test_a_layer_that_there_is_not_is_one_sentence(layer) -> None:
    trace = from_tensors(torch.rand(LAYERS, HEADS, 5, 5), list("abcde"))
    with pytest.raises(ValueError, match=r"layer (must be from 0 to 2|is a whole number, not True)"):
        trace.one_layer("encoder_self", layer)
    with pytest.raises(ValueError, match=r"layer must be (a number )?from 0 to 2"):
        maps_overview(trace, "encoder_self", side=3).maps(trace, MapOptions()).weights(layer, 0)


@pytest.mark.parametrize("blind_layer", [0, 1])
def test_a_row_without_keys_in_one_layer_alone_is_told_as_of_all_maps_at_once(blind_layer: int) -> None:
    src = tokens("a", "b", EOS)
    one = trace_of("encoder_self", torch.full((1, 3, 3), 1 / 3), src=src)
    masks = torch.ones(2, 1, 1, 3, 3, dtype=torch.bool)
    masks[blind_layer, ..., 0, :] = False  # row 0 sees nothing in this layer, and only <eos> in the other
    masks[1 - blind_layer, ..., 0, :2] = False
    call = one.call("encoder_self", 0)
    calls = {Site("encoder_self", layer): replace(call, mask=mask) for layer, mask in enumerate(masks)}
    trace, options = replace(one, calls=calls), MapOptions("hide")
    whole, long = select(trace, "encoder_self", options), maps_overview(trace, "encoder_self", options, side=3)
    assert whole.rows_with_keys_hidden.tolist() == [True, False]
    assert long.maps(trace, options).rows_with_keys_hidden.tolist() == [True, False]


@pytest.mark.parametrize("rows", [128, 3])
@pytest.mark.parametrize("options", [*OPTIONS, MapOptions(quadrant=(0, 0))], ids=repr)
def test_metrics_read_in_blocks_are_those_of_all_maps_at_once(trace, options, rows, monkeypatch) -> None:
    cut_into_blocks(monkeypatch, rows)
    trace = replace(trace)
    for kind in trace.kinds:
        read = HeadMetrics(ShownMaps.of_trace(trace, kind, options)).of_trace()
        whole = head_metrics(select(trace, kind, options), trace)
        pd.testing.assert_frame_equal(pd.DataFrame(read), whole, atol=1e-5, check_dtype=False)


@pytest.mark.parametrize("rows", [128, 3])
def test_edited_weights_are_in_a_long_texts_maps_too(rows, monkeypatch) -> None:
    cut_into_blocks(monkeypatch, rows)
    even = attnviz.ablate("cross", layer=1, heads=[2], to="uniform")
    edited = attnviz.load().trace("I love you.", to="fr", tgt_text="Je t'aime.", interventions=[even])
    long = maps_overview(edited, "cross", side=64).maps(edited, MapOptions())
    assert torch.equal(long.all_heads(), select(edited, "cross").attn)
    row = long.weights(1, 2)[0]
    torch.testing.assert_close(long.weights(1, 0), long.all_heads()[1, 0])
    torch.testing.assert_close(row, torch.full_like(row, 1 / len(row)))


@pytest.mark.parametrize("rows", [128, 3])
def test_a_piece_that_sees_no_key_does_not_count_in_the_row_of_its_word(trace, rows, monkeypatch) -> None:
    cut_into_blocks(monkeypatch, rows)
    site, options = Site("encoder_self", 0), MapOptions(words=True)
    mask = visible_cells(trace.calls[site])[:, :1].clone()
    mask[..., 7, :] = False  # the second piece of a word
    blind = replace(trace, calls=trace.calls | {site: replace(trace.calls[site], mask=mask)})
    long = maps_overview(blind, "encoder_self", options, side=64).maps(blind, options)
    whole = select(blind, "encoder_self", options)
    torch.testing.assert_close(long.weights(0, 0), whole.weights(0, 0), atol=1e-6, rtol=0)


@pytest.mark.parametrize("rows", [128, 3])
def test_stripes_hold_all_heads_on_all_columns_also_where_rows_see_a_window(rows, monkeypatch) -> None:
    cut_into_blocks(monkeypatch, rows)
    query, length = torch.randn(1, HEADS, LENGTH, 4, generator=torch.Generator().manual_seed(0)), range(LENGTH)
    window = torch.ones(1, 1, LENGTH, LENGTH, dtype=torch.bool).tril().triu(-2)
    call, words = AttentionCall(query, query, query, 0.5, window), tokens(*(f"w{at}" for at in length))
    trace = Trace({Site("encoder_self", 0): call}, {}, {}, (Sentence(src=words),))
    stripes = list(ShownMaps.of_trace(trace, "encoder_self").stripes(0))
    assert [at for place, _ in stripes for at in length[place]] == [*length]
    whole = torch.cat([attn for _, attn in stripes], dim=1)
    torch.testing.assert_close(whole, trace.attn("encoder_self", layer=0), atol=1e-6, rtol=0)


def cut_into_blocks(monkeypatch, rows: int) -> None:
    """Let blocks have a few rows of one head, so that short texts have many of them, too."""
    monkeypatch.setattr(VisibleKeys, "ROWS", rows)
    monkeypatch.setattr(row_blocks, "ROWS", rows)
    if rows < 128:
        monkeypatch.setattr(row_blocks, "_CELLS_ON_CPU", 1)
