"""The tab Step by step: training all at once, inference step by step, and whether the two compute the same numbers."""

import streamlit as st

from attnviz.analysis.decoding.comparison import Decoded
from attnviz.models.protocol import ExplainsSteps, Model
from attnviz.models.translator.translator import Translator
from attnviz.pictures.decoding import DecodingState
from attnviz.ui import layout
from attnviz.ui.cache import traces
from attnviz.ui.decoding import controls, extras, stepper, verdict
from attnviz.ui.decoding import run as decoding_run
from attnviz.ui.request import Request


def draw(request: Request) -> None:
    """Draw the tab, and the end of the page."""
    trace = layout.trace_or_refuse(request, traces.full_trace)
    asked = controls.current_state(trace, request.entry)
    model = traces.model(request.entry.name)
    is_own = isinstance(model, Translator)
    upper, lower, below = st.container(key="decoding-stage"), st.container(key="decoding-lower"), st.container()
    with below:
        chosen = controls.draw_stepping(asked, is_own=is_own)
        chosen |= controls.draw_switches(asked, is_own=is_own)
        chosen |= controls.draw_part_choice(asked)
        chosen |= controls.experiment(asked)
    view = controls.join_choices(asked, chosen)
    run = layout.run_or_refuse(lambda: decoding_run.run_decoding(model, request, trace, view))
    with upper:
        stepper.draw(model, request, trace, view, run)
    with lower:
        verdict.number(run, view, trace.interventions, note=_note(model, run, view))
    with below:
        extras.draw_part(model, view, run)
    layout.end_page(request, trace, view)


def _note(model: Model, run: Decoded, view: DecodingState) -> str:
    """Return what is known of the model's own steps, if the verdict does not hold although the user broke nothing."""
    if run.verdict.holds or view.broken_switches or not isinstance(model, ExplainsSteps):
        return ""
    return model.explain_steps([token.id for token in run.made.fed])
