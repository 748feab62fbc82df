"""A real vision model, DINOv2-S: what attnviz shows of it is what ONNX Runtime computes from the published file."""

from typing import Any

import numpy as np
import pytest

import attnviz
from attnviz.models.example_images import draw_example
from tests.images.conftest import HEADS, LAYERS, PATCH, SIDE

SITE = {"layer": 11, "head": 2}  # most of this head's weight from [CLS] lies on the drawn ball


def cells_of_the_ball(moved: int = 0) -> np.ndarray:
    """Return which of the 256 patches have their middle on the ball, from where the ball was drawn.

    The ball of 104 pixels is in an image of 320 x 240 pixels; its middle is at (160 + moved, 136). The processor
    enlarges the image to 341 x 256, and cuts 58 pixels off at the left and 16 at the top.
    """
    x, y, radius = (160 + moved) * 341 / 320 - 58, 136 * 256 / 240 - 16, 52 * 256 / 240
    rows, columns = np.mgrid[0 : SIDE // PATCH, 0 : SIDE // PATCH] * PATCH + PATCH / 2
    return ((columns - x) ** 2 + (rows - y) ** 2 < radius**2).ravel()


@pytest.mark.parametrize("name", ["ball", "boat", "stripes"])
def test_every_weight_is_what_onnx_runtime_computes(name: str, model: Any, run: Any):
    expected, _ = run(draw_example(name))
    found = model.trace(draw_example(name)).attn("encoder_self").numpy()
    assert found.shape == (LAYERS, HEADS, 257, 257)
    np.testing.assert_allclose(found, expected, atol=2e-4)


def test_the_output_is_what_onnx_runtime_computes(model: Any, run: Any, ball: np.ndarray):
    _, states = run(ball)
    np.testing.assert_allclose(model.trace(ball).memory[0].numpy(), states, atol=5e-4)


@pytest.mark.parametrize("moved", [0, -45, 45])
def test_the_weight_of_cls_on_a_drawn_ball_is_right_and_follows_it(moved: int, model: Any, run: Any, ball: np.ndarray):
    """One head's mass on the ball, by the places of the trace's tokens, against ONNX Runtime's map row by row."""
    image, on_ball = np.roll(ball, moved, axis=1), cells_of_the_ball(moved)
    expected = run(image)[0][SITE["layer"], SITE["head"], 0, 1:][on_ball].sum()
    trace = model.trace(image)
    cells = {(0, int(cell) // 16, int(cell) % 16) for cell in np.flatnonzero(on_ball)}
    weights = trace.attn("encoder_self", **SITE)[0]
    tokens = trace.query_tokens("encoder_self")
    found = sum(float(weight) for weight, token in zip(weights, tokens, strict=True) if token.place in cells)
    assert abs(found - expected) < 1e-4
    assert found > 0.85 > 0.25 > on_ball.mean()


def test_a_model_in_memory_and_the_picture_have_the_same_numbers(folder: Any, run: Any, ball: np.ndarray):
    from transformers import AutoImageProcessor, AutoModel

    own = attnviz.load(AutoModel.from_pretrained(folder), AutoImageProcessor.from_pretrained(folder))
    shown = attnviz.picture("patches").of(own.trace(ball), **SITE).payload()
    place = shown.header["arrays"]["map"]
    drawn = np.frombuffer(shown.blobs, np.float32, 257 * 257, place["offset"]).reshape(257, 257)
    np.testing.assert_allclose(drawn, run(ball)[0][SITE["layer"], SITE["head"]], atol=2e-4)
