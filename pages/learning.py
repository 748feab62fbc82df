"""Learning: a Transformer so small that it is trained while the visitor watches, with a causal mask and without."""

import streamlit as st

from attnviz.app import layout
from attnviz.app.address import persistent
from attnviz.learning.learning_state import EXPERIMENTS, FILE
from attnviz.learning.page import controls, upload

layout.begin_page_of_its_own("Learning", controls.bar)
# A recording in the place of the experiments: what it takes is imported where there is one.
shown = upload.open_file()
if shown is None and persistent.text("recording") not in ("", EXPERIMENTS, FILE):
    from attnviz.learning.page import recording_page

    shown = recording_page.open_shipped()
if shown is not None:
    from attnviz.learning.page import recording_page

    recording_page.page(shown)
    st.stop()

view = controls.current_state()
with st.container(key="learning-page", horizontal=True):
    left = st.container(key="learning-experiment")
    right = st.container(key="learning-stage")
with left:
    controls.experiment(view)
    controls.own_line(view)

# Below here torch is imported: by then the experiment can be chosen.
from attnviz.learning.page import opening, page

stage = layout.run_or_refuse(lambda: page.stage_of(view))
with left:
    opening.links(view, stage)
    opening.numbers(stage)
with right:
    page.draw(view, stage)
layout.end_page_of_its_own(view.for_others, page.status(stage))
