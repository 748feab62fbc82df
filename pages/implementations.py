"""Implementations: seven ways to write attention, with the same weights, and a collection of ways to get it wrong."""

import streamlit as st

from attnviz.anatomy.implementations.page import bugs, comparison, mask_shapes, state
from attnviz.anatomy.page import experiment
from attnviz.app import layout
from attnviz.app.styles import style

TABS = {
    "agreement": comparison.agreement,
    "cost": comparison.cost,
    "source": comparison.source,
    "parameters": comparison.parameters,
    "relative": comparison.draw_relative_positions,
    "shapes": mask_shapes.shapes,
    "bugs": bugs.bugs,
}

request = layout.begin_page("Implementations", as_it_is=experiment.AS_IT_IS)
st.html(style("workshop.css"))
bench, view = experiment.open_page(request, state.ImplementationsState, "Implementations", state.TABS)
TABS[view.tab](bench, view)
layout.end_page(request, bench.trace, view)
