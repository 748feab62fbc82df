"""Data for the Heads component: a header with labels, and maps and metrics as binary blobs (`attnviz.kit.wire`).

What is the same for every sentence is in `attnviz.kit.bundle` and is sent with the script. The overview of all
heads, eight bits per cell, is always available; float32 maps are sent up to a size limit (`heads_payload`). If the
overview follows from the float32 maps, the browser computes it.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from attnviz.analysis.metric_table import METRICS, Columns
from attnviz.heads.sentences import labels, packed_strip
from attnviz.kit.payload import axis_spans
from attnviz.kit.wire import Blobs, Payload
from attnviz.maps.cover import CoveredMaps

if TYPE_CHECKING:
    import pandas as pd

    from attnviz.maps.maps import Maps

    ShownMaps: TypeAlias = Mapping[str, Maps]
    MeasuredCells: TypeAlias = tuple[str, ShownMaps, str]

THUMBNAIL_SIDE = 64  # longer axes are pooled by their maximum, so that no peak is lost
STEPS = 65534  # highest code for a value; the next code means no value


def fitted_view(view: dict[str, Any], shown: "ShownMaps") -> dict[str, Any]:
    """Return `view` with values that exist in `shown`.

    An invalid kind, layer or head becomes the first one; an invalid row, zoom or pin is dropped.
    """
    return _fit(view, {kind: maps.shape for kind, maps in shown.items()})


def _fit(view: dict[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
    kind: str = view["kind"] if view.get("kind") in shapes else next(iter(shapes))
    layers, heads, rows, cols = shapes[kind]
    row = view.get("row")
    pins = [list(pin) for pin in view.get("pins") or [] if len(pin) == 3 and _fits(pin, shapes)]
    return {
        **view,
        "kind": kind,
        "layer": _index(view.get("layer"), layers),
        "head": _index(view.get("head"), heads),
        "row": row if _is_index(row, rows) else None,
        "zoom": _window(view.get("zoom"), (rows, cols)),
        "pins": pins[:4],
    }


def _index(value: Any, length: int) -> int | str:
    return value if value == "mean" or _is_index(value, length) else 0


def _is_index(value: Any, length: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < length


def _window(zoom: Any, lengths: tuple[int, int]) -> list[int] | None:
    """Return the zoom as [first row, end of rows, first key, end of keys]; None if it is not within the map."""
    if not zoom:
        return None
    fits = all(0 <= zoom[2 * i] < zoom[2 * i + 1] <= length for i, length in enumerate(lengths))
    return list(zoom) if fits else None


def _fits(pin: Any, shapes: Mapping[str, tuple[int, ...]]) -> bool:
    kind, layer, head = pin
    if kind not in shapes:
        return False
    layers, heads, *_ = shapes[kind]
    return (layer == "mean" or _is_index(layer, layers)) and (head == "mean" or _is_index(head, heads))


def with_fitted_view(payload: Payload, view: dict[str, Any]) -> Payload:
    """Return a payload that contains every map, with another view, made valid as `fitted_view` does."""
    shapes = {kind["kind"]: tuple(kind["shape"]) for kind in payload.header["kinds"]}
    return payload.with_view(_fit(view, shapes))


def heads_payload(
    shown: "ShownMaps", metrics: "pd.DataFrame | Columns", *, view: dict[str, Any], strip: dict[str, Any],
    budget: int = 2_000_000, fixed: str = "", cells: "MeasuredCells | None" = None,
) -> Payload:  # fmt: skip
    """Pack the data that the Heads widget draws.

    Args:
        shown: kind -> its maps, labels and mask, in the order of the tabs.
        metrics: one row a head: ``kind, layer, head`` and one column a metric (NaN where a metric does not apply).
        view: what is in focus, as the component reports it, made to fit `shown` by `fitted_view`.
        strip: the sentences above the maps, from `attnviz.heads.sentences.sentence_strip`.
        budget: bytes of float32 maps. All heads of all kinds are sent while they fit in it, else all heads of the kind
            in focus while these fit, else only the head in focus and the pinned ones.
        cells: what stands in the cells of the maps where it is not the weight, the maps of the kinds that have it, and
            why it is the weight all the same. Thumbnails and metrics are always of weights.
        fixed: why no head can be switched off; empty where it can.

    Raises:
        ValueError: `shown` holds no kind.
    """
    if not shown:
        raise ValueError("there are no maps to draw: expected at least one kind, got none")
    blobs = Blobs()
    view, strip = fitted_view(view, shown), packed_strip(strip)
    measure, measured, why = cells or ("weight", {}, "")
    whole = _sent_whole(measured or shown, view, budget)
    # Small maps that the browser can compute are not sent; their exact maps come first in the data.
    own = [] if measured else [kind for kind in whole if _is_small(shown[kind])]
    exact = [_exact_maps(shown[kind], shown[kind], blobs) for kind in own]
    header: dict[str, Any] = {
        "kinds": [_kind(maps, blobs, small=kind not in own) | labels(maps, strip) for kind, maps in shown.items()],
        "metrics": metric_columns(metrics, shown, blobs),
        "strip": strip,
        **({"fixed": fixed} if fixed else {}),
    }
    header["base"] = blobs.digest(header)
    header["cells"] = {"measure": measure, "why": why}
    drawn = {kind: (maps, shown[kind]) for kind, maps in (measured or shown).items()}
    exact += [_exact_maps(*drawn[kind], blobs) for kind in whole if kind not in own]
    header["exact"] = exact + _exact_heads(drawn, view, whole, blobs)
    header["id"] = blobs.digest({name: header[name] for name in ("base", "cells", "exact")})
    return Payload({**header, "view": view}, blobs.join())


def _is_small(maps: "Maps") -> bool:
    """Whether the map needs no downsampling for the overview, so that each cell of the small map is one weight."""
    return max(maps.shape[2:]) <= THUMBNAIL_SIDE and not isinstance(maps, CoveredMaps)


def _kind(maps: "Maps", blobs: Blobs, *, small: bool) -> dict[str, Any]:
    """Pack everything about a kind except its weights; with the small maps if `small`."""
    told = {
        "mask": _mask(maps.mask.numpy(), blobs),
        "row_tokens": _tokens(maps.rows),
        "col_tokens": _tokens(maps.cols),
        "sinks": _sinks(maps),
        "keys_hidden": _keys_hidden(maps),
        "left_out": maps.left_out,
        "to_sink": maps.to_sink,
        "covered": _describe_cover(maps),
        **axis_spans(maps.rows, maps.cols),
    }
    return {
        "kind": maps.kind,
        "shape": list(maps.shape),
        "overview": _overview(maps, blobs) if small else {"height": maps.shape[2], "width": maps.shape[3]},
        **{name: value for name, value in told.items() if value},
    }


def _overview(maps: "Maps", blobs: Blobs) -> dict[str, int]:
    overview = maps.thumbnails(THUMBNAIL_SIDE).numpy()
    return {"offset": blobs.add(overview), "height": overview.shape[2], "width": overview.shape[3]}


def _describe_cover(maps: "Maps") -> dict[str, Any] | None:
    """Return which heads and rows are hidden, and until when; None if no values are hidden."""
    if not isinstance(maps, CoveredMaps):
        return None
    cover = maps.cover
    heads = None if cover.heads is None else [list(head) for head in cover.heads]
    return {"heads": heads, "rows": None if cover.tokens is None else cover.rows(maps), "said": cover.said}


def _mask(mask: np.ndarray, blobs: Blobs) -> dict[str, int] | None:
    if mask.all():
        return None
    bits = np.packbits(mask.reshape(-1), bitorder="little")
    return {"offset": blobs.add(bits), "layers": mask.shape[0], "heads": mask.shape[1]}


def _sent_whole(shown: "ShownMaps", view: dict[str, Any], budget: int) -> list[str]:
    """Return the kinds for which every head's float32 map is sent."""
    sizes = {kind: 4 * math.prod(maps.shape) for kind, maps in shown.items()}
    return list(shown) if sum(sizes.values()) <= budget else [view["kind"]] if sizes[view["kind"]] <= budget else []


def _exact_maps(maps: "Maps", masked: "Maps", blobs: Blobs) -> dict[str, Any]:
    """Pack every head's float32 map.

    If all cells that `masked` hides are 0, only the other cells are sent, and `seen` is their number.
    """
    numbers, mask = _float32(maps.all_heads()), masked.mask.numpy()
    # In an uploaded file, masked cells may have weight.
    if mask.all() or numbers[~(mask := np.broadcast_to(mask, numbers.shape))].any():
        return {"kind": maps.kind, "offset": blobs.add(numbers)}
    seen = numbers[mask]
    return {"kind": maps.kind, "offset": blobs.add(seen), "seen": len(seen)}


def _exact_heads(
    drawn: "Mapping[str, tuple[Maps, Maps]]", view: dict[str, Any], whole: Collection[str], blobs: Blobs
) -> list[dict[str, Any]]:
    """Pack the maps of single heads that are in focus or pinned, for kinds that are not sent whole.

    `drawn` has the maps of each kind, and the maps whose mask hides their cells.
    """
    sites = [[view["kind"], view["layer"], view["head"]], *view["pins"]]
    wanted = {tuple(site): None for site in sites if site[0] in drawn and site[0] not in whole}
    return [
        {"kind": kind, "layer": layer, "head": head} | _exact_head(*drawn[kind], (layer, head), blobs)
        for kind, layer, head in wanted
    ]


def _exact_head(maps: "Maps", masked: "Maps", site: tuple[int | str, int | str], blobs: Blobs) -> dict[str, Any]:
    """Do what `_exact_maps` does, for the map of one head or a mean. A block of its rows is in memory at a time."""
    visible = masked.visible_cells(*site).numpy()
    seen = int(np.count_nonzero(visible))
    if seen < visible.size:
        with suppress(_HiddenWeightError):
            return {"offset": blobs.add_parts(_seen_parts(maps, site, visible), 4 * seen), "seen": seen}
    return {"offset": blobs.add_parts(_whole_rows(maps, site), 4 * visible.size)}


class _HiddenWeightError(Exception):
    """A masked cell of a map has weight, so that the visible cells are not enough."""


def _seen_parts(maps: "Maps", site: tuple[int | str, int | str], visible: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the numbers of a map's visible cells, block by block. A block has all keys that its rows may see."""
    for block in maps.weight_blocks(*site):
        numbers, sees = _float32(block.attn[0].cpu()), visible[block.rows, block.keys]
        if numbers[~sees].any():
            raise _HiddenWeightError
        yield numbers[sees]


def _whole_rows(maps: "Maps", site: tuple[int | str, int | str]) -> Iterator[np.ndarray]:
    """Yield all numbers of a map, block by block."""
    for block in maps.weight_blocks(*site):
        numbers = np.zeros((block.rows.stop - block.rows.start, len(maps.cols)), dtype="<f4")
        numbers[:, block.keys] = block.attn[0].cpu()
        yield numbers


def _float32(attn: Any) -> np.ndarray:
    return np.ascontiguousarray(attn.numpy(), dtype="<f4")


def _tokens(labels: Any) -> list[list[int]] | None:
    """Return the token indices of each label; None if label i is always token i, as without merging and hiding."""
    tokens = [list(label.tokens) for label in labels]
    return None if tokens == [[i] for i in range(len(tokens))] else tokens


def _sinks(maps: "Maps") -> list[int]:
    """Return the columns of the first token and of end tokens: the usual sinks, which the colour range may exclude."""
    ends = {"<eos>", "</s>", "[SEP]", "<|endoftext|>"}
    return [i for i, col in enumerate(maps.cols) if 0 in col.tokens or col.text in ends]


def _keys_hidden(maps: "Maps") -> list[int]:
    """Return the rows for which the picture says "keys hidden" instead of "no keys"."""
    return maps.rows_with_keys_hidden.nonzero().flatten().tolist()


def metric_columns(metrics: "pd.DataFrame | Columns", kinds: Iterable[str], blobs: Blobs) -> dict[str, Any]:
    """Pack the metrics of all heads as 16-bit codes.

    `names` has the name and unit of each metric, and `offsets` for each kind where its blob starts. A blob holds the
    minimum and maximum of each metric (two float32, NaN if there are none), and then for each metric one uint16 per
    head, layer by layer: 0 for the minimum, `STEPS` for the maximum, and 65535 for no value. A value is off by at most
    a 131,068th of its metric's range, far below the displayed digits.
    """
    names = [name for name in metrics if name not in ("kind", "layer", "head", "model_layer")]
    of_kind, layers, heads = (np.asarray(metrics[name]) for name in ("kind", "layer", "head"))
    values = np.array([np.asarray(metrics[name], dtype=float) for name in names]).reshape(len(names), len(of_kind))
    order = np.lexsort((heads, layers))
    rows_of = {kind: order[of_kind[order] == kind] for kind in kinds}
    units = {name: metric.unit for name, metric in METRICS.items()}
    return {
        "names": [[name, units.get(name, "")] for name in names],
        "offsets": {kind: _pack(values[:, rows], blobs) for kind, rows in rows_of.items() if len(rows)},
    }


def _pack(values: np.ndarray, blobs: Blobs) -> int:
    finite = np.isfinite(values)
    low = np.where(finite, values, np.inf).min(axis=1, initial=np.inf)
    high = np.where(finite, values, -np.inf).max(axis=1, initial=-np.inf)
    range_ = np.stack([low, high], axis=1)
    range_[low > high] = np.nan
    size = np.where(high > low, high - low, 1.0)
    parts = np.where(finite, values - np.where(finite, low[:, None], 0.0), 0.0) / size[:, None]
    codes = np.where(finite, np.rint(parts * STEPS), STEPS + 1)
    offset = blobs.add(range_.astype("<f4"))
    blobs.add(codes.astype("<u2"))
    return offset
