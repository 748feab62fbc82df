"""Anatomy: one attention layer taken apart, line by line, with the values of the sentence."""

import streamlit as st

from attnviz.anatomy.page import claims, counts, experiment, skip, walk
from attnviz.app import layout
from attnviz.app.styles import style

TABS = {
    "walk": walk.walk,
    "skip": skip.skip,
    "memory": walk.memory,
    "claims": claims.claims,
    "counts": counts.counts,
    "modulation": claims.modulation,
}

request = layout.begin_page("Anatomy", as_it_is=experiment.AS_IT_IS)
st.html(style("workshop.css"))
st.html(style("anatomy.css"))
bench, view = experiment.open_page(request, experiment.AnatomyState, "Anatomy", experiment.TABS)
TABS[view.tab](bench, view)
layout.end_page(request, bench.trace, view)
