"""What the browser reads of a Heads payload, and the maps that it makes of it, are those of Python."""

import itertools

import numpy as np
import pytest
import torch

from attnviz.heads.payload import heads_payload
from attnviz.kit.views import colour
from attnviz.kit.wire import Payload
from attnviz.maps.grouping import ColLabel, RowLabel
from attnviz.maps.selection import EagerMaps
from tests.heads.component import heads_app
from tests.heads.component.heads_page import NEEDS_A_BROWSER
from tests.kit.sent import payload_bytes

pytestmark = NEEDS_A_BROWSER

LAYERS, HEADS = heads_app.LAYERS, heads_app.HEADS
CHOICES = [*itertools.product([0, LAYERS - 1, "mean"], [1, "mean"])]
DECODED = "decodePayload(Uint8Array.from(bytes))"


@pytest.fixture(scope="module")
def payload_script(module):
    return module("heads/js/payload.js")


@pytest.fixture(scope="module")
def maps_script(module):
    """Both modules in one, as the widget has them: `mapOf` for an app that holds a payload."""
    decode, maps = module("heads/js/payload.js"), module("heads/js/maps.js")
    decode("(module) => { globalThis.ofPayload = module; }")
    return lambda act, given: maps(f"(maps, given) => ({act})({{ ...globalThis.ofPayload, ...maps }}, given)", given)


def payload_of(shown, **options) -> Payload:
    view = {"kind": next(iter(shown)), "layer": 0, "head": 0, "row": None, "pins": options.pop("pins", [])}
    strip = heads_app.strip(shown) if "encoder_self" in shown else {"lines": [], "axes": {}}
    return heads_payload(shown, heads_app.metrics(shown), view=view, strip=strip, **options)


@pytest.mark.parametrize(("n", "budget"), [(None, 10_000_000), (9, 10_000_000), (70, 0)])
def test_maps_masks_thumbnails_and_labels_arrive_as_they_were(payload_script, n, budget) -> None:
    shown = heads_app.maps(n)
    act = f"""({{ decodePayload }}, bytes) => {{
      const {{ kinds, exact }} = {DECODED};
      return [...kinds.values()].map((kind) => ({{
        ...kind, thumbs: [...kind.thumbs], masks: kind.masks && [...kind.masks.seen],
        exact: [...exact].filter(([name]) => name.startsWith(`${{kind.kind}}/`)).map(([name, map]) => [name, [...map]]),
      }}));
    }}"""
    kinds = payload_script(act, payload_bytes(payload_of(shown, budget=budget)))
    assert [kind["kind"] for kind in kinds] == list(shown)
    for kind, maps in zip(kinds, shown.values(), strict=True):
        assert kind["rows"] == [[row.input, row.output] for row in maps.rows]
        assert kind["cols"] == [col.text for col in maps.cols]
        assert kind["rowTokens"] == [list(row.tokens) for row in maps.rows]
        assert kind["isPooled"] == (max(maps.attn.shape[2:]) > 64)
        assert kind["thumbs"] == maps.thumbnails(64).flatten().tolist()
        seen = None if maps.mask.all() else maps.mask.flatten().int().tolist()
        assert kind["masks"] == seen
        assert len(kind["exact"]) == (LAYERS * HEADS if budget else maps is shown["encoder_self"])
        for name, data in kind["exact"]:
            _, layer, head = name.split("/")
            assert np.array_equal(np.float32(data), maps.attn[int(layer), int(head)].numpy().ravel())


def test_metrics_and_scales_arrive_as_they_were(payload_script) -> None:
    shown = heads_app.maps()
    act = f"""({{ decodePayload }}, bytes) => {{
      const {{ header, scales }} = {DECODED};
      return [header.metrics.values, [...scales.light.sequential], [...scales.dark.diverging]];
    }}"""
    values, sequential, diverging = payload_script(act, payload_bytes(payload_of(shown)))
    table = heads_app.metrics(shown)
    for kind in shown:
        assert values[kind]["entropy"] == pytest.approx(table[table["kind"] == kind]["entropy"].tolist(), abs=1e-5)
    assert sequential == np.ravel(colour.SEQUENTIAL_LIGHT).tolist()
    assert diverging == np.ravel(colour.DIVERGING_DARK).tolist()


def browser_maps(maps_script, shown, kind: str, **options) -> dict:
    """Ask the browser for the maps of one kind, for every choice, and whether they are exact."""
    act = """({ decodePayload, mapOf, maskOf }, [bytes, kind, choices]) => {
      const app = { payload: decodePayload(Uint8Array.from(bytes)), maps: new Map() };
      return choices.map(([layer, head]) => {
        const { data, exact } = mapOf(app, kind, layer, head);
        const mask = maskOf(app.payload.kinds.get(kind), layer, head);
        return [[...data], exact, mask && [...mask]];
      });
    }"""
    found = maps_script(act, [payload_bytes(payload_of(shown, **options)), kind, [list(choice) for choice in CHOICES]])
    return dict(zip(CHOICES, found, strict=True))


@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self", "cross"])
def test_a_head_and_every_mean_are_pythons(maps_script, kind: str) -> None:
    maps = heads_app.maps()[kind]
    for (layer, head), (data, exact, mask) in browser_maps(maps_script, heads_app.maps(), kind).items():
        assert exact
        assert np.allclose(data, maps.weights(layer, head).numpy().ravel(), rtol=0, atol=1e-7)
        assert mask is None or mask == maps.visible_cells(layer, head).int().flatten().tolist()


def maps_with_own_masks() -> dict[str, EagerMaps]:
    """Each layer and head sees other keys; in one of them row 2 sees none, and row 4 in none at all."""
    random = torch.Generator().manual_seed(1)
    mask = torch.rand(LAYERS, HEADS, 5, 6, generator=random) < 0.6
    mask[0, 0, 2], mask[1, 1, 2, 3], mask[:, :, 4] = False, True, False
    scores = torch.randn(mask.shape, generator=random).masked_fill(~mask, float("-inf"))
    attn = scores.softmax(-1).nan_to_num()
    rows = tuple(RowLabel(f"in{i}", f"out{i}", (i,)) for i in range(5))
    cols = tuple(ColLabel(f"k{i}", (i,)) for i in range(6))
    return {"decoder_self": EagerMaps("decoder_self", mask, rows, cols, attn=attn)}


@pytest.mark.parametrize("sent_alone", [0, 4])
def test_a_mean_leaves_out_the_heads_in_which_a_row_sees_nothing(maps_script, sent_alone: int) -> None:
    shown = maps_with_own_masks()
    maps, pins = shown["decoder_self"], [["decoder_self", *choice] for choice in CHOICES[:sent_alone]]
    found = browser_maps(maps_script, shown, "decoder_self", pins=pins, budget=0 if pins else 2_000_000)
    for (layer, head), (data, exact, mask) in list(found.items())[: sent_alone or None]:
        assert exact
        assert np.allclose(data, maps.weights(layer, head).numpy().ravel(), rtol=0, atol=1e-7), (layer, head)
        assert mask == maps.visible_cells(layer, head).int().flatten().tolist()


def test_a_map_that_is_still_on_its_way_is_drawn_from_its_thumbnail(maps_script) -> None:
    shown = heads_app.maps()
    found = browser_maps(maps_script, shown, "cross", budget=0)
    exact = [list(choice) for choice, (_, is_exact, _) in found.items() if is_exact]
    assert exact == [], "only the first kind's head in focus was sent"
    for (layer, head), (data, *_) in found.items():
        assert np.abs(np.array(data) - shown["cross"].weights(layer, head).numpy().ravel()).max() <= 1 / 255


def test_weights_that_a_file_has_where_its_mask_hides_them_arrive_too(maps_script) -> None:
    (name, maps), *_ = maps_with_own_masks().items()
    strange = EagerMaps(maps.kind, maps.mask, maps.rows, maps.cols, attn=torch.rand(maps.shape) + 0.5)
    for (layer, head), (data, *_) in browser_maps(maps_script, {name: strange}, name).items():
        if "mean" not in (layer, head):
            assert np.array_equal(np.float32(data), strange.attn[layer, head].numpy().ravel())


def test_the_header_says_where_the_blobs_lie() -> None:
    header, blobs = payload_of(heads_app.maps())
    assert not any("offset" in kind["overview"] for kind in header["kinds"]), "made of the exact maps"
    offsets = [entry["offset"] for entry in header["exact"]]
    assert all(offset % 4 == 0 and offset < len(blobs) for offset in offsets)
