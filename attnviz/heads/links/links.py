"""Links: two sentences as columns, and lines between their tokens for the heads that are chosen."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attnviz.heads.links import fine_lines
from attnviz.heads.links.payload import links_payload
from attnviz.kit.browser_view import add_view
from attnviz.kit.caching import Cache, make_anew
from attnviz.kit.fields import MEAN, PageState, Say, choice, declare, is_index
from attnviz.kit.focus import is_of_other_sentence, known_kind
from attnviz.kit.picture import TabRules
from attnviz.kit.wire import Payload
from attnviz.maps.lazy import layer_by_layer
from attnviz.maps.maps import EagerMaps
from attnviz.maps.options import MapOptions
from attnviz.maps.selection import select
from attnviz.tracing.trace_like import TraceLike
from attnviz.transformer.probe import Kind

Heads = tuple[tuple[int, int], ...]
NO_HEADS = "none"  # in a link; an empty text means the head in focus
_TOKEN = re.compile("[qk](0|[1-9][0-9]{0,4})")


def _write_heads(heads: Heads) -> str:
    """Write heads as a link holds them: `1.3~2.0`."""
    return "~".join(f"{layer}.{head}" for layer, head in heads) or NO_HEADS


def _read_heads(text: str, sizes: tuple[int, int], default: object, say: Say) -> Heads:
    heads, bad = [], ""
    for part in text.split("~")[: sizes[0] * sizes[1]] if text != NO_HEADS else ():
        layer, _, head = part.partition(".")
        if is_index(layer, sizes[0]) and is_index(head, sizes[1]):
            heads.append((int(layer), int(head)))
        elif not bad:
            say("a head is layer.head, such as 1.3", "without that head", bad := part)
    return tuple(dict.fromkeys(heads))


def _read_token(text: str, bound: Mapping[str, int] | None, default: str | None, say: Say) -> str | None:
    """Read the token that is held; without a bound `links` knows whether the text is as long as that."""
    if _TOKEN.fullmatch(text) and (bound is None or int(text[1:]) < bound[text[0]]):
        return text
    say("it is a query or a key and its position, such as q3 or k0", "none")
    return default


@dataclass(frozen=True)
class LinksState(PageState):
    """State of the Links picture: `heads` as (layer, head), and the `token` that is held, such as "q3" or "k0".

    `scale` lets opacity span 0 to 1 ("fixed") or 0 to the largest weight; `rows` are as high as is read well, or "fit".
    """

    kind: str = choice("cross")
    heads: Heads = declare(((0, 0),), _read_heads, _write_heads, name="lines", shape=[[int, int]])
    token: str | None = declare(None, _read_token, lambda token: token or "", name="held", shape=(str, type(None)))
    scale: str = choice("fixed", {"fixed": "0 to 1", "max": "0 to max"}, name="opacity")
    rows: str = choice("read", {"read": "Read", "fit": "Fit"}, name="fit")


def links(
    trace: TraceLike, state: LinksState | None = None, *, options: MapOptions | None = None, cached: Cache = make_anew
) -> Payload:
    """Make the Links picture of a trace; `options` say which rows and columns its maps have."""
    state, options = state or LinksState(), options or MapOptions()
    kind = known_kind(state.kind, trace)

    def make() -> Payload:
        return links_payload(_layers(trace, kind, options), trace.kinds, view={}, numbers=trace.own_numbers(kind))

    made = cached("links", (trace, kind, options), make)
    state = _fit_state(replace(state, kind=kind), made.header["shape"])
    if fine_lines.needs_fine_lines(made, state.heads):
        made = fine_lines.add_fine_lines(made, state.heads, (_weights(trace, kind, options, at) for at in state.heads))
    return add_view(made, state)


def focused_heads(layer: int | str, head: int | str, sizes: tuple[int, int]) -> Heads:
    """Return the head in focus, and for a mean all that it is made of."""
    layers, heads = (range(size) if at == MEAN else [int(at)] for at, size in zip((layer, head), sizes, strict=True))
    return tuple((one, other) for one in layers for other in heads)


def _layers(trace: TraceLike, kind: Kind, options: MapOptions) -> Iterator[EagerMaps]:
    return (select(layer, kind, options) for layer in layer_by_layer(trace, kind))


def _weights(trace: TraceLike, kind: Kind, options: MapOptions, at: tuple[int, int]) -> np.ndarray:
    """Return one head's weights, `(rows, cols)`."""
    layer, head = at
    return select(trace.one_layer(kind, layer), kind, options).attn[0, head].numpy()


def _fit_state(state: LinksState, shape: list[int]) -> LinksState:
    """Leave out heads and a token that the picture has not; `shape` is layers, heads, rows, keys."""
    layers, heads, rows, keys = shape
    there = tuple((layer, head) for layer, head in state.heads if layer < layers and head < heads)
    is_there = state.token is not None and int(state.token[1:]) < {"q": rows, "k": keys}[state.token[0]]
    return replace(state, heads=there, token=state.token if is_there else None)


class LinksRules(TabRules):
    """Links opens with the lines of the head in focus and the pinned row; a query that it holds is the pinned row."""

    def bounds(self, trace: Any, shared: Any) -> Mapping[str, Any]:
        """Return how many layers and heads the kind in focus has."""
        return {"heads": trace.shape(shared.kind)}

    def start(self, trace: Any, shared: Any) -> LinksState:
        """Return the state that shows the head in focus and the token of the pinned row."""
        token = None if shared.row is None else f"q{shared.row}"
        return LinksState(heads=focused_heads(shared.layer, shared.head, trace.shape(shared.kind)), token=token)

    def choose(self, view: Mapping[str, Any], texts: dict[str, str], shown: Any) -> dict[str, str]:
        """Pin the row of a held query on all tabs; only Links holds a key. Releasing the query unpins its row."""
        token = view.get("token")
        if token is None or is_of_other_sentence(view, shown.texts):
            return texts | {"row": "", "held": ""}
        return texts | {"row": token[1:], "held": ""} if token.startswith("q") else texts
