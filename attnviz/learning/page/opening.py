"""The curves as a table, and links that open a trained toy on the other pages."""

import streamlit as st

from attnviz.app import charts
from attnviz.app.address import persistent
from attnviz.app.cache import toys
from attnviz.learning.curve_table import curve_table
from attnviz.learning.learning_state import LearningState
from attnviz.learning.page.page import Staged
from attnviz.toys.recording import Recording

_PAGES = (
    ("pages/heads.py", "Heads"),
    ("pages/masks.py", "Masks"),
    ("pages/decoding.py", "Decoding"),
    ("pages/causes.py", "Causes"),
)
_OF_IMAGES = ("Heads", "Masks", "Causes")  # pages that show models of images


def links(view: LearningState, stage: Staged) -> None:
    """Draw links for each run with weights, which open its toy with the same line on the pages for any model."""
    for at, (run, recording) in enumerate(stage.recordings):
        if recording.weights is None:
            continue
        st.caption(f"Open “{run.title}” in")
        with st.container(horizontal=True, key=f"open-{at}", gap="xsmall"):
            is_image = recording.experiment.toy_task.is_image
            for path, label in (page for page in _PAGES if not is_image or page[1] in _OF_IMAGES):
                there = persistent.link_to(label, _address(view, recording) | _page_address(label, recording))
                st.page_link(path, label=label, query_params=there, width="content")


def numbers(stage: Staged) -> None:
    """Draw the training curves as a table."""
    recordings = {run.title: recording for run, recording in stage.recordings}
    if recordings:
        with st.container(key="learning-tools"):
            charts.numbers("learning-curves", lambda: curve_table(recordings))


def _address(view: LearningState, recording: Recording) -> dict[str, str]:
    """Return the address parameters that open a toy on another page, with the line, the correct target and the head in
    view.
    """
    if recording.experiment.toy_task.is_image:
        first = f"digit-{recording.watched[0].tgt[0]}"
        return {"model": toys.name_of(recording.experiment), "image": first, **_site(view)}
    line, words = recording.watched[0], recording.words
    src, tgt = (words.text(words.ids(side)) for side in (line.src, line.tgt))
    if view.line.strip():
        src, tgt = view.line, ""
    asked = {"model": toys.name_of(recording.experiment), "src": src, "to": "", "tgt": tgt, "new": ""}
    if recording.experiment.toy_task.is_decoder_only:
        asked |= {"tgt": "", "new": str(len(line.tgt))}
    return asked | {**_site(view), "row": "", "zoom": ""}


def _site(view: LearningState) -> dict[str, str]:
    kind, _, site = view.site.partition(".")
    layer, _, head = site.partition(".")
    return {"kind": kind, "layer": layer, "head": head}


def _page_address(label: str, recording: Recording) -> dict[str, str]:
    """Return additional address parameters: for Heads the tab of images, and for Masks, if the run was trained without
    a causal mask, that mask in all decoder heads.
    """
    if label == "Heads" and recording.experiment.toy_task.is_image:
        return {"tab": "patches"}
    if label != "Masks" or recording.experiment.is_causal:
        return {}
    return {"kind": "decoder_self", "layer": "0", "head": "0", "masks": "causal", "scope": "kind", "tab": "pipeline"}
