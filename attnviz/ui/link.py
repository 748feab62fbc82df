"""What a link carries, and what is said about a link that cannot be followed. Knows no Streamlit.

A shared link names its version, the weights and every option, so that it keeps its meaning when a default changes.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlencode

if TYPE_CHECKING:
    from attnviz.tracing.shown import Specials
    from attnviz.transformer.probe import Kind

VERSION = "1"
MEAN = "mean"
_CHOICES = {
    "specials": ("show", "hide", "renormalise"),
    "compare": ("none", "side", "difference"),
    "scale": ("fixed", "max"),
    "bars": ("weight", "position"),
}
_SWITCHES = ("words", "mask", "sink", "plotly", "table")
MAX_PINS = 4


class Linkable(Protocol):
    """What a page's picture depends on besides the sentences."""

    def to_params(self) -> dict[str, str]:
        """Every option as the text that stands in a link."""
        ...


@dataclass(frozen=True)
class View:
    """Which map of which head is looked at, and how; the Heads component speaks the same names.

    `layer` and `head` are numbers or "mean"; `row` is a pinned query position or None; `pins` are
    `(kind, layer, head)`; `sort` and `tint` name a metric, or "layout" and "none";
    `zoom` is the part of the map that is drawn: first row, row after the last, first key, key after the last;
    `bars` is the order of a row's bars ("weight", "position");
    `scale` lets colours span 0 to 1 ("fixed") or 0 to the largest weight ("max"), `sink` leaves sinks out of that.
    """

    kind: "Kind" = "cross"
    layer: int | str = 0
    head: int | str = 0
    row: int | None = None
    sort: str = "layout"
    tint: str = "diagonality"
    specials: "Specials" = "show"
    words: bool = False
    mask: bool = False
    sink: bool = False
    scale: str = "fixed"
    pins: tuple[tuple[str, int | str, int | str], ...] = ()
    compare: str = "none"
    zoom: tuple[int, int, int, int] | None = None
    bars: str = "weight"
    plotly: bool = False
    table: bool = False

    def to_params(self) -> dict[str, str]:
        """Every field as the text that stands in a link."""
        texts = {name: str(value) for name, value in asdict(self).items()}
        texts |= {name: "1" if getattr(self, name) else "0" for name in _SWITCHES}
        texts["row"] = "" if self.row is None else str(self.row)
        texts["zoom"] = ".".join(map(str, self.zoom or ()))
        texts["pins"] = "~".join(".".join(map(str, pin)) for pin in self.pins)
        return texts

    def to_payload(self) -> dict[str, Any]:
        """As the component reads it."""
        return asdict(self)


FIELDS = tuple(View().to_params())


@dataclass(frozen=True)
class Bounds:
    """What there is to choose from: kinds, numbers of layers and heads, metrics.

    `shapes` holds layers and heads of kinds that have others than `n_layers` and `n_heads`.
    """

    kinds: tuple[str, ...]
    n_layers: int
    n_heads: int
    metrics: tuple[str, ...] = ()
    shapes: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def of(self, kind: str) -> tuple[int, int]:
        """Layers and heads of a kind."""
        return self.shapes.get(kind, (self.n_layers, self.n_heads))


def view_of(params: Mapping[str, str], bounds: Bounds, start: View) -> tuple[View, tuple[str, ...]]:
    """The view that texts ask for, and a sentence for each one that asks for something that is not there.

    Missing texts mean what `start` says; a bad one falls back to it, and the others still count.
    """
    reader = _Reader(params, bounds)
    kind = reader.one_of("kind", bounds.kinds, start.kind if start.kind in bounds.kinds else bounds.kinds[0])
    layers, heads = bounds.of(kind)
    view = replace(
        start,
        kind=kind,
        layer=reader.index("layer", layers, start.layer),
        head=reader.index("head", heads, start.head),
        row=reader.row(),
        zoom=reader.zoom(),
        sort=reader.one_of("sort", ("layout", *bounds.metrics), start.sort),
        tint=reader.one_of("tint", ("none", *bounds.metrics), start.tint),
        pins=reader.pins(),
        **{name: reader.one_of(name, values, getattr(start, name)) for name, values in _CHOICES.items()},
        **{name: reader.one_of(name, ("0", "1"), "0") == "1" for name in _SWITCHES},
    )
    return view, tuple(reader.problems)


class _Reader:
    def __init__(self, params: Mapping[str, str], bounds: Bounds) -> None:
        self.params, self.bounds, self.problems = params, bounds, []

    def one_of(self, name: str, allowed: tuple[str, ...], default: str) -> str:
        text = self.params.get(name, "")
        if not text or text in allowed:
            return text or default
        self._say(name, text, f"it can be {', '.join(allowed)}", default)
        return default

    def index(self, name: str, count: int, default: int | str) -> int | str:
        text = self.params.get(name, "")
        if not text:
            return default
        found = _index(text, count)
        if found is None:
            self._say(name, text, f"this model has {name}s 0 to {count - 1}", default)
        return default if found is None else found

    def row(self) -> int | None:
        text = self.params.get("row", "")
        if not text:
            return None
        if not text.isdecimal() or len(text) > 5:
            self._say("row", text, "it is a position counted from 0", "no pinned row")
            return None
        return int(text)

    def zoom(self) -> tuple[int, int, int, int] | None:
        text = self.params.get("zoom", "")
        if not text:
            return None
        parts = text.split(".")
        if len(parts) == 4 and all(part.isdecimal() and len(part) < 6 for part in parts):
            top, bottom, left, right = map(int, parts)
            if top < bottom and left < right:
                return top, bottom, left, right
        self._say("zoom", text, "a zoom is first and last row, first and last key, such as 0.8.2.10", "the whole map")
        return None

    def pins(self) -> tuple[tuple[str, int | str, int | str], ...]:
        text, pins = self.params.get("pins", ""), []
        for part in filter(None, text.split("~")):
            kind, layer, head = (*part.split("."), "", "")[:3]
            layers, heads = self.bounds.of(kind)
            indices = _index(layer, layers), _index(head, heads)
            if kind not in self.bounds.kinds or None in indices:
                self._say("pins", part, "a pin is kind.layer.head, such as cross.2.5", "without that pin")
            else:
                pins.append((kind, *indices))
        return tuple(pins[:MAX_PINS])

    def _say(self, name: str, text: str, allowed: str, used: object) -> None:
        self.problems.append(f"The link asks for {name} “{text[:40]}”, but {allowed}; shown is {used}.")


def _index(text: str, count: int) -> int | str | None:
    if text == MEAN:
        return MEAN
    return int(text) if text.isdecimal() and len(text) < 6 and int(text) < count else None


def shared_query(sentence: Mapping[str, str], view: Linkable | None, weights: str) -> str:
    """The query of a link that shows somebody else the same picture."""
    params = {"v": VERSION, "weights": weights, **sentence}
    return urlencode(params | (view.to_params() if view else {}))


def link_problems(params: Mapping[str, str], languages: tuple[str, ...], weights: str) -> tuple[str, ...]:
    """What to say about a link made for another version, other weights or a language that is not there."""
    problems = []
    if (version := params.get("v", VERSION)) != VERSION:
        problems.append(
            f"This link was made for version {version[:10]} of the page, and this is version {VERSION}: "
            "some of its options may not be understood."
        )
    if (linked := params.get("weights", weights)) != weights:
        problems.append(
            f"The model's weights have changed since this link was made (then {linked[:12]}, now {weights}): "
            "the numbers differ from those that the sender saw."
        )
    if languages and (to := params.get("to", languages[0])) not in languages:
        problems.append(f"The link asks for the language “{to[:20]}”, but this model writes {', '.join(languages)}.")
    return tuple(problems)
