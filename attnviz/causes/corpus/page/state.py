"""The state of the tab Many sentences; its head in focus goes along to the other pages."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from attnviz.app import layout
from attnviz.causes.pictures.corpus_measures import AXES, SPREAD
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
    """`sentences` names the list and `read` says that it is to be gone over; `part` is what is looked at.

    `spread` is the measure whose distribution the table draws, `along`, `up` and `shade` are the scatter's.
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
    """Return the view that the address asks for; what it asks wrongly is said above the picture."""
    start = SentencesState(**entry.start) if entry.start.get("kind") in trace.kinds else SentencesState(
        kind=trace.kinds[-1]
    )  # fmt: skip
    return layout.state_in_address(SentencesState, SiteBounds.from_trace(trace).by_field(), start)
