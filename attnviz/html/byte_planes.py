"""Weights as planes of bytes: of all numbers the first byte, then of all the second, which deflate by a tenth better.

Of long texts a weight is two bytes, 65,535ths: a third of the size, and other fifth digits. The browser makes float32
again (attnviz/widgets/shared/js/files/planes.js), so that no widget knows of this.
"""

import numpy as np

from attnviz.widgets.wire import Payload

EXACT = 1_350_000  # weights that are sent as float32: 150 tokens of the translator's 72 heads
Spans = list[list[int]]  # [offset among the packed bytes, numbers, bytes of each], one after another


def in_planes(payload: Payload) -> tuple[bytes, Spans]:
    """Pack a payload with its many weights as planes, two of each where they are more than `EXACT`, else four; return
    where they stood, too.
    """
    packed, maps = payload.pack(), _maps(payload)
    width = 4 if sum(count for _, count in maps) <= EXACT else 2
    start = len(packed) - len(payload.blobs)
    pieces, spans, at = [], Spans(), 0
    for offset, count in sorted((start + offset, count) for offset, count in maps):
        weights = np.frombuffer(packed, "<f4", count, offset)
        pieces += [packed[at:offset], _planes(weights if width == 4 else _round(weights))]
        spans.append([offset, count, width])
        at = offset + 4 * count
    return b"".join([*pieces, packed[at:]]), spans


def _round(weights: np.ndarray) -> np.ndarray:
    return np.rint(np.clip(weights, 0, 1) * np.float32(65_535)).astype(">u2")


def _planes(numbers: np.ndarray) -> bytes:
    return numbers.view(np.uint8).reshape(-1, numbers.itemsize).T.tobytes()


def _maps(payload: Payload) -> list[tuple[int, int]]:
    """List offset and numbers of the maps of the Heads picture; of other pictures none are many."""
    header = payload.header
    if header.get("cells", {}).get("measure") != "weight":  # norms have no upper bound
        return []
    shapes = {kind["kind"]: kind["shape"] for kind in header["kinds"]}
    found = []
    for entry in header["exact"]:
        layers, heads, rows, cols = shapes[entry["kind"]]
        count = rows * cols if "layer" in entry else entry.get("seen", layers * heads * rows * cols)
        found.append((entry["offset"], count))
    return found
