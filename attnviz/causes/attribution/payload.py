"""The data of the Attribute tab: a logit's bars, every head's bar opened into tokens, and what a lens reads."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.analysis.attribution import LogitPart
from attnviz.analysis.runs import HeadPlace
from attnviz.causes.numbers.lens import LogitLens
from attnviz.causes.numbers.split import Explained
from attnviz.kit.payload import common_header, payload_of
from attnviz.kit.spans import told_spans
from attnviz.kit.views.labels import KINDS
from attnviz.kit.wire import Blobs, Payload
from attnviz.maps.spans import key_spans
from attnviz.models.protocol import Model
from attnviz.text.display import display_token
from attnviz.text.entries import entries
from attnviz.text.tokens import Token
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Kind

_SHORT: dict[Kind, str] = {"encoder_self": "self", "decoder_self": "self", "cross": "cross"}


@dataclass(frozen=True, eq=False)
class Lens:
    """A lens on one stack: its tokens, which name the columns, and the predictions after each layer."""

    title: str
    found: LogitLens
    tokens: Sequence[Token]
    column: int | None = None


@dataclass(frozen=True, eq=False)
class ShownLogit:
    """A logit as the tab draws it: the bars, why they are the last layer's only, the loss without each head (None: not
    asked for), the lenses, and the range of the row's logits. `names` tells a token's name from its id.
    """

    trace: Trace
    explained: Explained
    names: Callable[[int], str]
    steps: Sequence[tuple[int, Token, Token | None]]
    spread: float
    why_last: str = ""
    drops: Mapping[HeadPlace, float] | None = None
    lenses: Sequence[Lens] = ()


def attribution_payload(model: Model, shown: ShownLogit, *, view: dict[str, Any]) -> Payload:
    """Pack what the widget draws."""
    blobs, bars = Blobs(), shown.explained.bars
    asked = bars.asked
    header = common_header(model.kinds[0], model.kinds, blobs) | {
        "step": asked.row,
        "steps": [_step(*step) for step in shown.steps],
        "token": shown.names(asked.id),
        "against": None if asked.against is None else shown.names(asked.against),
        "logit": bars.logit,
        "total": bars.total,
        "spread": shown.spread,
        "why_last": shown.why_last,
        "bars": [_bar(part, shown.drops) for part in bars.parts],
        "has_drops": shown.drops is not None,
        "opened": _heads_by_token(shown, blobs),
        "lenses": [_lens(lens, shown.names) | _lens_spans(shown.trace, lens) for lens in shown.lenses],
    }
    return payload_of(header, view, blobs)


def _step(row: int, goes_in: Token, comes_out: Token | None) -> dict[str, Any]:
    named = display_token(comes_out) if comes_out is not None and comes_out.id >= 0 else ""
    return {"step": row, "input": display_token(goes_in), "output": named,
            "entries": entries([goes_in if comes_out is None else comes_out])}  # fmt: skip


def _bar(part: LogitPart, drops: Mapping[HeadPlace, float] | None) -> dict[str, Any]:
    """Pack one bar: its name, its head, the part that it adds, and the loss without it."""
    head = (part.kind, part.layer, part.head)
    is_head = part.part == "head"
    return {
        "name": _name(part),
        "part": part.part,
        "head": f"{part.kind}.{part.layer}.{part.head}" if is_head else "",
        "kind": part.kind or "",
        "layer": part.layer,
        "value": part.value,
        "drop": drops.get(head) if drops is not None and is_head else None,  # type: ignore[arg-type]
    }


def _name(part: LogitPart) -> str:
    """Name a part, such as `L2 cross H4`, `L1 feed-forward`, `embedding`."""
    where = "" if part.layer is None else f"L{part.layer} "
    site = "" if part.kind is None else _SHORT[part.kind]
    if part.part == "head":
        return f"{where}{site} H{part.head}"
    what = {"head bias": "bias of W_o", "norm bias": "norm’s bias" if part.layer is not None else "last norm’s bias",
            "vocabulary bias": "vocabulary’s bias"}.get(part.part, part.part)  # fmt: skip
    return " ".join(filter(None, (where.strip(), site, what)))


def _heads_by_token(shown: ShownLogit, blobs: Blobs) -> dict[str, Any]:
    """Pack each site's heads by the tokens that they look at, float32."""
    found = {}
    for site, numbers in shown.explained.opened.items():
        keys = shown.trace.key_tokens(site.kind)
        found[f"{site.kind}.{site.layer}"] = {
            "title": KINDS[site.kind].name,
            "size": list(numbers.shape),
            "cols": [display_token(token) for token in keys],
            "col_entries": [entries([token]) for token in keys],
            **_key_spans(shown.trace, site.kind),
            "values": blobs.add(np.ascontiguousarray(numbers.float().numpy(), dtype="<f4")),
        }
    return found


def _key_spans(trace: Trace, kind: Kind) -> dict[str, Any]:
    """Return the turns of a conversation among a kind's keys; nothing for a text without them."""
    told = told_spans(key_spans(trace, kind))
    return {"spans": told} if told else {}


def _lens_spans(trace: Trace, lens: Lens) -> dict[str, Any]:
    """Return the turns among the tokens that a lens of a decoder reads."""
    kind = trace.kinds[-1]
    is_text = kind == "decoder_self" and len(lens.tokens) == len(trace.key_tokens(kind))
    return _key_spans(trace, kind) if is_text else {}


def _lens(lens: Lens, names: Callable[[int], str]) -> dict[str, Any]:
    """Pack the likeliest tokens after each layer, with their probabilities, and the rank of the row's own token."""
    found = lens.found
    layers, rows, count = found.ids.shape
    cells = [
        [[[names(int(found.ids[layer, row, nth])), round(float(found.probabilities[layer, row, nth]), 5)]
          for nth in range(count)] for row in range(rows)]
        for layer in range(layers)
    ]  # fmt: skip
    own = [[_own_rank(found, layer, row) for row in range(rows)] for layer in range(layers)]
    return {
        "title": lens.title,
        "cols": [display_token(token) if token.id >= 0 else "" for token in lens.tokens],
        "column": lens.column,
        "cells": cells,
        "own": own,
    }


def _own_rank(found: LogitLens, layer: int, row: int) -> list[float] | None:
    """Return probability and rank of the token that is asked about; None where a row puts out nothing."""
    rank = int(found.rank[layer, row])
    return None if rank < 0 else [round(float(found.probability[layer, row]), 6), rank]
