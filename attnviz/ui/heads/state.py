"""What a link to the Heads page carries besides the sentences, and what is said of texts that cannot be followed."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from attnviz.pictures import fields
from attnviz.pictures.fields import PageState, Problem, Say, SiteBounds

if TYPE_CHECKING:
    from attnviz.maps.options import Specials
    from attnviz.transformer.probe import Kind

MAX_PINS = 4
_MOST_READ = 4 * MAX_PINS  # of a link that pins by the thousand; each wrong one takes a sentence


def _pins(text: str, bounds: SiteBounds, default: object, say: Say) -> tuple[tuple[str, int | str, int | str], ...]:
    pins = []
    for part in list(filter(None, text.split("~", _MOST_READ)))[:_MOST_READ]:
        kind, layer, head = (*part.split("."), "", "")[:3]
        sizes = bounds.shapes.get(kind, (0, 0))
        if kind in bounds.shapes and all(
            at == fields.MEAN or fields.is_index(at, size) for at, size in zip((layer, head), sizes, strict=True)
        ):
            pins.append((kind, *(at if at == fields.MEAN else int(at) for at in (layer, head))))
        else:
            say("a pin is kind.layer.head, such as cross.2.5", "without that pin", part)
    return tuple(pins[:MAX_PINS])


@dataclass(frozen=True)
class HeadsState(PageState):
    """Which map of which head is looked at, and how; the Heads component speaks the same names.

    `layer` and `head` are numbers or "mean"; `row` is a pinned query position or None; `pins` are
    `(kind, layer, head)`; `sort` and `tint` name a metric, or "layout" and "none";
    `zoom` is the part of the map that is drawn: first row, row after the last, first key, key after the last;
    `bars` is the order of a row's bars ("weight", "position");
    `cells` is what a cell of a map holds ("weight", "norm", "share");
    `scale` lets colours span 0 to 1 ("fixed") or 0 to the largest weight ("max"), `sink` leaves sinks out of that.
    """

    kind: "Kind" = fields.choice("cross")
    layer: int | str = fields.or_mean(of="layer")
    head: int | str = fields.or_mean(of="head")
    row: int | None = fields.whole(used="no pinned row")
    sort: str = fields.choice("layout")
    tint: str = fields.choice("diagonality")
    specials: "Specials" = fields.choice("show", ("show", "hide", "renormalise"))
    words: bool = fields.flag()
    mask: bool = fields.flag()
    sink: bool = fields.flag()
    scale: str = fields.choice("fixed", ("fixed", "max"))
    pins: tuple[tuple[str, int | str, int | str], ...] = fields.declared(
        (), _pins, lambda pins: "~".join(".".join(map(str, pin)) for pin in pins)
    )
    compare: str = fields.choice("none", ("none", "side", "difference"))
    zoom: tuple[int, int, int, int] | None = fields.window()
    bars: str = fields.choice("weight", ("weight", "position"))
    cells: str = fields.choice("weight", ("weight", "norm", "share"))
    plotly: bool = fields.flag()
    table: bool = fields.flag()

    def to_payload(self) -> dict[str, Any]:
        """As the component reads it."""
        return asdict(self)


def view_of(
    params: Mapping[str, str], bounds: SiteBounds, metrics: Iterable[str], start: HeadsState
) -> tuple[HeadsState, tuple[Problem, ...]]:
    """The view that texts ask for, and a sentence for each one that asks for something that is not there.

    Missing texts mean what `start` says; a bad one falls back to it, and the others still count.
    """
    orders = {"sort": ("layout", *metrics), "tint": ("none", *metrics), "pins": bounds}
    if start.kind not in bounds.shapes:
        start = replace(start, kind=next(iter(bounds.shapes)))  # type: ignore[arg-type]
    return fields.read(HeadsState, params, bounds.by_field() | orders, start)
