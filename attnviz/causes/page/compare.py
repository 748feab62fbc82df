"""The tab Compare: two sentences, languages or models, or one run with and without interventions or a mask."""

from dataclasses import replace
from typing import TYPE_CHECKING

from attnviz.app import captions, layout, mount
from attnviz.app.address import persistent
from attnviz.app.reports import reported_view
from attnviz.app.request import Request
from attnviz.causes.page import sides
from attnviz.causes.pictures.compared import CompareState, compare_sides, compared, focus
from attnviz.kit.fields import write_view
from attnviz.kit.focus import SiteBounds

if TYPE_CHECKING:
    from attnviz.models.protocol import Model
    from attnviz.tracing.trace import Trace

COMPONENT = "compared"


def draw(request: Request, loaded: "Model", trace: "Trace") -> CompareState:
    """Draw the tab; return the state that a link to the tab contains."""
    start = CompareState(kind="cross" if "cross" in trace.kinds else trace.kinds[0])
    view = layout.state_in_address(CompareState, SiteBounds.from_trace(trace).by_field(), start)
    view = replace(view, by=sides.choose(view, request, loaded))
    here, there = layout.run_or_refuse(lambda: sides.run_both(view, request, loaded, trace))
    runs = layout.run_or_refuse(lambda: compare_sides(here, there))
    view = focus(runs, view if persistent.text("kind") else replace(view, kind=""))
    payload = compared(here, there, view, runs=runs)
    mount.compared(captions.add_caption(payload), key=COMPONENT, on_change=_adopt)
    return view


def _adopt() -> None:
    persistent.write(write_view(CompareState, reported_view(COMPONENT, CompareState) or {}))
