"""The tab "Hide patches" of Masks, for images: a brush, and what the model does when nothing attends to the patches."""

from dataclasses import replace

import streamlit as st

from attnviz.app import captions, layout, mount
from attnviz.app.address import persistent
from attnviz.app.cache import traces
from attnviz.app.reports import reported_view
from attnviz.app.request import Request
from attnviz.kit.fields import write_view
from attnviz.kit.focus import SiteBounds
from attnviz.kit.glossary import definitions
from attnviz.masks.brush import PICTURE
from attnviz.masks.brush.brush import BrushState, visible_patches
from attnviz.masks.page.experiment import hidden_run
from attnviz.tracing.trace import Trace

SHOW_ALL = "Show all patches"


def picture(request: Request, trace: Trace) -> BrushState:
    """Draw the image with its brush, and what changed in the model."""
    view, model = _current_state(trace), traces.model(request.entry.name)
    subject = PICTURE.read((model, trace), {"rerun": lambda *run: hidden_run(request, *run)})
    payload = layout.run_or_refuse(lambda: subject.draw(view))
    mount.picture(PICTURE, captions.add_caption(payload), on_change=_adopt)
    return view


def controls(trace: Trace) -> None:
    """Draw the button that shows all patches again."""
    st.button(
        SHOW_ALL, key="show-all-patches", width="stretch", disabled=not _current_state(trace).hidden,
        help=definitions("Masks")[SHOW_ALL], on_click=lambda: persistent.write({"hidden": None}),
    )  # fmt: skip


def _current_state(trace: Trace) -> BrushState:
    """Return the state in the address, without hidden patches of an image with another grid, which a note says."""
    bounds = {**SiteBounds.from_trace(trace).by_field(), "at": len(trace.query_tokens(trace.kinds[0]))}
    state = layout.state_in_address(BrushState, bounds, BrushState(trace.kinds[0]))
    try:
        visible_patches(trace.sentences[0].images[0], state.hidden)
    except ValueError as why:
        layout.note(str(why))
        persistent.write({"hidden": None})
        return replace(state, hidden="")
    return state


def _adopt() -> None:
    """Write a choice that was made in the picture into the address."""
    view = reported_view(PICTURE.name, BrushState)
    if view is not None:
        persistent.write(write_view(BrushState, view))
