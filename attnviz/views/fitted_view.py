"""What is in focus on the Heads page, made to fit the maps that there are."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attnviz.views.heads_payload import ShownMaps


def fitted_view(view: dict[str, Any], shown: "ShownMaps") -> dict[str, Any]:
    """`view` with a kind, layer, head, row, zoom and pins that `shown` has; what does not fit becomes the first, or
    none.
    """
    kind: str = view["kind"] if view.get("kind") in shown else next(iter(shown))
    layers, heads, rows, cols = shown[kind].shape
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
    layers, heads, *_ = shown[kind].shape
    return (layer == "mean" or _is_index(layer, layers)) and (head == "mean" or _is_index(head, heads))
