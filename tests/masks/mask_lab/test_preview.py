"""What the laboratory shows between an edit and its answer is what torch will answer."""

import numpy as np
import pytest
import torch

from attnviz.analysis.fills import FILLS, FillChoice, masked_scores, weights
from attnviz.masks.mask_lab import Pipeline, mask_payload
from tests.each_case import each_case
from tests.heads.component.heads_page import NEEDS_A_BROWSER
from tests.kit.sent import payload_bytes

pytestmark = NEEDS_A_BROWSER

Q, K, D = 6, 9, 4
RULES = torch.ones(Q, K, dtype=torch.bool).tril(diagonal=3)
PREVIEW = """(script, [bytes, cells, rows]) => {
  const payload = globalThis.decodeMaskLab(Uint8Array.from(bytes));
  const before = [payload.masked, payload.attn].map((map) => map && [...map]);
  script.preview({ payload, cells: Uint8Array.from(cells) }, rows);
  return [before, [payload.masked, payload.attn].map((map) => map && [...map])];
}"""


@pytest.fixture(scope="module")
def preview(module):
    module("masks/js/payload.js")("({ decodeLab }) => { globalThis.decodeMaskLab = decodeLab; }")
    script = module("masks/js/preview.js")
    return lambda *given: script(PREVIEW, list(given))


def pipeline(
    choice: FillChoice, scores: torch.Tensor, mask: torch.Tensor, sinks: torch.Tensor | None = None
) -> Pipeline:
    masked = masked_scores(scores, mask, choice)
    attn = weights(masked, mask, choice, sinks)
    words = {
        "dtype": choice.dtype,
        "fused": "1" if choice.fill == "fused" else "",
        "renormalised": "1" if choice.fill == "zero after, renormalised" else "",
    }
    context = attn @ torch.ones(K, D)
    return Pipeline(
        scores=scores.numpy(), masked_scores=masked.numpy(), attn=attn.numpy(), context=context.numpy(),
        rules=mask.numpy(), rows=[("in", None)] * Q, cols=["key"] * K, fill=choice.value, words=words,
        sink=None if sinks is None else float(sinks),
    )  # fmt: skip


@each_case("sink", [None, 1.5])
@each_case("fill", FILLS)
def test_paint_shows_torchs_softmax(preview, fill: str, sink: float | None) -> None:
    sinks = None if sink is None else torch.tensor(sink)
    choice = FillChoice(fill, number=-3.5)
    random = torch.Generator().manual_seed(4)
    scores = 4 * torch.randn(Q, K, generator=random)
    painted = torch.rand(Q, K, generator=random) < 0.6
    painted[2] = False  # a row that sees nothing any more
    payload = mask_payload(pipeline(choice, scores, RULES, sinks), paint="", row=None)
    _, (masked, attn) = preview(payload_bytes(payload), painted.int().flatten().tolist(), list(range(Q)))
    expected = masked_scores(scores, RULES & painted, choice)
    assert np.allclose(np.float32(masked).reshape(Q, K), expected.numpy(), rtol=1e-5)
    torch_attn = weights(expected, RULES & painted, choice, sinks).numpy()
    assert np.allclose(np.float32(attn).reshape(Q, K), torch_attn, rtol=0, atol=1e-6, equal_nan=True)


def test_only_the_painted_rows_are_computed_anew(preview) -> None:
    scores = torch.randn(Q, K, generator=torch.Generator().manual_seed(5))
    payload = mask_payload(pipeline(FillChoice(), scores, RULES), paint="", row=None)
    before, after = preview(payload_bytes(payload), [0] * (Q * K), [1])
    for old, new in zip(before, after, strict=True):
        changed = np.array([a != b for a, b in zip(old, new, strict=True)]).reshape(Q, K).any(axis=1)
        assert changed.tolist() == [row == 1 for row in range(Q)]


def test_half_precision_waits_for_torch(preview) -> None:
    scores = torch.randn(Q, K, generator=torch.Generator().manual_seed(6))
    payload = mask_payload(pipeline(FillChoice(dtype="float16"), scores, RULES), paint="", row=None)
    before, after = preview(payload_bytes(payload), [0] * (Q * K), [0, 1, 2])
    assert before == after
