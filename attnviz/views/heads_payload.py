"""What the Heads component is handed: a header of labels, and maps and metrics as blobs (`attnviz.views.binary`).

What is the same for every sentence is in `attnviz.views.heads_constants` and goes with the script. The overview of all
heads is there always, eight bits a cell; float32 maps as far as the budget goes (`heads_payload`).
"""

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from attnviz.views.binary import Blobs, packed
from attnviz.views.fitted_view import fitted_view
from attnviz.views.metric_columns import metric_columns
from attnviz.views.strip_labels import labels, packed_strip

if TYPE_CHECKING:
    from attnviz.tracing.long_shown import LongShown
    from attnviz.tracing.shown import Shown

    ShownMaps: TypeAlias = Mapping[str, Shown | LongShown]

THUMBNAIL_SIDE = 64  # longer axes are pooled by their maximum, so that no peak is lost


def heads_payload(
    shown: "ShownMaps", metrics: pd.DataFrame, *, view: dict[str, Any], strip: dict[str, Any], budget: int = 2_000_000
) -> bytes:
    """The bytes that the Heads component draws from.

    Args:
        shown: kind -> its maps, labels and mask, in the order of the tabs.
        metrics: one row a head: ``kind, layer, head`` and one column a metric (NaN where a metric does not apply).
        view: what is in focus, as the component reports it, made to fit `shown` by `fitted_view`.
        strip: the sentences above the maps, from `attnviz.views.sentence_strip.sentence_strip`.
        budget: bytes of float32 maps. All heads of all kinds are sent while they fit in it, else all heads of the kind
            in focus while these fit, else only the head in focus and the pinned ones.

    Raises:
        ValueError: `shown` holds no kind.
    """
    if not shown:
        raise ValueError("there are no maps to draw: expected at least one kind, got none")
    blobs = Blobs()
    view, strip = fitted_view(view, shown), packed_strip(strip)
    header: dict[str, Any] = {
        "kinds": [_kind(kind, maps, blobs) | labels(maps, strip) for kind, maps in shown.items()],
        "metrics": metric_columns(metrics, shown, blobs),
        "strip": strip,
    }
    header["base"] = blobs.digest(header)
    header["exact"] = _exact(shown, view, blobs, budget)
    header["id"] = blobs.digest(header)
    return packed({**header, "view": view}, blobs.joined())


def _kind(kind: str, maps: "Shown | LongShown", blobs: Blobs) -> dict[str, Any]:
    overview = _overview(maps)
    told = {
        "mask": _mask(maps.mask.numpy(), blobs),
        "row_tokens": _tokens(maps.rows),
        "col_tokens": _tokens(maps.cols),
        "sinks": _sinks(maps),
        "keys_hidden": _keys_hidden(maps),
        "left_out": maps.left_out,
    }
    return {
        "kind": kind,
        "shape": list(maps.shape),
        "overview": {"offset": blobs.add(overview), "height": overview.shape[2], "width": overview.shape[3]},
        **{name: value for name, value in told.items() if value},
    }


def _overview(maps: "Shown | LongShown") -> np.ndarray:
    """Every head in eight bits; of a long text's maps they were made when each layer was looked at."""
    from attnviz.tracing.long_shown import LongShown  # torch is imported with it

    return maps.thumbnails.numpy() if isinstance(maps, LongShown) else eight_bit(maps.attn.numpy())


def eight_bit(attn: np.ndarray) -> np.ndarray:
    """Weights in 0..1, (layers, heads, rows, cols), as bytes 0..255, pooled by maximum to at most 64 cells a side."""
    for axis in (2, 3):
        length = attn.shape[axis]
        if length > THUMBNAIL_SIDE:
            edges = [i * length // THUMBNAIL_SIDE for i in range(THUMBNAIL_SIDE + 1)]
            blocks = [attn.take(range(*edge), axis).max(axis) for edge in pairwise(edges)]
            attn = np.stack(blocks, axis)
    return np.rint(np.clip(np.nan_to_num(attn), 0, 1) * 255).astype(np.uint8)


def _mask(mask: np.ndarray, blobs: Blobs) -> dict[str, int] | None:
    if mask.all():
        return None
    bits = np.packbits(mask.reshape(-1), bitorder="little")
    return {"offset": blobs.add(bits), "layers": mask.shape[0], "heads": mask.shape[1]}


def _exact(shown: "ShownMaps", view: dict[str, Any], blobs: Blobs, budget: int) -> list[dict[str, Any]]:
    sizes = {kind: 4 * math.prod(maps.shape) for kind, maps in shown.items()}
    whole = list(shown) if sum(sizes.values()) <= budget else [view["kind"]] if sizes[view["kind"]] <= budget else []
    entries = [{"kind": kind, "offset": blobs.add(_float32(shown[kind].attn))} for kind in whole]
    wanted = [[view["kind"], view["layer"], view["head"]], *view["pins"]]
    for kind, layer, head in {tuple(site): None for site in wanted if site[0] not in whole}:
        offset = blobs.add(_float32(shown[kind].weights(layer, head)))
        entries.append({"kind": kind, "layer": layer, "head": head, "offset": offset})
    return entries


def _float32(attn: Any) -> np.ndarray:
    return np.ascontiguousarray(attn.numpy(), dtype="<f4")


def _tokens(labels: Any) -> list[list[int]] | None:
    """Which tokens each label stands for; None where label i is token i, as it is until words or specials go."""
    tokens = [list(label.tokens) for label in labels]
    return None if tokens == [[i] for i in range(len(tokens))] else tokens


def _sinks(maps: "Shown | LongShown") -> list[int]:
    """Columns of the first token and of the end token: the usual sinks, which may be left out of the colour range."""
    ends = {"<eos>", "</s>", "[SEP]", "<|endoftext|>"}
    return [i for i, col in enumerate(maps.cols) if 0 in col.tokens or col.text in ends]


def _keys_hidden(maps: "Shown | LongShown") -> list[int]:
    """Rows to say "keys hidden" of where others say "no keys"."""
    return maps.rows_with_keys_hidden.nonzero().flatten().tolist()
