"""The picture Links: two sentences as columns, with lines between their tokens for the chosen heads.

A line is as opaque as its weight is large. A line below `FAINTEST` would change no pixel by a single step of 255, so
it is not sent. Where a long text has more lines than the budget, the faintest of all are left out, and the header says
from which weight on lines are there and what share of each head's weight they carry.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from attnviz.guards.arguments import reads_arguments
from attnviz.kit.browser_view import add_view
from attnviz.kit.caching import NO_HELP, Cache, Host, make_anew
from attnviz.kit.fields import MEAN, PageState, Say, choice, declare, is_index
from attnviz.kit.focus import is_of_other_sentence, known_kind
from attnviz.kit.payload import axis_spans, col_entries, common_header, payload_of, row_entries
from attnviz.kit.picture import TabRules
from attnviz.kit.subject import Subject, of_trace
from attnviz.kit.wire import Blobs, Payload
from attnviz.maps.blocks import ShownMaps
from attnviz.maps.lines import BUDGET, FAINTEST, LineReader, join_lines, strongest_lines
from attnviz.maps.maps import EagerMaps
from attnviz.maps.options import MapOptions
from attnviz.maps.selection import EVERY_TOKEN, select
from attnviz.tracing.thumbnails import Thumbnails
from attnviz.tracing.trace_like import TraceLike
from attnviz.transformer.probe import Kind

SQUARE = 24  # side of a head's square in cells
MOST_HEADS = 4
FINE_BUDGET = 200_000  # maximum lines of the chosen heads together, six bytes each
Heads = tuple[tuple[int, int], ...]
NO_HEADS = "none"  # in a link; an empty text means the head in focus
_TOKEN = re.compile("[qk](0|[1-9][0-9]{0,4})")


def _write_heads(heads: Heads) -> str:
    """Return heads as they are written in a link: `1.3~2.0`."""
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
    """Parse the held token. Without a bound, `links` checks later whether the text is long enough."""
    if _TOKEN.fullmatch(text) and (bound is None or int(text[1:]) < bound[text[0]]):
        return text
    say("it is a query or a key and its position, such as q3 or k0", "none")
    return default


@dataclass(frozen=True)
class LinksState(PageState):
    """State of the Links picture.

    `heads` are (layer, head) pairs, and `token` is the held token, such as "q3" or "k0". `scale` makes opacity span 0
    to 1 ("fixed") or 0 to the largest weight. `rows` is "read" for rows of readable height, or "fit" to fit the screen.
    """

    kind: str = choice("cross")
    heads: Heads = declare(((0, 0),), _read_heads, _write_heads, name="lines", shape=[[int, int]])
    token: str | None = declare(None, _read_token, lambda token: token or "", name="held", shape=(str, type(None)))
    scale: str = choice("fixed", {"fixed": "0 to 1", "max": "0 to max"}, name="opacity")
    rows: str = choice("read", {"read": "Read", "fit": "Fit"}, name="fit")


def links(
    trace: TraceLike, state: LinksState | None = None, *, options: MapOptions | None = None, cached: Cache = make_anew
) -> Payload:
    """Make the Links picture of a trace. `options` say which rows and columns its maps have."""
    state, options = state or LinksState(), options or MapOptions()
    kind = known_kind(state.kind, trace)

    def make() -> Payload:
        shown = ShownMaps.of_trace(trace, kind, options)
        return links_payload(shown, trace.kinds, view={}, numbers=trace.own_numbers(kind))

    made = cached("links", (trace, kind, options), make)
    state = _fit_state(replace(state, kind=kind), made.header["shape"])
    if needs_fine_lines(made, state.heads):
        made = add_fine_lines(made, state.heads, (_weights(trace, kind, options, at) for at in state.heads))
    return add_view(made, state)


def focused_heads(layer: int | str, head: int | str, sizes: tuple[int, int]) -> Heads:
    """Return the head in focus as a list; if it is a mean, return all heads that the mean covers."""
    layers, heads = (range(size) if at == MEAN else [int(at)] for at, size in zip((layer, head), sizes, strict=True))
    return tuple((one, other) for one in layers for other in heads)


def _weights(trace: TraceLike, kind: Kind, options: MapOptions, at: tuple[int, int]) -> np.ndarray:
    """Return one head's weights, `(rows, cols)`: a whole map, because every line of the head may be drawn."""
    layer, head = at
    return select(trace.one_layer(kind, layer, head), kind, options).attn[0, 0].numpy()


def _fit_state(state: LinksState, shape: list[int]) -> LinksState:
    """Drop heads and a held token that the picture does not have. `shape` is layers, heads, rows, keys."""
    layers, heads, rows, keys = shape
    there = tuple((layer, head) for layer, head in state.heads if layer < layers and head < heads)
    is_there = state.token is not None and int(state.token[1:]) < {"q": rows, "k": keys}[state.token[0]]
    return replace(state, heads=there, token=state.token if is_there else None)


class LinksRules(TabRules):
    """Rules of the tab Links: it starts with the head in focus and the pinned row.

    Holding a query token pins its row.
    """

    def bounds(self, trace: Any, shared: Any) -> Mapping[str, Any]:
        """Return the number of layers and heads of the kind in focus, to check heads against."""
        return {"heads": trace.shape(shared.kind)}

    def start(self, trace: Any, shared: Any) -> LinksState:
        """Return the state that shows the head in focus and the token of the pinned row."""
        token = None if shared.row is None else f"q{shared.row}"
        return LinksState(heads=focused_heads(shared.layer, shared.head, trace.shape(shared.kind)), token=token)

    def choose(self, view: Mapping[str, Any], texts: dict[str, str], shown: Any) -> dict[str, str]:
        """Return the address parameters after a click: a held query token pins its row in all tabs, and
        releasing it unpins the row.

        A held key token concerns only Links.
        """
        token = view.get("token")
        if token is None or is_of_other_sentence(view, shown.texts):
            return texts | {"row": "", "held": ""}
        return texts | {"row": token[1:], "held": ""} if token.startswith("q") else texts


def needs_fine_lines(payload: Payload, heads: Sequence[tuple[int, int]]) -> bool:
    """Return whether at most `MOST_HEADS` heads are chosen and the payload omits visible lines of them."""
    return 0 < len(heads) <= MOST_HEADS and payload.header["threshold"] > FAINTEST


def add_fine_lines(
    payload: Payload, heads: Sequence[tuple[int, int]], maps: Iterable[np.ndarray], *, budget: int = FINE_BUDGET
) -> Payload:
    """Return the payload of `links_payload` with more lines for `heads`, whose `(rows, cols)` weights are `maps`.

    The header's `fine` lists these heads, the smallest weight that has a line, and the share of each head's weight that
    the lines carry. `base` stays, and `id` is new.
    """
    lines = strongest_lines((attn[None] for attn in maps), budget)
    blobs = payload.blobs
    added, begins = Blobs(), len(blobs) + -len(blobs) % 4
    fine = {
        "heads": [list(head) for head in heads],
        "starts": begins + added.add(lines.starts),
        "line_cols": begins + added.add(lines.cols),
        "line_weights": begins + added.add(lines.weights),
        "count": len(lines.cols),
        "threshold": lines.threshold,
        "shares": [round(float(share), 5) for share in lines.shares[:, 0]],
    }
    return payload.adding(fine=fine)._replace(blobs=blobs + bytes(-len(blobs) % 4) + added.join())


def links_payload(
    maps: ShownMaps | EagerMaps,
    kinds: Sequence[str],
    *,
    view: dict[str, Any],
    budget: int = BUDGET,
    numbers: Sequence[int] = (),
) -> Payload:
    """Pack the data that the Links component draws.

    Args:
        maps: the maps of the open kind.
        kinds: all attention kinds of the model.
        view: chosen heads, held token and scaling of opacity, as the component reports them.
        budget: approximate number of lines to send for all heads together.
        numbers: layer indices in the model if some of its layers have no attention.
    """
    layers, *shape = maps.shape
    readers, squares = [], []
    for layer in range(layers):
        readers.append(lines_of_layer := LineReader(tuple(shape), budget))
        small = Thumbnails((shape[0], shape[1], shape[2]), SQUARE, clips=True)
        for block in maps.blocks(layer):
            small.read(block)
            lines_of_layer.read(block.heads, block.rows, block.keys, block.attn.cpu().numpy())
        squares.append(small.eight_bits())
    blobs, lines, small = Blobs(), join_lines(readers, budget), torch.stack(squares).numpy()
    header = common_header(maps.kind, kinds, blobs) | {
        "shape": list(maps.shape),
        "rows": [[row.input, row.output] for row in maps.rows],
        "cols": [col.text for col in maps.cols],
        "row_entries": row_entries(maps.rows),
        "col_entries": col_entries(maps.cols),
        "squares": {"offset": blobs.add(small), "height": small.shape[2], "width": small.shape[3]},
        "starts": blobs.add(lines.starts),
        "line_cols": blobs.add(lines.cols),
        "line_weights": blobs.add(lines.weights),
        "count": len(lines.cols),
        "threshold": lines.threshold,
        "shares": [[round(float(share), 5) for share in layer] for layer in lines.shares],
        "left_out": maps.left_out,
        "layer_numbers": list(numbers),
        **axis_spans(maps.rows, maps.cols),
    }
    return payload_of(header, view, blobs)


@reads_arguments
def links_of(trace: TraceLike, *, options: MapOptions = EVERY_TOKEN, host: Host = NO_HELP) -> Subject:
    """Show two sentences as columns, with lines between their tokens.

    `options` can hide special tokens or merge pieces.
    """
    bounds = {
        "heads": lambda found: trace.shape(found["kind"]),
        "token": lambda found: {"q": len(trace.query_tokens(found["kind"])), "k": len(trace.key_tokens(found["kind"]))},
    }

    def draw(state: LinksState) -> Payload:
        return links(trace, state, options=options, cached=host.cached)

    return of_trace(trace, LinksState(trace.kinds[-1]), draw, bounds=bounds)
