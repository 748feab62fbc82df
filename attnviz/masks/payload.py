"""The data of the mask laboratory's component: one site's pipeline as numbers, its labels, and the mask.

The bytes are laid out as `attnviz.kit.wire` says: header, then blobs.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from attnviz.kit.spans import Bands
from attnviz.kit.views import colour
from attnviz.kit.wire import Blobs, Payload

FORMAT = 1
Window = tuple[int, int, int, int]
_SCALES = ("SEQUENTIAL_LIGHT", "SEQUENTIAL_DARK", "DIVERGING_LIGHT", "DIVERGING_DARK")


@dataclass(frozen=True, eq=False)
class Pipeline:
    """One head's scores, masked scores, weights and context; `attn` and `context` are None where torch refused.

    `rules` is the mask without paint, `(q_len, k_len)`, True = may attend. `rows` are (input, output or None), `cols`
    texts, safe to show. `fill` says what is in masked cells (None: the mask comes after the softmax), `words` hold
    title, fill's and dtype's names, and the axes' titles. `causes` say of rows that are NaN why. `sink` is the score of
    a place that is no token, in a head that has one. `indexed` is True for cells that the model's indexer hides.
    `entries` are what the vocabulary has for rows and keys (`attnviz.kit.entries`), `spans` the turns of a
    conversation along both (`attnviz.kit.spans`).
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
    """Pack what the component draws. `zoom` is the part of the maps that is drawn: first row, row after the last,
    first key, key after the last. `seq` is the number of the visitor's edit that this answers.
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
    """Write a fill as text: JSON has no infinity."""
    return f"{value:.6g}".replace("-", "−").replace("inf", "∞") if math.isinf(value) or value else "0"
