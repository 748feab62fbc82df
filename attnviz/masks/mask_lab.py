"""The picture of the mask laboratory: scores, masked scores, weights and context of one head, under a painted mask."""

import numpy as np
from torch import Tensor

from attnviz.kit.views.labels import KINDS
from attnviz.kit.wire import Payload
from attnviz.masks.masks import MaskBench, MasksState
from attnviz.masks.numbers.nan_causes import nan_causes
from attnviz.masks.payload import Pipeline, mask_payload
from attnviz.models.protocol import Model
from attnviz.tracing.trace import Trace

FILL_NAMES = {
    "-inf": "−∞", "-1e9": "−1e9 (masked_fill)", "-1e9 by where": "−1e9 (torch.where)", "finfo.min": "finfo.min",
    "number": "a finite number", "zero before": "0 before softmax", "zero after": "0 after softmax",
    "zero after, renormalised": "0 after, renormalised", "fused": "PyTorch's fused kernel",
}  # fmt: skip
_SHORT_NAMES = {"-inf": "−∞", "fused": "−∞", "-1e9": "−1e9", "-1e9 by where": "−1e9", "zero before": "0"}


def mask_lab(model: Model, trace: Trace, state: MasksState | None = None) -> Payload:
    """Return the data to draw one head under a state's mask, by default the decoder's first head with a causal mask."""
    if state is None:
        state = MasksState(rules=(("causal", ()),)) if "decoder_self" in trace.kinds else MasksState(trace.kinds[0])
    return bench_payload(MaskBench(model, trace, state))


def bench_payload(bench: MaskBench, *, seq: int = 0) -> Payload:
    """Return the data to draw a mask bench. `seq` is the number of the visitor's edit that it answers."""
    view, result = bench.view, bench.filled_scores
    pipeline = Pipeline(
        scores=result.scores.numpy(),
        masked_scores=result.masked_scores.numpy(),
        attn=_numbers(result.attn),
        context=_numbers(result.context),
        rules=bench.rules.numpy(),
        indexed=_numbers(bench.indexed),
        rows=bench.rows,
        cols=bench.cols,
        entries=bench.entries,
        spans=bench.spans,
        fill=view.choice.value,
        words=_words(bench),
        findings=bench.findings,
        causes=nan_causes(result),
        sink=result.sink,
    )
    return mask_payload(pipeline, paint=view.paint, row=view.row, zoom=view.zoom, seq=seq)


def site_name(view: MasksState) -> str:
    """Return the attention kind, layer and head in words."""
    return f"{KINDS[view.kind].name if view.kind in KINDS else view.kind}, L{view.layer} H{view.head}"


def _words(bench: MaskBench) -> dict[str, str]:
    view, name = bench.view, FILL_NAMES[bench.view.fill]
    after = view.choice.value is None
    return {
        "title": f"{site_name(view)}: mask {bench.recipe.title}, fill {name}, {view.dtype}",
        "masked": "mask comes later" if after else f"hidden: {_fill(view)}",
        "weights": "softmax over keys, then the mask" if after else "softmax over keys",
        "dtype": view.dtype,
        "fused": "1" if view.fill == "fused" else "",
        "renormalised": "1" if view.fill == "zero after, renormalised" else "",
        "file": f"{view.kind}-L{view.layer}-H{view.head}",
    }


def _fill(view: MasksState) -> str:
    return _SHORT_NAMES.get(view.fill) or f"{view.choice.value:.4g}".replace("-", "−")


def _numbers(tensor: Tensor | None) -> np.ndarray | None:
    return None if tensor is None else tensor.numpy()
