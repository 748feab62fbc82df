"""Anatomy: one attention site taken apart, line by line, on the sentence's own numbers."""

import streamlit as st

from attnviz.ui import (
    anatomy_claims,
    anatomy_counts,
    anatomy_link,
    anatomy_skip,
    anatomy_walk,
    frame,
    session,
    site_bench,
    site_terms,
)

PARTS = {
    "walk": anatomy_walk.walk,
    "skip": anatomy_skip.skip,
    "memory": anatomy_walk.memory,
    "claims": anatomy_claims.claims,
    "counts": anatomy_counts.counts,
    "modulation": anatomy_claims.modulation,
}

request = frame.page("Anatomy")
st.html(frame.STYLES / "workshop.css")
st.html(frame.STYLES / "anatomy.css")
trace = frame.run(lambda: session.trace(request))
view = site_bench.view_of(anatomy_link.AnatomyView, trace)
site_bench.site(trace, view)
site_terms.parts("part", anatomy_link.PARTS, view.part, site_terms.ANATOMY)
bench = frame.run(lambda: site_bench.bench(request, trace, view))
PARTS[view.part](bench, view)
frame.finish(request, trace, view)
