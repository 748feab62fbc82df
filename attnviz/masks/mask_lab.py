"""The picture of the mask laboratory: scores, masked scores, weights and context of one head, under a painted mask."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from torch import Tensor

from attnviz.guards.arguments import reads_arguments
from attnviz.kit.payload import Bands
from attnviz.kit.subject import Subject, caption_by, site_bounds
from attnviz.kit.views import colour
from attnviz.kit.views.labels import KINDS
from attnviz.kit.wire import Blobs, Payload
from attnviz.masks.masks import MaskBench, MasksState
from attnviz.masks.numbers.findings import nan_causes
from attnviz.models.protocol import Model
from attnviz.tracing.trace import Trace

FORMAT = 1
Window = tuple[int, int, int, int]
_SCALES = ("SEQUENTIAL_LIGHT", "SEQUENTIAL_DARK", "DIVERGING_LIGHT", "DIVERGING_DARK")
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


@dataclass(frozen=True, eq=False)
class Pipeline:
    """One head's scores, masked scores, weights and context; `attn` and `context` are None if torch refused.

    `rules` is the mask without paint, `(q_len, k_len)`, True = may attend. `indexed` is True for cells that the model's
    indexer hides. `rows` are (input, output or None) and `cols` texts, both displayable. `fill` is the value in masked
    cells (None: the mask comes after the softmax). `words` has the title, the names of fill and dtype, and the axis
    titles. `causes` gives the reason for each NaN row. `sink` is the sink's score, if the head has a sink. `entries`
    are the vocabulary entries of rows and keys (`attnviz.kit.payload`), and `spans` the conversation turns along both
    axes (`attnviz.kit.payload`).
    """

    scores: np.ndarray
    masked_scores: np.ndarray
    attn: np.ndarray | None
    context: np.ndarray | None
    rules: np.ndarray
    rows: Sequence[tuple[str | None, str | None]]
    cols: Sequence[str]
    fill: float | None
    words: dict[str, str] = field(default_factory=dict)
    findings: Sequence[str] = ()
    causes: Mapping[int, str] = field(default_factory=dict)
    sink: float | None = None
    indexed: np.ndarray | None = None
    entries: tuple[Sequence[Any], Sequence[Any]] = ((), ())
    spans: Mapping[str, Bands] = field(default_factory=dict)


def mask_payload(
    pipeline: Pipeline, *, paint: str, row: int | None, zoom: Window | None = None, seq: int = 0
) -> Payload:
    """Pack the data that the mask laboratory's component draws.

    `zoom` is [first row, end of rows, first key, end of keys]. `seq` is the number of the visitor's edit that the
    payload answers.
    """
    blobs = Blobs()
    header: dict[str, Any] = {
        "format": FORMAT,
        "shape": [*pipeline.scores.shape, 0 if pipeline.context is None else pipeline.context.shape[1]],
        "rows": [list(row) for row in pipeline.rows],
        "cols": list(pipeline.cols),
        "row_entries": list(pipeline.entries[0]),
        "col_entries": list(pipeline.entries[1]),
        "fill": None if pipeline.fill is None else _fill_text(pipeline.fill),
        "words": pipeline.words,
        "sink": pipeline.sink,
        "findings": list(pipeline.findings),
        "causes": {str(row): cause for row, cause in pipeline.causes.items()},
        "scores": _add(blobs, pipeline.scores),
        "masked": _add(blobs, pipeline.masked_scores),
        "attn": _add(blobs, pipeline.attn),
        "context": _add(blobs, pipeline.context),
        "rules": _add(blobs, pipeline.rules, dtype=np.uint8),
        "indexed": _add(blobs, pipeline.indexed, dtype=np.uint8),
        "paint": paint,
        **pipeline.spans,
    }
    header["colour"] = {
        name.lower(): _add(blobs, np.asarray(getattr(colour, name)), dtype=np.uint8) for name in _SCALES
    }
    header["id"] = blobs.digest(header)
    return Payload({**header, "row": row, "zoom": zoom, "seq": seq}, blobs.join())


def _add(blobs: Blobs, array: np.ndarray | None, dtype: Any = "<f4") -> int | None:
    return None if array is None else blobs.add(np.ascontiguousarray(array, dtype=dtype))


def _fill_text(value: float) -> str:
    """Return a fill value as text, because JSON has no infinity."""
    return f"{value:.6g}".replace("-", "−").replace("inf", "∞") if math.isinf(value) or value else "0"


@reads_arguments
def mask_lab_of(model: Model, trace: Trace) -> Subject:
    """Show scores, masked scores, weights and context of one head, with a mask to paint."""
    causal = "decoder_self" in trace.kinds
    start = MasksState(rules=(("causal", ()),)) if causal else MasksState(trace.kinds[0])
    bounds = site_bounds(trace) | {"item": len(trace.sentences)}
    return Subject(
        start, lambda state: mask_lab(model, trace, state),
        lambda state: replace(caption_by(trace, model, item=state.item), site=site_name(state)),
        bounds, silent=("second",), settle=_bake, trace=trace,
    )  # fmt: skip


def _bake(state: MasksState, told: Mapping[str, Any], before: MasksState) -> MasksState:
    """Remove the mask's rules if the browser reports that it has painted all their cells by hand."""
    return replace(state, rules=()) if told.get("bake") is True else state
