"""The picture Patches: what its payload and its files hold, against numbers computed apart."""

import io
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import attnviz
from attnviz.kit.seen_image import NO_IMAGE, predicted
from attnviz.kit.wire import Payload
from attnviz.patches.example import example_trace
from tests.each_case import each_case

pytestmark = pytest.mark.computes


def drawn(**asked: object) -> Payload:
    return attnviz.picture("patches").of(example_trace(), **asked).payload()


def array(payload: Payload, name: str) -> np.ndarray:
    place = payload.header["arrays"][name]
    kind = np.uint8 if place["bytes"] == 1 else np.float32
    count = int(np.prod(place["shape"]))
    return np.frombuffer(payload.blobs, kind, count, place["offset"]).reshape(place["shape"])


def rollout_by_hand(attn: torch.Tensor) -> torch.Tensor:
    """Multiply half the mean of heads and half the identity from layer to layer (Abnar and Zuidema 2020)."""
    made = torch.eye(attn.shape[-1], dtype=torch.double)
    for layer in attn.double():
        made = (0.5 * layer.mean(0) + 0.5 * torch.eye(attn.shape[-1])) @ made
    return made.float()


@each_case("asked, expected", [
    ({"layer": 1, "head": 2}, lambda attn: attn[1, 2]),
    ({"layer": 1, "mix": "mean"}, lambda attn: attn[1].mean(0)),
    ({"layer": 0, "mix": "rollout"}, lambda attn: rollout_by_hand(attn[:1])),
    ({"layer": 1, "mix": "rollout"}, rollout_by_hand),
], ids=lambda value: str(value) if isinstance(value, dict) else "")  # fmt: skip
def test_the_map_is_the_head_s_the_mean_s_or_the_rollout_s(asked, expected):
    found = torch.from_numpy(array(drawn(**asked), "map").copy())
    torch.testing.assert_close(found, expected(example_trace().attn("encoder_self")), atol=1e-6, rtol=1e-5)


def two_bytes(payload: Payload, name: str) -> np.ndarray:
    """Read numbers of two bytes as the script does."""
    high, low = array(payload, name).astype(np.float64)
    return (256 * high + low) / 65_535


def test_every_head_has_the_row_and_the_column_of_the_chosen_token():
    made, attn = drawn(at=5), example_trace().attn("encoder_self").flatten(0, 1)
    for name, expected in (("row", attn[:, 5]), ("column", attn[:, :, 5])):
        np.testing.assert_allclose(array(made, f"{name}_peaks"), expected.amax(-1))
        np.testing.assert_allclose(two_bytes(made, f"{name}s"), expected, atol=0.51 / 65_535)
    np.testing.assert_array_equal(array(made, "maps"), attn)


def test_a_file_also_has_the_rollout_of_the_chosen_token_up_to_each_layer():
    attn = example_trace().attn("encoder_self")
    alone = attnviz.picture("patches").of(example_trace(), at=5).without_python().payload()
    for layer in range(2):
        expected = rollout_by_hand(attn[: layer + 1])
        np.testing.assert_allclose(two_bytes(alone, "rollout_rows")[layer], expected[5], atol=1e-5)
        np.testing.assert_allclose(two_bytes(alone, "rollout_columns")[layer], expected[:, 5], atol=1e-5)
    assert "rollout_rows" not in drawn(at=5).header["arrays"]


def test_places_and_pixels_reach_the_browser():
    made, image = drawn(), example_trace().sentences[0].images[0]
    data = made.header["data"]
    assert data["tokens"][:3] == ["[CLS]", "r0c0", "r0c1"]
    assert data["places"][:3] == [None, [0, 0], [0, 1]]
    assert (data["grid"], data["patch"], data["size"]) == ([3, 4], [6, 6], [20, 24])
    sent, pixels = array(made, "pixels").astype(int), np.zeros((20, 24, 3), dtype=int)
    for row in range(20):  # as the script undoes it
        for column in range(24):
            left = pixels[row, column - 1] if column else 0
            above = pixels[row - 1, column] if row else 0
            pixels[row, column] = (sent[row, column] + (left + above) // 2) % 256
    np.testing.assert_array_equal(pixels, image.array)
    assert predicted(image.array).shape == image.array.shape


def test_a_token_and_a_head_that_a_link_asks_too_far_are_fitted():
    trace = example_trace()
    with pytest.raises(ValueError, match="at=40 cannot be shown"):
        attnviz.picture("patches").of(trace, at=40)
    with pytest.raises(ValueError, match="first row, last row, first column, last column"):
        attnviz.picture("patches").of(trace, box="3.1.0.0")
    view = attnviz.picture("patches").of(trace, layer="mean", head="mean").payload().header["view"]
    assert (view["layer"], view["head"], view["at"]) == (0, 0, 0)


def test_a_text_has_no_patches():
    text = replace(example_trace(), sentences=(replace(example_trace().sentences[0], images=()),))
    with pytest.raises(ValueError, match=NO_IMAGE.format(picture="Patches").split(":")[0]):
        attnviz.picture("patches").of(text)


def test_a_file_of_many_patches_and_heads_stays_small(tmp_path: Path):
    """196 patches and 144 heads, as a ViT-B has them, with a photo's noise in the image."""
    from attnviz.text.tokens import Token
    from attnviz.tracing.record import SeenImage, Sentence

    random = np.random.default_rng(4)
    y, x = np.mgrid[0:224, 0:224]
    pixels = np.stack([128 + 90 * np.sin(x / 37), 128 + 80 * np.cos(y / 23), 128 + 70 * np.sin((x + y) / 31)], axis=-1)
    noisy = np.clip(pixels + random.normal(0, 6, pixels.shape), 0, 255).astype(np.uint8)
    tokens = [Token("[CLS]", -1, 0, 0, is_special=True)]
    tokens += [Token(f"r{at // 14}c{at % 14}", -1, 0, 0, place=(0, at // 14, at % 14)) for at in range(196)]
    scores = torch.randn(12, 12, 197, 197, generator=torch.Generator().manual_seed(1))
    weights = (2 * scores).softmax(-1)
    trace = attnviz.from_tensors(weights, [token.text for token in tokens], kind="encoder_self")
    image = SeenImage(noisy.tobytes(), (224, 224), (14, 14), (16, 16))
    trace = replace(trace, sentences=(Sentence(tuple(tokens), images=(image,)),))
    shown = attnviz.picture("patches").of(trace, layer=3, head=4, at=60)
    assert shown.to_html(tmp_path / "file.html").stat().st_size <= 400_000
    alone = shown.without_python().payload()
    np.testing.assert_allclose(two_bytes(alone, "planes"), weights[3, 4], atol=1 / 65_535)
    np.testing.assert_allclose(two_bytes(alone, "columns")[17], weights[1, 5, :, 60], atol=1 / 65_535)
    assert "maps" not in alone.header["arrays"]
    np.testing.assert_array_equal(array(shown.payload(), "map"), weights[3, 4])
    assert len(zlib.compress(array(shown.payload(), "pixels").tobytes())) < 0.8 * noisy.size
    assert io.BytesIO((tmp_path / "file.html").read_bytes()).read(15) == b"<!doctype html>"
