"""Learning: a Transformer so small that it is trained while one watches, with its mask and without."""

import streamlit as st

from attnviz.ui import layout
from attnviz.ui.learning import controls

layout.begin_page_of_its_own("Learning", "learning", controls.bar)
st.html(layout.STYLES / "learning.css")
view = controls.current()
with st.container(key="learning-page", horizontal=True):
    left = st.container(key="learning-experiment")
    right = st.container(key="learning-stage")
with left:
    controls.experiment(view)
    controls.own_line(view)

# Below here torch is imported: by then the experiment can be chosen.
from attnviz.ui.learning import opening, page

stage = layout.run_or_refuse(lambda: page.staged(view))
with left:
    opening.links(view, stage)
    opening.numbers(stage)
with right:
    page.draw(view, stage)
layout.end_page_of_its_own(view, page.status(stage))
