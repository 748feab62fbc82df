"""Where the drawing puts a model's parts: all of them, none over another, in every width."""

import pytest
import torch

import attnviz
from attnviz.app.drawing.payload import Here, drawing_payload
from attnviz.models.plans import FeedForwardPlan, KindPlan, LayerPlan, StackPlan, Structure
from attnviz.models.structure import structure
from attnviz.models.translator.tiny import tiny_translator
from tests.each_case import each_case
from tests.heads.component.heads_page import NEEDS_A_BROWSER

pytestmark = NEEDS_A_BROWSER

LAYOUT = """({ layoutOf }, [built, width, here, opened]) => layoutOf(built, {
  width, here, opened: new Set(opened), widthOf: (text, size) => text.length * size * 0.56 })"""
NOWHERE = {"kind": None, "layer": None, "head": None, "row": None}


def hybrid() -> Structure:
    """Thirty layers, of which every tenth attends, and the others convolve."""
    network = FeedForwardPlan(97, is_gated=True)
    layers = tuple(
        LayerPlan(
            at, (("decoder_self", at // 10),) if at % 10 == 5 else (), network, "" if at % 10 == 5 else "ShortConv"
        )
        for at in range(30)
    )
    plan = KindPlan(heads=37, d_k=5, groups=1, sees_ahead=False)
    return Structure(
        (StackPlan("decoder", layers, "before", ends_normed=True),), {"decoder_self": plan}, 53, 1009, "rotary"
    )


def translator(**sizes: int) -> Structure:
    model = tiny_translator(**sizes)
    return structure(model.trace("a dog", to="fr", tgt_text="un chien"), model)


def bare() -> Structure:
    return structure(attnviz.from_tensors(torch.rand(5, 3, 4, 4).softmax(-1), list("abcd"), kind="encoder_self"))


def parallel() -> Structure:
    layer = LayerPlan(0, (("decoder_self", 0),), FeedForwardPlan(97), is_parallel=True)
    plan = KindPlan(heads=2, d_k=5, groups=2, sees_ahead=False)
    return Structure((StackPlan("decoder", (layer,), "before"),), {"decoder_self": plan}, 53, 1009, "rotary")


BUILT = {"translator": lambda: translator(n_layers=7), "hybrid": hybrid, "bare": bare, "parallel": parallel}


@pytest.fixture(scope="module")
def layout(module):
    script = module("app/drawing/js/layout.js")

    def lay(built: Structure, width: int = 700, here: dict | None = None, opened: tuple[str, ...] = ()) -> dict:
        told = drawing_payload(built, None, None, Here(), why="none").header["built"]
        return script(LAYOUT, [told, width, NOWHERE | (here or {}), list(opened)])

    return lay


def ids(found: dict) -> list[str]:
    return [part["id"] for part in found["parts"]]


def texts(found: dict) -> list[tuple[str, float, float, float, float]]:
    """Every text with the box that it takes, as widths were measured."""
    lines = [line for part in found["parts"] for line in part["lines"]] + [frame["line"] for frame in found["frames"]]
    chips = [chip for part in found["parts"] if (chip := part.get("chip"))]
    boxes = [("mask", chip["x"], chip["y"], chip["x"] + chip["w"], chip["y"] + chip["h"]) for chip in chips]
    for line in lines:
        width = len(line["text"]) * line["size"] * 0.56
        left = line["x"] - (width / 2 if line["align"] == "middle" else 0)
        boxes.append((line["text"], left, line["y"] - line["size"] / 2, left + width, line["y"] + line["size"] / 2))
    return boxes


@each_case("name", BUILT)
@each_case("width", [250, 330, 560, 720, 1400])
def test_no_text_lies_on_another_and_none_leaves_the_picture(layout, name: str, width: int) -> None:
    found = layout(BUILT[name](), width)
    boxes = texts(found)
    assert found["width"] <= width
    for at, (text, left, top, right, bottom) in enumerate(boxes):
        assert left >= 0, text
        assert right <= found["width"], text
        for other, left_2, top_2, right_2, bottom_2 in boxes[at + 1 :]:
            assert min(right, right_2) - max(left, left_2) <= 0.5 or min(bottom, bottom_2) - max(top, top_2) <= 0.5, (
                text,
                other,
            )


@each_case("name", BUILT)
@each_case("width", [250, 720])
def test_boxes_do_not_overlap(layout, name: str, width: int) -> None:
    parts = layout(BUILT[name](), width)["parts"]
    for at, one in enumerate(parts):
        for other in parts[at + 1 :]:
            across = min(one["x"] + one["w"], other["x"] + other["w"]) - max(one["x"], other["x"])
            down = min(one["y"] + one["h"], other["y"] + other["h"]) - max(one["y"], other["y"])
            assert min(across, down) <= 0.01, (one["id"], other["id"])


def test_the_layer_of_the_page_is_drawn_in_full_and_others_are_folded(layout) -> None:
    found = layout(translator(n_layers=7), here={"kind": "cross", "layer": 2, "head": 1})
    by_id = {part["id"]: part for part in found["parts"]}
    assert (by_id["cross"]["layer"], by_id["cross"]["head"], by_id["cross"]["isHere"]) == (2, 1, True)
    assert not by_id["decoder_self"]["isHere"]
    assert by_id["fold-decoder-3-6"]["title"] == "4 identical layers: 3 to 6"
    assert "decoder-layer-1" in by_id  # two layers are not worth a fold
    opened = ids(layout(translator(n_layers=7), here={"kind": "cross", "layer": 2}, opened=("decoder-3-6",)))
    assert [f"decoder-layer-{at}" for at in (0, 1, 3, 4, 5, 6)] == [
        one for one in opened if one.startswith("decoder-layer-")
    ]


def test_layers_that_do_not_attend_are_folded_by_themselves_and_named(layout) -> None:
    found = layout(hybrid(), here={"kind": "decoder_self", "layer": 1, "head": 0})
    folds = [part["title"] for part in found["parts"] if part["type"] == "fold"]
    assert folds == [
        "5 identical layers: 0 to 4",
        "9 identical layers: 6 to 14",
        "9 identical layers: 16 to 24",
        "4 identical layers: 26 to 29",
    ]
    opened = layout(hybrid(), here={"kind": "decoder_self", "layer": 1}, opened=("decoder-0-4",))
    assert "layer 0: ShortConv" in [part.get("title") for part in opened["parts"]]


def test_every_head_has_a_cell_of_its_own_inside_the_block(layout) -> None:
    found = layout(hybrid(), 250)
    (block,) = [part for part in found["parts"] if part["type"] == "attention"]
    assert [cell["head"] for cell in block["cells"]] == list(range(37))
    assert len({(cell["x"], cell["y"]) for cell in block["cells"]}) == 37
    for cell in block["cells"]:
        assert block["x"] <= cell["x"]
        assert cell["x"] + cell["w"] <= block["x"] + block["w"]
        assert block["y"] <= cell["y"]
        assert cell["y"] + cell["h"] <= block["y"] + block["h"]


def test_sizes_are_the_models_own(layout) -> None:
    said = {part["id"]: part.get("size") for part in layout(hybrid())["parts"]}
    assert said["decoder-embedding"] == "1,009 × 53"
    assert said["decoder-network"] == "53 → 97 → 53 · gated"
    assert said["decoder_self"] == "37 heads · d_k 5 · keys shared by all · rotary"
    assert [text for text in said if "positions" in text] == []  # rotary positions are added to nothing


def test_what_is_not_known_has_no_box(layout) -> None:
    assert ids(layout(bare())) == ["encoder-tokens", "encoder_self", "fold-encoder-1-4", "end"]


def test_cross_attention_gets_the_encoders_end(layout) -> None:
    for width in (300, 900):
        found = layout(translator(), width)
        (wire,) = [wire for wire in found["wires"] if wire.get("id") == "memory"]
        (cross,) = [part for part in found["parts"] if part["id"] == "cross"]
        x, y = wire["points"][-1]
        assert x in (cross["x"], cross["x"] + cross["w"])
        assert y == pytest.approx(cross["y"] + cross["h"] / 2)
