"""Anatomy: one attention site taken apart, line by line, on the sentence's own numbers."""

import streamlit as st

from attnviz.ui import anatomy_claims, anatomy_link, anatomy_walk, choices, frame, session, site_bench

PARTS = {
    "walk": anatomy_walk.walk,
    "skip": anatomy_walk.skip,
    "memory": anatomy_walk.memory,
    "claims": anatomy_claims.claims,
    "modulation": anatomy_claims.modulation,
}

request = frame.page("Anatomy")
st.html(frame.STYLES / "workshop.css")
st.html(frame.STYLES / "anatomy.css")
trace = frame.run(lambda: session.trace(request))
view = site_bench.view_of(anatomy_link.AnatomyView, trace)
site_bench.site(trace, view)
choices.segments("part", "Part of the page", anatomy_link.PARTS, view.part, hide_label=True)
bench = frame.run(lambda: site_bench.bench(request, trace, view))
PARTS[view.part](bench, view)
frame.finish(request, trace, view)
