"""Data for the Attribute tab: the contributions to a logit, each head's contribution by token, and the logit lens."""

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
    """A logit lens for one stack: the predictions after each layer, and the tokens that label the columns."""

    title: str
    found: LogitLens
    tokens: Sequence[Token]
    column: int | None = None


@dataclass(frozen=True, eq=False)
class ShownLogit:
    """Everything that the Attribute tab draws for one logit.

    `explained` has the bars; `why_last` says why they cover only the last layer. `drops` is the loss without each head,
    or None if it was not measured. `spread` is the range of the logits in the row. `names` returns the text of a token
    id.
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
    """Pack the data that the Attribute widget draws."""
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
    """Pack one bar: its label, its head, its contribution to the logit, and the loss without the head."""
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
    """Return the label of a contribution, such as `L2 cross H4`, `L1 feed-forward` or `embedding`."""
    where = "" if part.layer is None else f"L{part.layer} "
    site = "" if part.kind is None else _SHORT[part.kind]
    if part.part == "head":
        return f"{where}{site} H{part.head}"
    what = {"head bias": "bias of W_o", "norm bias": "norm’s bias" if part.layer is not None else "last norm’s bias",
            "vocabulary bias": "vocabulary’s bias"}.get(part.part, part.part)  # fmt: skip
    return " ".join(filter(None, (where.strip(), site, what)))


def _heads_by_token(shown: ShownLogit, blobs: Blobs) -> dict[str, Any]:
    """Pack, for each attention site, the contribution of each head split by attended token, as float32."""
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
    """Return the conversation turns among the key tokens of an attention kind, or {} if the text has no turns."""
    told = told_spans(key_spans(trace, kind))
    return {"spans": told} if told else {}


def _lens_spans(trace: Trace, lens: Lens) -> dict[str, Any]:
    """Return the conversation turns among the tokens that a decoder's lens covers."""
    kind = trace.kinds[-1]
    is_text = kind == "decoder_self" and len(lens.tokens) == len(trace.key_tokens(kind))
    return _key_spans(trace, kind) if is_text else {}


def _lens(lens: Lens, names: Callable[[int], str]) -> dict[str, Any]:
    """Pack the most probable tokens after each layer with their probabilities, and the rank of each row's own token."""
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
    """Return the probability and rank of a row's actual token, or None if the row outputs no token."""
    rank = int(found.rank[layer, row])
    return None if rank < 0 else [round(float(found.probability[layer, row]), 6), rank]
