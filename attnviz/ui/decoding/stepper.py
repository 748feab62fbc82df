"""The upper half of the Decoding page: training on the left, steps on the right, in one component."""

import streamlit as st

from attnviz.analysis.decoding.comparison import Decoded
from attnviz.models.protocol import Model
from attnviz.pictures.decoding import DecodingState
from attnviz.pictures.stepper import can_open_heads, is_target, stepper
from attnviz.tracing.trace import Trace
from attnviz.ui import captions, mount
from attnviz.ui.address import navigation, persistent, share
from attnviz.ui.decoding.controls import COMPONENT, PLACE_SHOWN, adopt
from attnviz.ui.reports import NUMBER, reported_value
from attnviz.ui.request import Request


def draw(model: Model, request: Request, trace: Trace, view: DecodingState, run: Decoded) -> None:
    """Draw the component."""
    captions.set_caption(
        trace, request.entry, written=None if is_target(run, trace) else model.decode_ids(run.made.ids)[0]
    )
    st.session_state[PLACE_SHOWN] = {"step": _step(view, run), "layer": view.layer, "head": view.head}
    payload = captions.add_caption(stepper(model, trace, view, run=run))
    mount.stepper(payload, key=COMPONENT, on_change=adopt, on_open=lambda: _open(model, trace, view, run))
    if navigation.is_going():
        st.rerun()


def _step(view: DecodingState, run: Decoded) -> int:
    """Return the step that is shown: the last, or what the view asks for where there are as many."""
    last = len(run.made.chosen) - 1
    return last if view.step is None else min(view.step, last)


def _open(model: Model, trace: Trace, view: DecodingState, run: Decoded) -> None:
    """Have the run that follows open Heads on the sentence that was stepped through, the step's row pinned, on the head
    in view.
    """
    asked = reported_value(COMPONENT, "open", {"step": NUMBER})
    if asked is None or not can_open_heads(model, trace, run):
        return
    made = run.made
    own = is_target(run, trace)
    tgt = "" if not model.inputs.takes_target else share.target(trace) if own else model.decode_ids(made.ids)[0]
    kind = next((kind for kind in ("cross", "decoder_self") if kind in made.attn), "encoder_self")
    row = str(min(max(asked["step"], 0), len(made.chosen) - 1))
    there = {"kind": kind, "row": row, "layer": str(view.layer), "head": str(view.head), "tab": "", "zoom": ""}
    navigation.send("Heads", persistent.link_to("Heads", there | {"tgt": tgt}))
