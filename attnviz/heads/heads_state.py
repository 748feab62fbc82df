"""State of the Heads picture, as used in links, on the page and in the browser.

It does not import torch, because pages read it before torch is loaded.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from attnviz.kit import fields
from attnviz.kit.fields import AT, Problem, Say, choice, declare, declare_unlinked, flag, whole_number
from attnviz.kit.focus import FocusState, SiteBounds
from attnviz.maps.options import SPANS, MapOptions

if TYPE_CHECKING:
    from attnviz.maps.options import Merging, Specials

Site = tuple[str, int | str, int | str]
MAX_PINS = 4
_MOST_READ = 4 * MAX_PINS  # pins read from a link; each wrong pin adds a message


def _read_pins(text: str, bounds: SiteBounds, default: object, say: Say) -> tuple[Site, ...]:
    pins: list[Site] = []
    for part in list(filter(None, text.split("~", _MOST_READ)))[:_MOST_READ]:
        kind, layer, head = (*part.split("."), "", "")[:3]
        sizes = bounds.shapes.get(kind, (0, 0))
        if kind in bounds.shapes and all(
            at == fields.MEAN or fields.is_index(at, size) for at, size in zip((layer, head), sizes, strict=True)
        ):
            pins.append((kind, *map(_index, (layer, head))))  # type: ignore[arg-type]  # three values
        else:
            say("a pin is kind.layer.head, such as cross.2.5", "without that pin", part)
    return tuple(pins[:MAX_PINS])


def _index(at: str) -> int | str:
    return at if at == fields.MEAN else int(at)


def _write_pins(pins: tuple[Site, ...]) -> str:
    return "~".join(".".join(map(str, pin)) for pin in pins)


def _read_words(text: str, bound: object, default: object, say: Say) -> object:
    if text == SPANS:
        return SPANS
    return fields.read_flag(text, default, say, more=f" or {SPANS}")


def _write_words(words: "Merging") -> str:
    return SPANS if words == SPANS else "1" if words else "0"


@dataclass(frozen=True)
class HeadsState(FocusState):
    """The head in focus, and how its map is drawn. The script in the browser uses the same names.

    `layer` and `head` are numbers or "mean"; `row` is a pinned query position or None; `pins` are `(kind, layer,
    head)`. `sort` is a metric or "layout", `tint` a metric or "none". `zoom` is the visible part of the map: first row,
    end of rows, first key, end of keys. `bars` is the order of a row's bars; `cells` is the measure in the cells.
    `words` merges token pieces into words, or with "spans" the tokens of spans. `scale` makes colours span 0 to 1
    ("fixed") or 0 to the largest weight ("max"), and `sink` excludes sinks from that maximum. `off` are the heads that
    are switched off in the run, `(kind, layer, head)`; links store them as interventions.
    """

    row: int | None = whole_number(used="no pinned row")
    sort: str = choice("layout")
    tint: str = choice("diagonality")
    specials: "Specials" = choice("show", {"show": "shown", "hide": "hidden", "renormalise": "renormalised"})
    words: "Merging" = declare(False, _read_words, _write_words, shape=(bool, int, str))
    mask: bool = flag()
    sink: bool = flag()
    scale: str = choice("fixed", ("fixed", "max"))
    pins: tuple[Site, ...] = declare((), _read_pins, _write_pins, shape=[[str, AT, AT]])
    compare: str = choice("none", ("none", "side", "difference"))
    zoom: tuple[int, int, int, int] | None = fields.window()
    bars: str = choice("weight", ("weight", "position"))
    cells: str = choice("weight", {"weight": "weight", "norm": "‖α f(x)‖", "share": "share"})
    plotly: bool = flag()
    table: bool = flag()
    off: tuple[tuple[str, int, int], ...] = declare_unlinked((), shape=[[str, int, int]])

    def options(self, kind: str, quadrant: tuple[int, int] | None = None) -> MapOptions:
        """Return the map options for a kind. The quadrant applies only to the kind in focus."""
        return MapOptions(self.specials, self.words, quadrant if kind == self.kind else None)


def read_heads_state(
    texts: Mapping[str, str], bounds: SiteBounds, metrics: Iterable[str], start: HeadsState
) -> tuple[HeadsState, tuple[Problem, ...]]:
    """Parse the state from address parameters, and return it with a message for each invalid parameter.

    Missing and invalid parameters take their value from `start`.
    """
    more: dict[str, Any] = {"sort": ("layout", *metrics), "tint": ("none", *metrics), "pins": bounds}
    if start.kind not in bounds.shapes:
        start = replace(start, kind=next(iter(bounds.shapes)))  # type: ignore[arg-type]  # a trace's kinds are valid
    return fields.read(HeadsState, texts, bounds.by_field() | more, start)
