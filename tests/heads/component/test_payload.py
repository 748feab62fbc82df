"""The bytes of the Heads component, read back as the browser reads them."""

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
import torch

from attnviz.analysis.metric_table import head_metrics
from attnviz.heads.payload import fitted_view, heads_payload
from attnviz.heads.sentences import sentence_strip
from attnviz.kit.wire import Blobs, Payload, unpack
from attnviz.maps.grouping import ColLabel, RowLabel
from attnviz.maps.maps import EagerMaps
from attnviz.maps.selection import select as shown_of
from attnviz.models.translator.tiny import tiny_translator
from tests.each_case import each_case

LAYERS, HEADS, ROWS, COLS = 2, 3, 5, 7  # different primes, so that no two axes can be confused
VIEW = {"kind": "cross", "layer": 1, "head": 2, "row": 4, "pins": []}
STRIP = {"lines": [], "axes": {}}


def make_maps(*, shape=(LAYERS, HEADS, ROWS, COLS), mask=None, kind="cross"):
    _, _, rows, cols = shape
    mask = torch.ones(1, 1, rows, cols, dtype=torch.bool) if mask is None else mask
    attn = torch.randn(shape).masked_fill(~mask, float("-inf")).softmax(-1).nan_to_num()
    row_labels = tuple(RowLabel(f"in{i}", f"out{i}", (i,)) for i in range(rows))
    return EagerMaps(kind, mask, row_labels, tuple(ColLabel(f"key{i}", (i,)) for i in range(cols)), attn=attn)


def metrics(maps):
    sites = [(k, i, j) for k, m in maps.items() for i in range(m.attn.shape[0]) for j in range(m.attn.shape[1])]
    table = pd.DataFrame(sites, columns=["kind", "layer", "head"])
    return table.assign(entropy=range(len(table)), eos_mass=math.nan)


def payload(maps, *, view=VIEW, budget=2_000_000):
    return heads_payload(maps, metrics(maps), view=view, strip=STRIP, budget=budget)


def read(blobs, offset, shape, dtype="<f4"):
    return np.frombuffer(blobs, dtype, count=math.prod(shape), offset=offset).reshape(shape)


def test_exact_maps_come_back_bit_for_bit():
    maps = {"cross": make_maps()}
    header, blobs = payload(maps)
    (entry,) = header["exact"]
    assert entry["kind"] == "cross"
    assert "layer" not in entry
    exact = read(blobs, entry["offset"], (LAYERS, HEADS, ROWS, COLS))
    np.testing.assert_array_equal(exact, maps["cross"].attn.numpy())


def test_a_zoom_that_does_not_lie_on_the_map_is_dropped():
    maps = {"cross": make_maps()}
    zooms = [(0, ROWS, 2, COLS), (1, 3, 0, 2), (0, ROWS + 1, 0, 2), (0, 1, 3, 3), None]
    kept = [fitted_view(VIEW | {"zoom": zoom}, maps)["zoom"] for zoom in zooms]
    assert kept == [[0, ROWS, 2, COLS], [1, 3, 0, 2], None, None, None]


def test_rows_whose_keys_are_hidden_are_named():
    mask = torch.tensor([[False, False], [True, False], [False, False]])[None, None]
    maps = dataclasses.replace(make_maps(shape=(1, 1, 3, 2), mask=mask), keyless=torch.tensor([[[True, False, False]]]))
    assert payload({"cross": maps})[0]["kinds"][0]["keys_hidden"] == [2]


def test_the_overview_is_within_half_a_step_of_256():
    maps = {"cross": make_maps()}
    header, blobs = payload(maps, budget=0)
    kind = header["kinds"][0]
    assert (kind["overview"]["height"], kind["overview"]["width"]) == (ROWS, COLS)
    overview = read(blobs, kind["overview"]["offset"], (LAYERS, HEADS, ROWS, COLS), np.uint8)
    assert np.abs(overview / 255 - maps["cross"].attn.numpy()).max() <= 0.5 / 255 + 1e-7


def test_every_blob_starts_at_a_multiple_of_four_of_the_payload():
    long = make_maps(shape=(LAYERS, HEADS, 67, COLS), kind="encoder_self")
    data = payload({"cross": make_maps(), "encoder_self": long}).pack()
    header, blobs = unpack(data)
    offsets = [header["kinds"][1]["overview"]["offset"], *(entry["offset"] for entry in header["exact"])]
    offsets += header["metrics"]["offsets"].values()
    assert (len(data) - len(blobs)) % 4 == 0
    assert all(offset % 4 == 0 for offset in offsets)


@each_case("text", ["机器", "👩‍👩‍👧", "\ud800", "\x00", "</script>"])
def test_any_text_survives_the_header(text):
    header, blobs = unpack(Payload({"text": text}, b"abcd").pack())
    assert header == {"text": text}
    assert bytes(blobs) == b"abcd"


def test_masks_are_packed_a_bit_a_cell_and_left_out_where_every_key_is_seen():
    mask = torch.ones(ROWS, COLS, dtype=torch.bool).tril()[None, None]
    header, blobs = payload({"cross": make_maps(mask=mask), "encoder_self": make_maps(kind="encoder_self")})
    packed_mask = header["kinds"][0]["mask"]
    bits = np.unpackbits(read(blobs, packed_mask["offset"], (math.ceil(ROWS * COLS / 8),), np.uint8), bitorder="little")
    np.testing.assert_array_equal(bits[: ROWS * COLS].reshape(ROWS, COLS), mask[0, 0].numpy())
    assert (packed_mask["layers"], packed_mask["heads"]) == (1, 1)
    assert "mask" not in header["kinds"][1]


def sites(budget, *, pins=()):
    maps = {"encoder_self": make_maps(kind="encoder_self"), "cross": make_maps()}
    header, _ = payload(maps, budget=budget, view=VIEW | {"pins": list(pins)})
    return [(entry["kind"], entry.get("layer"), entry.get("head")) for entry in header["exact"]]


def test_the_budget_decides_which_maps_are_exact():
    kind = 4 * LAYERS * HEADS * ROWS * COLS
    assert sites(2 * kind) == [("encoder_self", None, None), ("cross", None, None)]
    assert sites(2 * kind - 1) == [("cross", None, None)]
    assert sites(kind - 1) == [("cross", 1, 2)]


def test_pinned_heads_are_exact_whatever_the_budget():
    pins = [["cross", 0, 0], ["encoder_self", 1, "mean"], ["cross", 1, 2]]
    assert sites(0, pins=pins) == [("cross", 1, 2), ("cross", 0, 0), ("encoder_self", 1, "mean")]


def test_a_mean_is_sent_where_its_heads_are_not():
    maps = {"cross": make_maps()}
    header, blobs = payload(maps, view=VIEW | {"layer": "mean", "head": 1}, budget=0)
    (entry,) = header["exact"]
    sent = read(blobs, entry["offset"], (ROWS, COLS))
    np.testing.assert_allclose(sent, maps["cross"].attn[:, 1].mean(0).numpy(), atol=1e-7)


def test_a_large_overview_costs_at_most_1_15_bytes_a_cell():
    maps = {"cross": make_maps(shape=(12, 12, 64, 64), mask=torch.ones(64, 64, dtype=torch.bool).tril()[None, None])}
    assert len(payload(maps, budget=0).pack()) <= 1.15 * 12 * 12 * 64 * 64 + 10_000  # and its labels


def test_a_short_sentence_costs_no_more_than_the_weights_that_are_seen():
    trace = tiny_translator(seed=0, n_layers=3, n_heads=8).trace("ab " * 7 + "a", to="fr", tgt_text="ab " * 7 + "a")
    maps = {kind: shown_of(trace, kind) for kind in trace.kinds}
    cells = sum(one.attn.numel() for one in maps.values())
    made = heads_payload(maps, head_metrics(maps, trace), view={}, strip=sentence_strip(trace))
    assert cells >= 16 * 16 * 72
    seen = sum(int(one.mask.expand_as(one.attn).sum()) for one in maps.values())
    assert len(made.pack()) <= 4 * seen + 0.6 * cells


def test_masked_cells_are_not_sent_where_they_hold_nothing():
    mask = torch.ones(ROWS, ROWS, dtype=torch.bool).tril()[None, None]
    maps = make_maps(shape=(LAYERS, HEADS, ROWS, ROWS), mask=mask)
    header, blobs = payload({"cross": maps})
    (entry,) = header["exact"]
    seen = LAYERS * HEADS * ROWS * (ROWS + 1) // 2
    assert entry["seen"] == seen
    np.testing.assert_array_equal(read(blobs, entry["offset"], (seen,)), maps.attn[mask.expand_as(maps.attn)].numpy())


@pytest.mark.parametrize("site", [(1, 2), (0, "mean"), ("mean", "mean")])
@pytest.mark.parametrize("hidden_weight", [False, True])
def test_of_a_head_sent_alone_masked_cells_are_left_out_if_they_hold_nothing(site, hidden_weight):
    mask = torch.rand(LAYERS, HEADS, ROWS, COLS, generator=torch.Generator().manual_seed(0)) < 0.3
    maps = make_maps(mask=mask)
    if hidden_weight:
        maps.attn[~mask] = 0.25  # as in an uploaded file
    header, blobs = payload({"cross": maps}, view=VIEW | dict(zip(("layer", "head"), site, strict=True)), budget=0)
    (entry,) = header["exact"]
    wanted, visible = maps.weights(*site).numpy(), maps.visible_cells(*site).numpy()
    assert ("seen" in entry) != hidden_weight
    wanted = wanted.ravel() if hidden_weight else wanted[visible]
    np.testing.assert_array_equal(read(blobs, entry["offset"], wanted.shape), wanted)
    assert len(blobs) == entry["offset"] + 4 * wanted.size


def test_parts_that_do_not_make_up_an_array_are_refused_and_add_nothing():
    blobs = Blobs()
    blobs.add(np.arange(4, dtype=np.uint8))
    for size in (4, 12):
        with pytest.raises(ValueError, match=f"have 8 bytes, not {size}"):
            blobs.add_parts(iter([np.zeros(1, "<f4"), np.ones(1, "<f4")]), size)
    assert blobs.join() == bytes([0, 1, 2, 3])


@each_case("length", [65, 100, 127, 256])
def test_pooling_keeps_the_largest_weight_of_each_block(length):
    maps = make_maps(shape=(1, 1, length, 3))
    header, blobs = payload({"cross": maps}, view=VIEW | {"layer": 0, "head": 0})
    overview = header["kinds"][0]["overview"]
    assert (overview["height"], overview["width"]) == (64, 3)
    pooled = np.frombuffer(blobs, np.uint8, 64 * 3, overview["offset"]).reshape(64, 3)
    wanted = torch.nn.functional.adaptive_max_pool2d(maps.attn, (64, 3))[0, 0]
    np.testing.assert_array_equal(pooled, np.rint(wanted.numpy() * 255))


def test_labels_keep_their_order():
    header, _ = payload({"cross": make_maps()})
    kind = header["kinds"][0]
    assert kind["rows"] == [[f"in{i}", f"out{i}"] for i in range(ROWS)]
    assert kind["cols"] == [f"key{i}" for i in range(COLS)]
    assert "row_tokens" not in kind
    assert "col_tokens" not in kind


def test_merged_labels_say_which_tokens_they_stand_for():
    maps = make_maps(shape=(1, 1, 2, 1))
    rows = (RowLabel("a", "b", (0,)), RowLabel("b c", "d", (1, 2)))
    merged = EagerMaps("cross", maps.mask, rows, (ColLabel("ab", (0, 1)),), attn=maps.attn)
    kind = payload({"cross": merged})[0]["kinds"][0]
    assert kind["row_tokens"] == [[0], [1, 2]]
    assert kind["col_tokens"] == [[0, 1]]


def test_the_id_is_of_the_content_and_not_of_the_view():
    maps = {"cross": make_maps()}
    ids = [payload(maps, view=VIEW | change)[0]["id"] for change in ({}, {"row": 1}, {"layer": 0})]
    assert len(set(ids)) == 1
    assert payload({"cross": make_maps()})[0]["id"] != ids[0]


@each_case(
    "wrong", [{"kind": "none"}, {"layer": 2}, {"layer": -1}, {"head": "x"}, {"head": True}, {"row": ROWS}, {"row": "1"}]
)
def test_a_view_that_does_not_fit_is_made_to_fit(wrong):
    (name,) = wrong
    expected = {"kind": "cross", "layer": 0, "head": 0, "row": None}[name]
    assert fitted_view(VIEW | wrong, {"cross": make_maps()})[name] == expected


def test_a_pin_that_does_not_fit_is_dropped():
    pins = [["cross", 0, 0], ["cross", 9, 0], ["none", 0, 0], ["cross", "mean", 2], ["cross", 0]]
    assert fitted_view(VIEW | {"pins": pins}, {"cross": make_maps()})["pins"] == [["cross", 0, 0], ["cross", "mean", 2]]


def test_no_kind_at_all_is_an_error():
    with pytest.raises(ValueError, match="at least one kind"):
        heads_payload({}, pd.DataFrame(), view=VIEW, strip=STRIP)


def test_blobs_are_taken_in_c_order():
    array = np.arange(6, dtype=np.uint8).reshape(2, 3).T
    blobs = Blobs()
    blobs.add(array)
    assert blobs.join()[:6] == bytes([0, 3, 1, 4, 2, 5])
