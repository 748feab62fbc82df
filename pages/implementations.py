"""Implementations: one attention written seven ways on the same weights, and a cabinet of ways to get it wrong."""

import streamlit as st

from attnviz.ui import (
    frame,
    implementations_bugs,
    implementations_link,
    implementations_masks,
    implementations_ways,
    session,
    site_bench,
    site_terms,
)

TABS = {
    "agreement": implementations_ways.agreement,
    "cost": implementations_ways.cost,
    "source": implementations_ways.source,
    "parameters": implementations_ways.parameters,
    "relative": implementations_ways.relative,
    "shapes": implementations_masks.shapes,
    "bugs": implementations_bugs.bugs,
}

request = frame.page("Implementations")
st.html(frame.STYLES / "workshop.css")
trace = frame.run(lambda: session.trace(request))
view = site_bench.view_of(implementations_link.ImplementationsView, trace)
site_bench.site(trace, view)
site_terms.parts("tab", implementations_link.TABS, view.tab, site_terms.IMPLEMENTATIONS)
bench = frame.run(lambda: site_bench.bench(request, trace, view))
TABS[view.tab](bench, view)
frame.finish(request, trace, view)
