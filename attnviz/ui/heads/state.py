"""What a link to the Heads page carries: the open tab, and the state of each tab's picture."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from attnviz.maps.options import MapOptions
from attnviz.pictures.alignment import AlignmentState
from attnviz.pictures.conversation.spans import SpansState, bounds_of
from attnviz.pictures.fields import PageState, Problem, choice, declare, read, specs_of, text, write
from attnviz.pictures.flow import FlowState
from attnviz.pictures.focus import SiteBounds
from attnviz.pictures.heads_state import HeadsState
from attnviz.pictures.links import LinksState, focused_heads
from attnviz.pictures.neuron import NeuronState
from attnviz.pictures.one_row import OneRowState
from attnviz.pictures.whole_model import WholeModelState
from attnviz.tracing.trace_like import TraceLike
from attnviz.ui.heads.tabs import TABS

WHOLE = "whole"
STATES: Mapping[str, type] = {
    "heads": HeadsState, "links": LinksState, "model": WholeModelState, "row": OneRowState, "neuron": NeuronState,
    "alignment": AlignmentState, "flow": FlowState, "spans": SpansState,
}  # fmt: skip


@dataclass(frozen=True)
class HeadsPageState(PageState):
    """The open `tab`, and the state of each tab, by the tab's name.

    `quadrant` is "whole", or one such as "0-1": queries of the first segment, keys of the second. `against` is the
    language of the links by hand that Alignment compares with, where the model does not say what it writes.
    """

    tab: str = choice("heads", tuple(TABS))
    quadrant: str = declare(WHOLE, lambda text, there, default, say: text if text in there else default)
    against: str = text(limit=20)
    heads: HeadsState = field(default_factory=HeadsState)
    links: LinksState = field(default_factory=LinksState)
    model: WholeModelState = field(default_factory=WholeModelState)
    row: OneRowState = field(default_factory=OneRowState)
    neuron: NeuronState = field(default_factory=NeuronState)
    alignment: AlignmentState = field(default_factory=AlignmentState)
    flow: FlowState = field(default_factory=FlowState)
    spans: SpansState = field(default_factory=SpansState)

    @property
    def segments(self) -> tuple[int, int] | None:
        """The segments of queries and keys that the quadrant holds; None for all."""
        query, _, key = self.quadrant.partition("-")
        return (int(query), int(key)) if key else None

    @property
    def options(self) -> MapOptions:
        """How the maps of the kind that is looked at are asked for."""
        return self.heads.options(self.heads.kind, self.segments)

    def to_params(self) -> dict[str, str]:
        """Write the fields of every tab as the texts that a link carries."""
        written = [write(getattr(self, tab)) for tab in STATES]
        return {name: text for texts in (*written, write(self)) for name, text in texts.items()}


def _start_of_links(heads: HeadsState, trace: TraceLike) -> LinksState:
    """Return what Links shows if the link does not say: the head in focus, and the pinned row's token."""
    token = None if heads.row is None else f"q{heads.row}"
    return LinksState(heads=focused_heads(heads.layer, heads.head, trace.shape(heads.kind)), token=token)


def read_page_state(
    texts: Mapping[str, str], trace: TraceLike, heads: HeadsState, quadrants: Mapping[str, str] = MappingProxyType({})
) -> tuple[HeadsPageState, tuple[Problem, ...]]:
    """Read what texts ask for on a trace that has these quadrants, and a sentence for each that cannot be followed.

    What other tabs' pictures share with the Heads picture, such as kind and pinned row, is as `heads` has it.
    """
    bounds = SiteBounds.from_trace(trace).by_field() | {"heads": trace.shape(heads.kind), "quadrant": quadrants}
    bounds |= bounds_of(trace)
    starts = {"links": _start_of_links(heads, trace)}
    states: dict[str, Any] = {"heads": heads}
    problems: list[Problem] = []
    for tab, state in STATES.items():
        if tab != "heads":
            shared = {
                name: address for name, spec in specs_of(state).items() if hasattr(heads, address := spec.name or name)
            }
            given = {name: getattr(heads, address) for name, address in shared.items()}
            states[tab], wrong = read(state, texts, bounds, starts.get(tab), **given)
            problems += wrong
    page, wrong = read(HeadsPageState, texts, bounds, **states)
    return page, (*problems, *wrong)
