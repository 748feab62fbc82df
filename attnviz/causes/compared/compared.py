"""Data for the Compare tab: the divergence between two runs for every head, and a head's two maps with aligned rows."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.analysis.runs import HeadPlace
from attnviz.causes.numbers.chances import Chances
from attnviz.causes.numbers.run_comparison import ComparedKind, RunComparison, pair_in_order
from attnviz.kit.entries import col_entries, row_entries
from attnviz.kit.payload import common_header, payload_of
from attnviz.kit.spans import spans_along
from attnviz.kit.views.labels import KINDS, shorten
from attnviz.kit.wire import Blobs, Payload
from attnviz.models.protocol import Model
from attnviz.text.difference import display_runs, word_differences
from attnviz.text.display import display, display_token
from attnviz.text.spans import Span
from attnviz.transformer.probe import Kind

ALL = 1_500_000  # maximum bytes of maps that a page sends at once
MOST_NAME = 120  # maximum characters of a run's name
MOST_TEXT = 4_000  # maximum characters of a text


@dataclass(frozen=True, eq=False)
class ShownSides:
    """What the Compare tab draws besides the maps: names, texts, token probabilities and models of both runs, and
    remarks.
    """

    names: tuple[str, str]
    texts: tuple[str, str]
    chances: tuple[Chances | None, Chances | None]
    models: tuple[Model, Model]
    said: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()


def compared_payload(runs: RunComparison, shown: ShownSides, *, view: dict[str, Any], most: int = ALL) -> Payload:
    """Pack the data that the Compare widget draws.

    If all maps take at most `most` bytes, send all of them; otherwise send only those of the head in focus. `view` has
    that head's kind, layer and head number, which must exist in both runs.
    """
    blobs = Blobs()
    kinds = tuple(runs.kinds)
    header = common_header(view["kind"], kinds, blobs) | {
        "groups": [_group(kind, found) for kind, found in runs.kinds.items()],
        "maps": _maps(runs, view, blobs, most),
        "names": [shorten(display(name), MOST_NAME) for name in shown.names],
        "texts": list(map(display_runs, word_differences(*map(_cut, shown.texts)))),
        "strip": _strip(shown),
        "said": list(shown.said),
        "fixed": list(shown.fixed),
    }
    return payload_of(header, view, blobs)


def _cut(text: str) -> str:
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT].rstrip()} …"


def _group(kind: Kind, found: ComparedKind) -> dict[str, Any]:
    words = KINDS[kind]
    return {
        "kind": kind,
        "title": words.name.removesuffix("-attention"),
        "question": words.question,
        "layers": found.apart.shape[0],
        "heads": found.apart.shape[1],
        "apart": [float(f"{bits:.6g}") if math.isfinite(bits) else None for bits in found.apart.flatten().tolist()],
        "in_step": found.in_step,
        "rows": [list(place) for place in found.rows],
        "cols": [list(place) for place in found.cols],
        "row_texts": [[[row.input, row.output] for row in rows] for rows in found.row_labels],
        "col_texts": [[col.text for col in cols] for cols in found.col_labels],
        "row_entries": [row_entries(rows) for rows in found.row_labels],
        "col_entries": [col_entries(cols) for cols in found.col_labels],
        **spans_along(_spans(found.rows, found.row_labels), _spans(found.cols, found.col_labels)),
    }


def _spans(places: Sequence[Any], labels: Sequence[Sequence[Any]]) -> list[Span | None]:
    """Return the speaker's span at each position, from the first run or, if it has no token there, from the second."""
    there = ([labels[side][at].span for side, at in enumerate(place) if at is not None] for place in places)
    return [next(iter(spans), None) for spans in there]


def _maps(runs: RunComparison, view: dict[str, Any], blobs: Blobs, most: int) -> list[dict[str, Any]]:
    """Pack both runs' weights for every head if they fit into `most` bytes, otherwise only for the head in focus."""
    places: list[HeadPlace] = [
        (kind, layer, head)
        for kind, found in runs.kinds.items()
        for layer in range(found.apart.shape[0])
        for head in range(found.apart.shape[1])
    ]
    size = sum(_bytes(runs.kinds[kind]) for kind, *_ in places)
    chosen = places if size <= most else [(view["kind"], view["layer"], view["head"])]
    return [
        {
            "kind": kind,
            "layer": layer,
            "head": head,
            "offsets": [_blob(map_, blobs) for map_ in runs.maps(kind, layer, head)],
        }
        for kind, layer, head in chosen
    ]


def _bytes(found: ComparedKind) -> int:
    return sum(4 * len(rows) * len(cols) for rows, cols in zip(found.row_labels, found.col_labels, strict=True))


def _blob(map_: Any, blobs: Blobs) -> int:
    return blobs.add(np.ascontiguousarray(map_.numpy(), dtype="<f4"))


def _strip(shown: ShownSides) -> list[dict[str, Any]]:
    """Pack the aligned tokens of both runs, each with its probability; a side without the token gets None."""
    here, there = shown.chances
    sides = [[] if one is None else _tokens(one, model) for one, model in zip((here, there), shown.models, strict=True)]
    places, _ = pair_in_order(*([token["text"] for token in tokens] for tokens in sides))
    return [
        {"sides": [None if at is None else tokens[at] for at, tokens in zip(place, sides, strict=True)]}
        for place in places
    ]


def _tokens(one: Chances, model: Model) -> Sequence[dict[str, Any]]:
    logs, margins, rivals = (found.tolist() for found in (one.log_probabilities, one.margins, one.rivals))
    return [
        {
            "text": display_token(token),
            "special": token.is_special,
            "chance": _number(math.exp(log)),
            "log": _number(log),
            "margin": _number(margin),
            "rival": display_token(model.decode_ids([rival])[1][0]),
        }
        for token, log, margin, rival in zip(one.asked.tokens, logs, margins, rivals, strict=True)
    ]


def _number(value: float) -> float | None:
    return float(f"{value:.6g}") if math.isfinite(value) else None
