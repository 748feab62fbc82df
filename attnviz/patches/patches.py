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
_EXACT = 22_500  # most weights of a head that a file holds as float32, and most of all heads that the browser gets
_STEPS = 65_535  # parts to which other weights are rounded


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

    def draw(asked: PatchesState, *, is_alone: bool = False) -> Payload:
        state = _within(trace, asked)
        key = (trace, state.kind, state.layer, state.head, state.at, state.mix, is_alone)
        made = host.cached(
            "patches", key, lambda: data_payload(state.kind, (state.kind,), patches_data(trace, state, is_alone))
        )
        return add_view(made, state)

    subject = of_trace(trace, start, draw, bounds={"at": len(trace.query_tokens(kind))})
    return replace(subject, draw_whole=lambda state: draw(state, is_alone=True))


def _within(trace: TraceLike, state: PatchesState) -> PatchesState:
    """Return the state with a head and a token that the trace has."""
    kind, layer, head = state.site_in(trace)
    count = len(trace.query_tokens(kind))
    return replace(state, kind=kind, layer=layer, head=head, at=state.at if (state.at or 0) < count and state.at else 0)


def patches_data(trace: TraceLike, state: PatchesState, is_alone: bool) -> dict[str, Any]:
    """Return what the script draws: the image, its tokens, the map in view, and of every head the row and the column
    of the chosen token.

    A small model's maps are all there. `is_alone` makes the data for a file, where no Python can send more: the map in
    view takes less room, and rollout's row and column of every layer are added.
    """
    kind, layer, head = state.site_in(trace)
    layers, heads = trace.shape(kind)
    at, weights = state.at or 0, layers * heads * len(trace.query_tokens(kind)) ** 2
    rows, columns = _of_every_head(trace, kind, at)
    return {
        **image_data(image_of(trace, TITLE), trace),
        "at": at,
        "open": [layer, head, state.mix],
        "rows": _in_two_bytes(rows),
        "columns": _in_two_bytes(columns),
        "row_peaks": rows.amax(-1),
        "column_peaks": columns.amax(-1),
        **_map(map_in_view(trace, state), is_alone),
        **(_every_map(trace, kind) if weights <= _EXACT else {}),
        **(_rollouts(trace, at) if is_alone else {}),
    }


def map_in_view(trace: TraceLike, state: PatchesState) -> Tensor:
    """Return the map `(q_len, k_len)` of a head, of the mean of a layer's heads, or of rollout up to a layer."""
    kind, layer, head = state.site_in(trace)
    if state.mix == "head":
        return trace.attn(kind, layer=layer, head=head)
    if state.mix == "mean":
        return trace.attn(kind, layer=layer).mean(0)
    return _rollout(trace, layer)


def _rollout(trace: TraceLike, layer: int) -> Tensor:
    """Return attention rollout `(q_len, k_len)` up to a layer, with half of each layer as the token itself."""
    mixes = attention_mixes(trace)[: layer + 1]
    return multiply_mixes([mix.set_residual(0.5) for mix in mixes]).source


def _rollouts(trace: TraceLike, at: int) -> dict[str, Any]:
    """Return the row and the column of a token in the rollout up to each layer."""
    every = [_rollout(trace, layer) for layer in range(len(attention_mixes(trace)))]
    rows, columns = torch.stack([one[at] for one in every]), torch.stack([one[:, at] for one in every])
    return {"rollout_rows": _in_two_bytes(rows), "rollout_columns": _in_two_bytes(columns)}


def _every_map(trace: TraceLike, kind: Any) -> dict[str, Any]:
    """Return the maps of all heads, `(layers * heads, q_len, k_len)`."""
    return {"maps": trace.attn(kind).flatten(0, 1)}


def _of_every_head(trace: TraceLike, kind: Any, at: int) -> tuple[Tensor, Tensor]:
    """Return a token's row and its column of the map of every head, each `(layers * heads, length)`, layer by layer."""
    rows, columns = [], []
    for layer in range(trace.shape(kind)[0]):
        maps = trace.attn(kind, layer=layer)
        rows.append(maps[:, at])
        columns.append(maps[:, :, at])
    return torch.cat(rows), torch.cat(columns)


def _map(weights: Tensor, is_alone: bool) -> dict[str, Any]:
    """Return a map in float32, or for a file of many tokens in two bytes a weight."""
    if not is_alone or weights.numel() <= _EXACT:
        return {"map": weights.contiguous()}
    return {"planes": _in_two_bytes(weights)}


def _in_two_bytes(weights: Tensor) -> np.ndarray:
    """Round weights to 65,535ths: first the high bytes of all of them, then the low bytes, which compress better."""
    parts = np.rint(weights.clamp(0, 1).double().numpy() * _STEPS).astype(np.uint16)
    return np.stack([parts >> 8, parts & 255]).astype(np.uint8)
