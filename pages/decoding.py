"""Decoding: training all at once, inference step by step, and whether the two compute the same numbers."""

import streamlit as st

from attnviz.models.translator.translator import Translator
from attnviz.ui import layout
from attnviz.ui.cache import traces
from attnviz.ui.decoding import controls, extras, stepper, verdict
from attnviz.ui.decoding import run as decoding_run
from attnviz.ui.styles import style

request = layout.begin_page("Decoding", "stepper")
st.html(style("decoding.css"))
trace = layout.run_or_refuse(lambda: traces.computed(request))
asked = controls.current(trace, request.entry)
model = traces.model(request.entry.name)
is_own = isinstance(model, Translator)
chosen = controls.stepping(asked, is_own=is_own)
upper, lower, below = st.container(key="decoding-stage"), st.container(key="decoding-lower"), st.container()
with lower:
    chosen |= controls.breaking(asked, is_own=is_own)
numbers, right = lower.columns([34, 66], gap="medium")
with below.container(horizontal=True, vertical_alignment="center"):
    chosen |= controls.more(asked)
    way_to_heads = st.container(width="content")
with below:
    chosen |= controls.experiment(asked)
view = controls.with_choices(asked, chosen)
run = layout.run_or_refuse(lambda: decoding_run.decoded(model, request, trace, view))
with upper:
    stepper.stage(model, request, trace, view, run)
with way_to_heads:
    stepper.link_to_heads(model, trace, view, run)
with numbers:
    verdict.number(run, view, trace.interventions)
with right:
    verdict.picture(run)
with below:
    extras.more(model, view, run)
layout.end_page(request, trace, view)
