"""What a link to the Heads page carries besides the sentences, and what is said of texts that cannot be followed."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from attnviz.ui.choices import Reader

if TYPE_CHECKING:
    from attnviz.tracing.shown import Specials
    from attnviz.transformer.probe import Kind

MEAN = "mean"
_CHOICES = {
    "specials": ("show", "hide", "renormalise"),
    "compare": ("none", "side", "difference"),
    "scale": ("fixed", "max"),
    "bars": ("weight", "position"),
}
_SWITCHES = ("words", "mask", "sink", "plotly", "table")
MAX_PINS = 4
_MOST_READ = 4 * MAX_PINS  # of a link that pins by the thousand; each wrong one takes a sentence


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
    reader = Reader(params)
    kind = reader.one_of("kind", bounds.kinds, start.kind if start.kind in bounds.kinds else bounds.kinds[0])
    layers, heads = bounds.of(kind)
    view = replace(
        start,
        kind=kind,
        layer=_site(reader, "layer", layers, start.layer),
        head=_site(reader, "head", heads, start.head),
        row=_row(reader),
        zoom=reader.zoom(),
        sort=reader.one_of("sort", ("layout", *bounds.metrics), start.sort),
        tint=reader.one_of("tint", ("none", *bounds.metrics), start.tint),
        pins=_pins(reader, bounds),
        **{name: reader.one_of(name, values, getattr(start, name)) for name, values in _CHOICES.items()},
        **{name: reader.one_of(name, ("0", "1"), "0") == "1" for name in _SWITCHES},
    )
    return view, tuple(reader.problems)


def _site(reader: Reader, name: str, count: int, default: int | str) -> int | str:
    """A layer or a head, or the mean of them."""
    text = reader.params.get(name, "")
    found = _index(text, count) if text else default
    if found is None:
        reader.say(name, f"this model has {name}s 0 to {count - 1}", default)
        return default
    return found


def _row(reader: Reader) -> int | None:
    text = reader.params.get("row", "")
    if not text:
        return None
    if not text.isdecimal() or len(text) > 5:
        reader.say("row", "it is a position counted from 0", "no pinned row")
        return None
    return int(text)


def _pins(reader: Reader, bounds: Bounds) -> tuple[tuple[str, int | str, int | str], ...]:
    pins = []
    for part in list(filter(None, reader.params.get("pins", "").split("~", _MOST_READ)))[:_MOST_READ]:
        kind, layer, head = (*part.split("."), "", "")[:3]
        layers, heads = bounds.of(kind)
        indices = _index(layer, layers), _index(head, heads)
        if kind not in bounds.kinds or None in indices:
            reader.say("pins", "a pin is kind.layer.head, such as cross.2.5", "without that pin", part=part)
        else:
            pins.append((kind, *indices))
    return tuple(pins[:MAX_PINS])


def _index(text: str, count: int) -> int | str | None:
    if text == MEAN:
        return MEAN
    return int(text) if text.isdecimal() and len(text) < 6 and int(text) < count else None
