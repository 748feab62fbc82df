"""Data for the Switch off tab: every head as a switch with its effect, and the joint effect of heads that are off.

`view.off` are the heads that are off, each as `kind.layer.head`; `header.done` are the heads to which the shown effects
belong.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.causes.numbers.chances import Chances
from attnviz.causes.numbers.effects import HeadEffects, ReferenceEffects
from attnviz.causes.numbers.switched_off import SwitchedOff
from attnviz.kit.payload import common_header, payload_of
from attnviz.kit.views.labels import KINDS
from attnviz.kit.wire import Blobs, Payload
from attnviz.models.protocol import Model
from attnviz.text.difference import Run, display_runs, word_differences
from attnviz.text.display import display_token
from attnviz.text.entries import entry
from attnviz.transformer.probe import Kind

SIDE, SMALL_SIDE, MANY = 32, 16, 300  # side of a map in cells; smaller if there are more than `MANY` heads
MOST_TEXT = 4_000  # maximum characters of a text


@dataclass(frozen=True, eq=False)
class ShownSwitches:
    """Everything that the Switch off tab draws besides the two runs.

    `worth` is the effect of each single head, `usual` its effect over many sentences. `texts` are the model's texts
    without and with the interventions. `asks` says which tokens the probabilities belong to; `said` and `fixed` are
    remarks; `more` describes the other interventions. `put` replaces the context of a head that is off. `waits` says
    why `worth` is missing, and `measurable` whether the visitor can ask to measure it. `countable` is the number of
    sentences over which the effect can be counted, and `many` the result of that count in sentences.
    """

    worth: HeadEffects | None = None
    usual: ReferenceEffects | None = None
    texts: tuple[str, str] | None = None
    asks: str = ""
    said: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    put: str = "zero"
    waits: str = ""
    measurable: bool = False
    countable: int = 0
    many: tuple[str, ...] = ()
    numbers: Mapping[Kind, tuple[int, ...]] = field(default_factory=dict)


def switches_payload(
    model: Model, runs: SwitchedOff, shown: ShownSwitches, *, done: Sequence[str], view: dict[str, Any]
) -> Payload:
    """Pack the data that the Switch off widget draws. `done` are the heads that are off in `runs.after`."""
    blobs = Blobs()
    kinds = runs.before.kinds
    header = common_header(kinds[0], kinds, blobs) | {
        "groups": [_group(model, runs, shown, kind, blobs) for kind in kinds],
        "done": list(done),
        "texts": _texts(shown.texts),
        "asks": shown.asks,
        "strip": _strip(model, runs.chances),
        "said": list(shown.said),
        "fixed": list(shown.fixed),
        "more": list(shown.more),
        "put": shown.put,
        "waits": shown.waits,
        "measurable": shown.measurable,
        "countable": shown.countable,
        "many": list(shown.many),
        "usual": shown.usual.sentences if shown.usual else 0,
    }
    return payload_of(header, view, blobs)


def _group(model: Model, runs: SwitchedOff, shown: ShownSwitches, kind: Kind, blobs: Blobs) -> dict[str, Any]:
    """Pack one attention kind: each head's single effect, the divergence of its map, and its map."""
    layers, heads = model.shapes[kind]
    many = sum(each * count for each, count in model.shapes.values()) > MANY
    maps = runs.after.thumbnails(kind, side=SMALL_SIDE if many else SIDE).numpy()
    nats, spreads = _worth(shown, kind)
    return {
        "kind": kind,
        "title": KINDS[kind].name.removesuffix("-attention"),
        "tab": KINDS[kind].tab,
        "layers": layers,
        "heads": heads,
        "numbers": list(shown.numbers.get(kind, ())),
        "nats": nats,
        "spreads": spreads,
        "moved": _numbers(runs.moved[kind]),
        "maps": {"offset": blobs.add(np.ascontiguousarray(maps)), "height": maps.shape[2], "width": maps.shape[3]},
    }


def _worth(shown: ShownSwitches, kind: Kind) -> tuple[list[float | None] | None, list[float | None] | None]:
    """Return each head's effect in nats per token, and in units of its usual spread; None if not measured."""
    if shown.worth is None:
        return None, None
    mine = torch.tensor([place[0] == kind for place in shown.worth.places])
    spreads = None if shown.usual is None else _numbers(shown.usual.in_spreads(shown.worth)[mine])
    return _numbers(shown.worth.mean[mine]), spreads


def _numbers(values: Tensor) -> list[float | None]:
    """Return the values as a list for JSON, with None for NaN and infinity."""
    return [float(f"{value:.6g}") if math.isfinite(value) else None for value in values.flatten().tolist()]


def _texts(texts: tuple[str, str] | None) -> list[list[Run]] | None:
    """Split both texts into runs of words, each marked if it differs from the other text."""
    if texts is None:
        return None
    return list(map(display_runs, word_differences(*map(_cut, texts))))


def _cut(text: str) -> str:
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT].rstrip()} …"


def _strip(model: Model, both: tuple[Chances, Chances] | None) -> list[dict[str, Any]]:
    """Pack each token with its probability, its rival and its margin, without and with the interventions."""
    if both is None:
        return []
    tokens = both[0].asked.tokens
    return [
        {
            "text": display_token(token),
            "entry": entry(token),
            "special": token.is_special,
            "chance": [_number(math.exp(float(one.log_probabilities[at]))) for one in both],
            "log": [_number(float(one.log_probabilities[at])) for one in both],
            "margin": [_number(float(one.margins[at])) for one in both],
            "rival": [display_token(model.decode_ids([int(one.rivals[at])])[1][0]) for one in both],
        }
        for at, token in enumerate(tokens)
    ]


def _number(value: float) -> float | None:
    return float(f"{value:.6g}") if math.isfinite(value) else None
