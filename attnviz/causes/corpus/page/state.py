"""The state of the tab "Many sentences". The other pages share its head in focus."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from attnviz.app import layout
from attnviz.causes.corpus.tables import AXES, SPREAD
from attnviz.kit import fields
from attnviz.kit.fields import PageState
from attnviz.kit.focus import SiteBounds

if TYPE_CHECKING:
    from attnviz.models.catalogue import Entry
    from attnviz.tracing.trace import Trace

LISTS = {"shipped": "Included sentences", "own": "Your own sentences"}
PARTS = {"heads": "Every head", "pruning": "Pruning curve"}


@dataclass(frozen=True)
class SentencesState(PageState):
    """State of the tab Many sentences.

    `sentences` names the list of sentences, and `read` is True once the visitor asked to measure it. `part` is the view
    that is open. `spread` is the measure whose distribution the table shows; `along`, `up` and `shade` are the measures
    on the axes and for the colour of the scatter chart.
    """

    sentences: str = fields.choice("shipped", tuple(LISTS))
    part: str = fields.choice("heads", tuple(PARTS))
    read: bool = fields.flag()
    spread: str = fields.choice("entropy", tuple(SPREAD))
    along: str = fields.choice("entropy", tuple(AXES))
    up: str = fields.choice("written", tuple(AXES))
    shade: str = fields.choice("gradient", tuple(AXES))
    kind: str = fields.choice("cross")
    layer: int = fields.index(of="layer")
    head: int = fields.index(of="head")


def current_view(entry: "Entry", trace: "Trace") -> SentencesState:
    """Return the state that the address asks for. Invalid values are reported above the picture."""
    start = SentencesState(**entry.start) if entry.start.get("kind") in trace.kinds else SentencesState(
        kind=trace.kinds[-1]
    )  # fmt: skip
    return layout.state_in_address(SentencesState, SiteBounds.from_trace(trace).by_field(), start)
