"""Data for the mask laboratory's component: the pipeline of one head as arrays, its labels, and the mask.

`attnviz.kit.wire` describes the byte layout: a header, then blobs.
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
    """One head's scores, masked scores, weights and context; `attn` and `context` are None if torch refused.

    `rules` is the mask without paint, `(q_len, k_len)`, True = may attend. `indexed` is True for cells that the model's
    indexer hides. `rows` are (input, output or None) and `cols` texts, both displayable. `fill` is the value in masked
    cells (None: the mask comes after the softmax). `words` has the title, the names of fill and dtype, and the axis
    titles. `causes` gives the reason for each NaN row. `sink` is the sink's score, if the head has a sink. `entries`
    are the vocabulary entries of rows and keys (`attnviz.kit.entries`), and `spans` the conversation turns along both
    axes (`attnviz.kit.spans`).
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
