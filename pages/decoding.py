"""Decoding: training all at once, inference step by step, and whether the two compute the same numbers."""

import streamlit as st

from attnviz.ui import (
    decoding_controls,
    decoding_more,
    decoding_run,
    decoding_stage,
    decoding_translator,
    decoding_verdict,
    frame,
    session,
)

request = frame.page("Decoding")
st.html(frame.STYLES / "decoding.css")
trace = frame.run(lambda: session.trace(request))
asked = decoding_controls.linked(trace, request.entry)
is_own = decoding_translator.is_translator(request)
chosen = decoding_controls.stepping(asked, is_own=is_own)
upper, lower, below = st.container(), st.container(key="decoding-lower"), st.container()
with lower:
    chosen |= decoding_controls.breaking(asked, is_own=is_own)
numbers, right = lower.columns([34, 66], gap="medium")
with below.container(horizontal=True, vertical_alignment="center"):
    chosen |= decoding_controls.more(asked)
    way_to_heads = st.container(width="content")
with below:
    chosen |= decoding_controls.experiment(asked)
view = decoding_controls.shown(asked, chosen)
run = frame.run(lambda: decoding_run.decoded(request, trace, view))
with upper:
    decoding_stage.stage(request, trace, view, run)
with way_to_heads:
    decoding_stage.link_to_heads(request, trace, view, run)
with numbers:
    decoding_verdict.number(run, view)
with right:
    decoding_verdict.picture(run)
with below:
    decoding_more.more(request, view, run)
frame.finish(request, trace, view)
