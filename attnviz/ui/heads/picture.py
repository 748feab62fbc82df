"""What the Heads tab's widget draws from: made once for a sentence, and cached for the choices that follow."""

import math
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from attnviz.analysis.heads.metric_table import Columns
from attnviz.maps.maps import Maps
from attnviz.maps.options import MapOptions
from attnviz.ui import extensions
from attnviz.ui.cache import budget
from attnviz.ui.cache.bounded import BoundedCache
from attnviz.ui.heads import maps as heads_maps
from attnviz.ui.heads import sync
from attnviz.ui.heads.cells import WEIGHT, Cells, cells
from attnviz.ui.heads.covering import Covering
from attnviz.ui.heads.tabs import TabsState
from attnviz.ui.request import Request
from attnviz.widgets.heads.payload import heads_payload, in_view
from attnviz.widgets.heads.sentences import sentence_strip
from attnviz.widgets.wire import Payload

if TYPE_CHECKING:
    from attnviz.tracing.trace import TraceLike

MOST = 2_000_000  # bytes of float32 maps that are sent; of more, those that are looked at


class HeadsPicture:
    """The picture of a trace as the tab asks for it. `request` is what was run, None for weights that somebody brought;
    an open question may cover some of it.
    """

    def __init__(self, trace: "TraceLike", tabs: TabsState, request: Request | None) -> None:
        self._trace, self._tabs, self._request = trace, tabs, request
        asking = extensions.asking()
        self._covering = Covering() if asking is None else asking.covering(tabs.view)

    def payload(self) -> Payload:
        """What the widget is sent, but for the caption."""
        view = {**self._tabs.view.to_payload(), **self._covering.marks, "off": sync.off(self._trace)}
        if not self._is_the_same_for_every_view:
            return self._covering.on(self._made(view))
        key = id(self._trace), tuple(self._tabs.options(kind) for kind in self._trace.kinds)
        _, made = _made.get(key, read=lambda *_: (self._trace, self._made(view)))
        return self._covering.on(in_view(made, view))

    @property
    def is_covered(self) -> bool:
        """Whether an open question keeps back any of its numbers."""
        return self._covering.cover is not None

    def drawn(self) -> tuple[Maps, str]:
        """The maps of the kind in focus, and what their cells hold."""
        return self._cells.of(self._tabs.view.kind, self._measured[0]), self._cells.measure

    @property
    def _is_the_same_for_every_view(self) -> bool:
        """Whether all maps are sent, and nothing else stands in their cells: then a choice changes no number."""
        weights = sum(
            math.prod(self._trace.shape(kind)) * len(self._trace.query_tokens(kind)) * len(self._trace.key_tokens(kind))
            for kind in self._trace.kinds
        )
        is_plain = self._tabs.view.cells == WEIGHT and not self._covering.cover and not self._trace.from_file
        return is_plain and 4 * weights <= MOST

    @cached_property
    def _measured(self) -> tuple[dict[str, Maps], Columns]:
        return self._covering.covered(*heads_maps.maps_and_metrics(self._trace, self._tabs))

    @cached_property
    def _cells(self) -> Cells:
        if self._covering.cover:  # what is written would tell as much
            return Cells()
        return cells(self._request, self._trace, self._tabs, self._measured[0])

    def _made(self, view: dict) -> Payload:
        drawn = self._cells
        return heads_payload(
            *self._measured, view=view, strip=sentence_strip(self._trace), budget=MOST, fixed=_fixed(self._trace),
            cells=(drawn.measure, drawn.maps, drawn.why),
        )  # fmt: skip


def _fixed(trace: "TraceLike") -> str:
    """Why no head of a trace can be switched off."""
    if trace.from_file:
        return "Your file has only results, not a model that could run again."
    return trace.missing_reason if trace.weights_only else ""


# An entry holds its trace: no other one can then have that trace's id.
_Entry: TypeAlias = "tuple[TraceLike, Payload]"
_made: BoundedCache[tuple[int, tuple[MapOptions, ...]], _Entry] = BoundedCache(
    most=budget.bytes_for("pictures"), size=lambda entry: entry[0].nbytes() + len(entry[1].blobs)
)
