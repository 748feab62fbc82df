"""The data of the tabs Links, Whole model and Neuron: every line, label and number is the trace's own."""

from itertools import product

import numpy as np
import pytest
import torch

from attnviz.heads.every_head.every_head import whole_model_payload
from attnviz.heads.links import links
from attnviz.heads.links.links import links_payload
from attnviz.heads.neuron.neuron import neuron_payload
from attnviz.kit.wire import Payload
from attnviz.maps.blocks import ShownMaps
from attnviz.maps.lines import FAINTEST, LineReader, join_lines, strongest_lines
from attnviz.maps.selection import select
from attnviz.models.translator.tiny import tiny_translator
from attnviz.text.display import display_token
from attnviz.text.entries import entry
from attnviz.tracing.external.from_tensors import from_tensors


@pytest.fixture(scope="module")
def trace():
    return tiny_translator().trace("I love you.", to="fr", tgt_text="je t'aime")


def array(payload: Payload, name: str, dtype: str, count: int) -> np.ndarray:
    header, blobs = payload
    return np.frombuffer(blobs, dtype, count, header[name])


def test_every_line_is_a_weight_of_its_head_row_and_key(trace) -> None:
    maps = select(trace, "cross")
    payload = links_payload(maps, trace.kinds, view={})
    header = payload[0]
    layers, heads, rows, cols = maps.attn.shape
    assert header["shape"] == [layers, heads, rows, cols]
    starts = array(payload, "starts", "<u4", layers * heads * rows + 1)
    keys = array(payload, "line_cols", "<u2", header["count"])
    weights = array(payload, "line_weights", "<f4", header["count"])
    dense = np.zeros((layers * heads * rows, cols), np.float32)
    for at in range(len(dense)):
        dense[at, keys[starts[at] : starts[at + 1]]] = weights[starts[at] : starts[at + 1]]
    attn = maps.attn.numpy().reshape(dense.shape)
    assert np.array_equal(dense, np.where(attn >= header["threshold"], attn, 0))
    assert header["threshold"] == FAINTEST


def test_labels_are_those_of_the_trace(trace) -> None:
    header = links_payload(select(trace, "cross"), trace.kinds, view={})[0]
    assert [row for row, _ in header["rows"]] == list(map(display_token, trace.query_tokens("cross")))
    assert [row for _, row in header["rows"]] == list(map(display_token, trace.output_tokens("cross")))
    assert header["cols"] == list(map(display_token, trace.key_tokens("cross")))
    assert [told for (told,) in header["col_entries"]] == list(map(entry, trace.key_tokens("cross")))
    assert [told for _, (told,) in header["row_entries"]] == list(map(entry, trace.output_tokens("cross")))
    assert header["kinds"] == [["encoder_self", "Encoder self"], ["decoder_self", "Decoder self"], ["cross", "Cross"]]


def test_a_trace_read_in_blocks_gives_the_lines_of_its_maps(trace) -> None:
    shown = ShownMaps.of_trace(trace, "cross")
    (header, blobs), (wanted, others) = (
        links_payload(maps, trace.kinds, view={}) for maps in (shown, select(trace, "cross"))
    )
    assert {**header, "id": "", "base": ""} == {**wanted, "id": "", "base": ""}
    names = (("starts", "<u4"), ("line_cols", "<u2"), ("line_weights", "<f4"))
    for name, dtype in names:
        count = len(trace.query_tokens("cross")) if name == "starts" else header["count"]
        lines = (np.frombuffer(each, dtype, count, header[name]) for each in (blobs, others))
        np.testing.assert_allclose(*lines, atol=1e-6)


def test_a_budget_keeps_the_strongest_and_says_what_share_they_carry() -> None:
    attn = torch.randn(2, 3, 50, 50, generator=torch.Generator().manual_seed(0)).mul(3).softmax(-1).numpy()
    lines = strongest_lines(attn, budget=2_000)
    assert len(lines.cols) <= 2_000
    assert lines.weights.min() >= lines.threshold > FAINTEST
    assert lines.starts[-1] == len(lines.weights)
    kept = np.where(attn >= lines.threshold, attn, 0).sum(axis=(2, 3)) / attn.sum(axis=(2, 3))
    assert np.allclose(lines.shares, kept, atol=1e-6)
    assert 0.3 < lines.shares.min() < lines.shares.max() < 1


@pytest.mark.parametrize("budget", [2_000, 50_000])
def test_lines_read_in_blocks_are_at_the_places_of_their_weights(budget: int) -> None:
    attn = torch.randn(3, 50, 40, generator=torch.Generator().manual_seed(0)).mul(3).softmax(-1).tril(-2).numpy()
    reader = LineReader(attn.shape, budget)
    for rows, heads in product((slice(0, 20), slice(20, 50)), (slice(0, 2), slice(2, 3))):
        cols = slice(0, 20) if rows.start == 0 else slice(0, 40)
        for part in (slice(0, 7), slice(7, cols.stop)):
            reader.read(heads, rows, part, attn[heads, rows, part])
    lines = join_lines([reader], budget)
    dense = np.zeros((150, 40), np.float32)
    dense[np.arange(150).repeat(np.diff(lines.starts)), lines.cols] = lines.weights
    wanted = np.where(attn >= lines.threshold, attn, 0)
    assert np.array_equal(dense, wanted.reshape(150, 40))
    assert np.allclose(lines.shares, wanted.sum(axis=(1, 2)) / attn.sum(axis=(1, 2)), atol=1e-6)


def test_chosen_heads_of_a_long_text_have_every_line_that_can_be_seen() -> None:
    attn = torch.randn(2, 3, 50, 50, generator=torch.Generator().manual_seed(0)).mul(2).softmax(-1)
    trace = from_tensors(attn, [f"w{at}" for at in range(50)])
    coarse = links_payload(select(trace, "encoder_self"), trace.kinds, view={}, budget=500)
    heads = [(1, 2), (0, 1)]
    assert links.needs_fine_lines(coarse, heads)
    payload = links.add_fine_lines(coarse, heads, (attn[at].numpy() for at in heads))
    header, blobs = payload
    fine = header["fine"]
    assert (fine["heads"], fine["threshold"]) == ([[1, 2], [0, 1]], FAINTEST)
    starts = np.frombuffer(blobs, "<u4", 2 * 50 + 1, fine["starts"])
    cols = np.frombuffer(blobs, "<u2", fine["count"], fine["line_cols"])
    weights = np.frombuffer(blobs, "<f4", fine["count"], fine["line_weights"])
    for place, at in enumerate(heads):
        dense = np.zeros((50, 50), np.float32)
        for row in range(50):
            first, last = starts[place * 50 + row : place * 50 + row + 2]
            dense[row, cols[first:last]] = weights[first:last]
        assert np.array_equal(dense, np.where(attn[at] >= FAINTEST, attn[at], 0))
        assert fine["shares"][place] == pytest.approx(dense.sum() / float(attn[at].sum()), abs=1e-4)
    before = coarse[0]
    assert header["base"] == before["base"] != header["id"]
    assert (
        array(payload, "line_weights", "<f4", header["count"]).tolist()
        == array(coarse, "line_weights", "<f4", before["count"]).tolist()
    )


def test_a_text_whose_lines_are_all_too_faint_for_the_budget_has_none() -> None:
    lines = strongest_lines([np.full((2, 40, 40), 1 / 40, np.float32)] * 3, budget=100)
    assert len(lines.cols) == 0
    assert lines.shares.tolist() == [[0.0, 0.0]] * 3


def test_finer_lines_are_made_only_where_some_are_left_out_and_heads_are_few(trace) -> None:
    whole = links_payload(select(trace, "cross"), trace.kinds, view={})
    cut = links_payload(select(trace, "cross"), trace.kinds, view={}, budget=20)
    assert not links.needs_fine_lines(whole, [(0, 0)])
    assert links.needs_fine_lines(cut, [(0, 0)])
    assert not links.needs_fine_lines(cut, [])
    assert not links.needs_fine_lines(cut, [(0, head) for head in range(5)])


def test_twelve_by_twelve_heads_of_256_tokens_stay_small() -> None:
    attn = torch.randn(12, 12, 256, 256, generator=torch.Generator().manual_seed(0)).mul(3).softmax(-1).numpy()
    lines = strongest_lines(attn)
    assert lines.weights.nbytes + lines.cols.nbytes + lines.starts.nbytes < 2_000_000


def test_the_whole_model_is_one_byte_a_cell(trace) -> None:
    thumbs = trace.thumbnails("encoder_self", side=48)
    payload = whole_model_payload(thumbs, "encoder_self", kinds=trace.kinds, size=(7, 7), view={})
    assert np.array_equal(array(payload, "maps", "u1", thumbs.numel()), thumbs.numpy().reshape(-1))
    assert len(payload) < thumbs.numel() + 6_000


@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self", "cross"])
def test_queries_keys_and_masks_are_those_that_ran(trace, kind) -> None:
    payload = neuron_payload(trace, kind, layer=1, head=2, view={})
    header = payload[0]
    q_len, k_len, d_k = header["sizes"]
    query = array(payload, "query", "<f4", q_len * d_k).reshape(q_len, d_k)
    key = array(payload, "key", "<f4", k_len * d_k).reshape(k_len, d_k)
    scores = header["scale"] * query.astype(float) @ key.T.astype(float)
    assert np.allclose(scores, trace.scores(kind, layer=1, head=2).numpy(), atol=1e-5)
    assert header["cols"] == list(map(display_token, trace.key_tokens(kind)))
    assert [told for (told,) in header["col_entries"]] == list(map(entry, trace.key_tokens(kind)))
    assert [told for (told,), _ in header["row_entries"]] == list(map(entry, trace.query_tokens(kind)))
    if kind == "decoder_self":
        mask = array(payload, "mask", "u1", q_len * k_len).reshape(q_len, k_len)
        assert np.array_equal(mask.astype(bool), trace.mask(kind, layer=1, head=2).numpy())


def test_a_head_that_is_not_there_is_refused(trace) -> None:
    with pytest.raises(ValueError, match="no head 99"):
        neuron_payload(trace, "cross", layer=0, head=99, view={})
