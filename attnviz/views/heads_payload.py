"""What the Heads component is handed: one header of labels and numbers, and the maps as blobs (`attnviz.views.binary`).

The overview of every head is there always, eight bits a cell; float32 maps as far as the budget goes (`heads_payload`).
"""

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from attnviz.views import colour
from attnviz.views.binary import Blobs, packed
from attnviz.views.labels import KINDS

if TYPE_CHECKING:
    from attnviz.tracing.shown import Shown

    ShownMaps: TypeAlias = Mapping[str, Shown]

FORMAT = 1
THUMBNAIL_SIDE = 64  # longer axes are pooled by their maximum, so that no peak is lost
_SCALES = ("SEQUENTIAL_LIGHT", "SEQUENTIAL_DARK", "DIVERGING_LIGHT", "DIVERGING_DARK")


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
    view = fitted_view(view, shown)
    header: dict[str, Any] = {
        "format": FORMAT,
        "kinds": [_kind(kind, maps, blobs) for kind, maps in shown.items()],
        "metrics": _metrics(metrics, shown),
        "strip": strip,
        "colour": {name.lower(): blobs.add(_scale(name)) for name in _SCALES},
    }
    header["base"] = blobs.digest(header)
    header["exact"] = _exact(shown, view, blobs, budget)
    header["id"] = blobs.digest(header)
    return packed({**header, "view": view}, blobs.joined())


def fitted_view(view: dict[str, Any], shown: "ShownMaps") -> dict[str, Any]:
    """`view` with a kind, layer, head, row, zoom and pins that `shown` has; what does not fit becomes the first, or
    none.
    """
    kind: str = view["kind"] if view.get("kind") in shown else next(iter(shown))
    layers, heads, rows, cols = shown[kind].attn.shape
    row = view.get("row")
    pins = [list(pin) for pin in view.get("pins") or [] if len(pin) == 3 and _fits(pin, shown)]
    return {
        **view,
        "kind": kind,
        "layer": _index(view.get("layer"), layers),
        "head": _index(view.get("head"), heads),
        "row": row if _is_index(row, rows) else None,
        "zoom": _window(view.get("zoom"), (rows, cols)),
        "pins": pins[:4],
    }


def _kind(kind: str, maps: "Shown", blobs: Blobs) -> dict[str, Any]:
    words = KINDS[kind]
    layers, heads, n_rows, n_cols = maps.attn.shape
    overview = eight_bit(maps.attn.numpy())
    return {
        "kind": kind,
        "tab": words.tab,
        "title": words.name,
        "question": words.question,
        "query_axis": f"query ↓ ({words.query})",
        "key_axis": f"key → ({words.key})",
        "shape": [layers, heads, n_rows, n_cols],
        "rows": [[row.input, row.output] for row in maps.rows],
        "cols": [col.text for col in maps.cols],
        "row_tokens": _tokens(maps.rows),
        "col_tokens": _tokens(maps.cols),
        "overview": {"offset": blobs.add(overview), "height": overview.shape[2], "width": overview.shape[3]},
        "mask": _mask(maps.mask.numpy(), blobs),
        "sinks": _sinks(maps),
        "keys_hidden": _keys_hidden(maps),
        "left_out": maps.left_out,
    }


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
    sizes = {kind: 4 * maps.attn.numel() for kind, maps in shown.items()}
    whole = list(shown) if sum(sizes.values()) <= budget else [view["kind"]] if sizes[view["kind"]] <= budget else []
    entries = [{"kind": kind, "offset": blobs.add(_float32(shown[kind].attn))} for kind in whole]
    wanted = [[view["kind"], view["layer"], view["head"]], *view["pins"]]
    for kind, layer, head in {tuple(site): None for site in wanted if site[0] not in whole}:
        offset = blobs.add(_float32(shown[kind].weights(layer, head)))
        entries.append({"kind": kind, "layer": layer, "head": head, "offset": offset})
    return entries


def _float32(attn: Any) -> np.ndarray:
    return np.ascontiguousarray(attn.numpy(), dtype="<f4")


def _metrics(metrics: pd.DataFrame, shown: "ShownMaps") -> dict[str, Any]:
    names = [name for name in metrics.columns if name not in ("kind", "layer", "head")]
    # A few arrays instead of a frame a kind: pandas would take longer here than everything else together.
    columns = {name: metrics[name].to_numpy(dtype=float) for name in names}
    kinds = metrics["kind"].to_numpy(dtype=object)
    order = np.lexsort((metrics["head"].to_numpy(), metrics["layer"].to_numpy()))
    values: dict[str, dict[str, list[float | None]]] = {}
    for kind in shown:
        rows = order[kinds[order] == kind]
        values[kind] = {name: [_number(value) for value in columns[name][rows].tolist()] for name in names}
    units = metrics.attrs.get("units", {})
    return {"names": [[name, name.replace("_", " "), units.get(name, "")] for name in names], "values": values}


def _number(value: float) -> float | None:
    return round(value, 4) if math.isfinite(value) else None


def _tokens(labels: Any) -> list[list[int]] | None:
    """Which tokens each label stands for; None where label i is token i, as it is until words or specials go."""
    tokens = [list(label.tokens) for label in labels]
    return None if tokens == [[i] for i in range(len(tokens))] else tokens


def _sinks(maps: "Shown") -> list[int]:
    """Columns of the first token and of the end token: the usual sinks, which may be left out of the colour range."""
    ends = {"<eos>", "</s>", "[SEP]", "<|endoftext|>"}
    return [i for i, col in enumerate(maps.cols) if 0 in col.tokens or col.text in ends]


def _keys_hidden(maps: "Shown") -> list[int]:
    """Rows to say "keys hidden" of where others say "no keys"."""
    return maps.rows_with_keys_hidden.nonzero().flatten().tolist()


def _scale(name: str) -> np.ndarray:
    return np.asarray(getattr(colour, name), dtype=np.uint8).reshape(256, 3)


def _index(value: Any, length: int) -> int | str:
    return value if value == "mean" or _is_index(value, length) else 0


def _is_index(value: Any, length: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < length


def _window(zoom: Any, lengths: tuple[int, int]) -> list[int] | None:
    """First row, row after the last, first key, key after the last; None where they do not lie on the map."""
    if not zoom:
        return None
    fits = all(0 <= zoom[2 * i] < zoom[2 * i + 1] <= length for i, length in enumerate(lengths))
    return list(zoom) if fits else None


def _fits(pin: Any, shown: "ShownMaps") -> bool:
    kind, layer, head = pin
    if kind not in shown:
        return False
    layers, heads, *_ = shown[kind].attn.shape
    return (layer == "mean" or _is_index(layer, layers)) and (head == "mean" or _is_index(head, heads))
