"""The picture Patches: an image, on which the attention weights from one token, or to it, are drawn."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.analysis.contributions import multiply_mixes
from attnviz.analysis.mixing import attention_mixes
from attnviz.guards.arguments import reads_arguments
from attnviz.kit.browser_view import add_view
from attnviz.kit.caching import NO_HELP, Host
from attnviz.kit.fields import Say, choice, declare, whole_number
from attnviz.kit.focus import FocusState
from attnviz.kit.payload import data_payload
from attnviz.kit.seen_image import image_data, image_of
from attnviz.kit.subject import Subject, of_trace
from attnviz.kit.wire import Payload
from attnviz.tracing.trace_like import TraceLike

TITLE = "Patches"
_EXACT = 22_500  # weights of a head that a file holds as float32: 150 tokens squared
_STEPS = 65_535  # parts to which the weights of a larger head are rounded in a file


def _read_box(text: str, bound: Any, default: str, say: Say) -> str:
    """Read a rectangle of patches: its first and last row, its first and last column, such as 0.2.1.3."""
    parts = text.split(".")
    if len(parts) == 4 and all(part.isdecimal() and len(part) < 6 for part in parts):
        top, bottom, left, right = map(int, parts)
        if top <= bottom and left <= right:
            return text
    say("a rectangle is first row, last row, first column, last column, such as 0.2.1.3", "no rectangle")
    return default


@dataclass(frozen=True)
class PatchesState(FocusState):
    """State of the picture Patches.

    `at` is the query token whose attention is drawn, None for the first one; if `towards` is "to", it is the key token,
    and the picture shows which queries attend to it. `mix` shows the head, the mean of the layer's heads, or attention
    rollout up to the layer. `box` is a rectangle of patches whose weights are added up.
    """

    at: int | None = whole_number(None, name="patch", used="the first token")
    towards: str = choice("from", {"from": "Looks at", "to": "Is looked at by"})
    mix: str = choice("head", {"head": "Head", "mean": "Mean of heads", "rollout": "Rollout"})
    look: str = choice("light", {"light": "Light", "colour": "Colour"})
    box: str = declare("", _read_box)


@reads_arguments
def patches_of(trace: TraceLike, *, host: Host = NO_HELP) -> Subject:
    """Show what a patch of an image attends to. Raise ValueError for a trace without an image."""
    image_of(trace, TITLE)
    kind = trace.kinds[0]
    start = PatchesState(kind)

    def draw(asked: PatchesState, *, rounded: bool = False) -> Payload:
        state = _within(trace, asked)
        key = (trace, state.kind, state.layer, state.head, state.at, state.mix, rounded)
        made = host.cached(
            "patches", key, lambda: data_payload(state.kind, (state.kind,), patches_data(trace, state, rounded))
        )
        return add_view(made, state)

    subject = of_trace(trace, start, draw, bounds={"at": len(trace.query_tokens(kind))})
    return replace(subject, draw_whole=lambda state: draw(state, rounded=True))


def _within(trace: TraceLike, state: PatchesState) -> PatchesState:
    """Return the state with a head and a token that the trace has."""
    kind, layer, head = state.site_in(trace)
    count = len(trace.query_tokens(kind))
    return replace(state, kind=kind, layer=layer, head=head, at=state.at if (state.at or 0) < count and state.at else 0)


def patches_data(trace: TraceLike, state: PatchesState, rounded: bool) -> dict[str, Any]:
    """Return what the script draws: the image, its tokens, the map in view, and a row and a column of every head."""
    kind = state.site_in(trace)[0]
    rows, columns = _of_every_head(trace, kind, state.at or 0)
    return {
        **image_data(image_of(trace, TITLE), trace),
        "at": state.at or 0,
        "mix": state.mix,
        "rows": _as_bytes(rows),
        "columns": _as_bytes(columns),
        "row_peaks": rows.amax(-1),
        "column_peaks": columns.amax(-1),
        **_map(map_in_view(trace, state), rounded),
    }


def map_in_view(trace: TraceLike, state: PatchesState) -> Tensor:
    """Return the map `(q_len, k_len)` of a head, of the mean of a layer's heads, or of rollout up to a layer."""
    kind, layer, head = state.site_in(trace)
    if state.mix == "head":
        return trace.attn(kind, layer=layer, head=head)
    if state.mix == "mean":
        return trace.attn(kind, layer=layer).mean(0)
    mixes = attention_mixes(trace)[: layer + 1]
    return multiply_mixes([mix.set_residual(0.5) for mix in mixes]).source


def _of_every_head(trace: TraceLike, kind: Any, at: int) -> tuple[Tensor, Tensor]:
    """Return a token's row and its column of the map of every head, each `(layers * heads, length)`, layer by layer."""
    rows, columns = [], []
    for layer in range(trace.shape(kind)[0]):
        maps = trace.attn(kind, layer=layer)
        rows.append(maps[:, at])
        columns.append(maps[:, :, at])
    return torch.cat(rows), torch.cat(columns)


def _as_bytes(weights: Tensor) -> np.ndarray:
    """Scale each row to its own largest weight, in bytes: for small pictures only."""
    peaks = weights.amax(-1, keepdim=True).clamp(min=1e-30)
    return (255 * weights / peaks).round().to(torch.uint8).numpy()


def _map(weights: Tensor, rounded: bool) -> dict[str, Any]:
    """Pack a map for the browser: as float32, or, in a file with many tokens, rounded to 16 bits per weight.

    The 16-bit values are stored as all high bytes, then all low bytes, which compresses better.
    """
    if not rounded or weights.numel() <= _EXACT:
        return {"map": weights.contiguous()}
    parts = np.rint(weights.clamp(0, 1).double().numpy() * _STEPS).astype(np.uint16)
    return {"planes": np.stack([parts >> 8, parts & 255]).astype(np.uint8)}
