"""The page Learning with a recording instead of the experiments: a translator's training, or a toy's run from a
file.
"""

import html
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app import charts, layout
from attnviz.app.address import persistent
from attnviz.app.mount import learning
from attnviz.doors import door
from attnviz.kit.views.captions import Caption, with_caption
from attnviz.kit.views.terms import term
from attnviz.learning import learning as pictures
from attnviz.learning.curve_table import curve_table, translator_table
from attnviz.learning.learning_state import FILE, TRANSLATOR, RecordingState, recording_of
from attnviz.learning.page import controls, upload
from attnviz.learning.page.upload import Opened
from attnviz.learning.widget.payload import ShownRun, ShownTranslator
from attnviz.text.display import display
from attnviz.toys.recording import Recording
from attnviz.toys.storage import load_recording
from attnviz.toys.switches import title_of
from attnviz.toys.translator.recording import TranslatorRecording

if TYPE_CHECKING:
    import pandas as pd

NOT_HERE = "The link asks for the recording of the translator's training. This server does not have it."
NOT_BESIDE = "The link asks for the recording “{}”. This recording is not in the folder of this server's lessons."
LIST_NAME = "How the translator learned"


def open_shipped() -> Opened | None:
    """Open the translator's training, or a recording beside the lessons, if the address asks for one.

    Report problems above the picture.
    """
    asked = persistent.text("recording")
    file = upload.TRANSLATOR_FILE if asked == TRANSLATOR else door("recording_beside")(asked)
    if file is None or not file.is_file():
        layout.note(NOT_HERE if asked == TRANSLATOR else NOT_BESIDE.format(display(asked[:60])))
        return None
    try:
        return _read_shipped(LIST_NAME if asked == TRANSLATOR else display(asked), file, file.stat().st_mtime_ns)
    except ValueError as error:
        layout.warn(str(error))
        return None


@lru_cache(maxsize=8)
def _read_shipped(name: str, file: Path, changed: int) -> Opened:
    return upload.pack(name, load_recording(file))


def page(found: Opened) -> None:
    """Draw the page Learning for a recording, except for the bar at the top."""
    view, problems = recording_of(persistent.texts())
    layout.note(*persistent.linked_problems(problems))
    with st.container(key="learning-page", horizontal=True):
        left = st.container(key="learning-experiment")
        right = st.container(key="learning-stage")
    with left:
        _draw_facts(found)
    with right:
        _draw(found, view)
    layout.end_page_of_its_own(None if view.recording == FILE else view, _status(found, view))


def _draw(found: Opened, view: RecordingState) -> None:
    recording, title = found.recording, _title(found)
    if isinstance(recording, Recording):
        run = ShownRun(recording.experiment, title, "recorded", recording, packed=found.packed)
        caption = Caption(recording.experiment.toy_task.title, f"toy of attnviz: {title}, recorded in {found.name}")
    else:
        run = ShownTranslator(title, found.packed)
        caption = Caption(pictures.TRANSLATORS_TITLE, f"recorded in {found.name}")
    payload = pictures.runs_payload([run], controls.remember(pictures.view_of_runs([run], view)))
    learning(with_caption(payload, caption), key=controls.COMPONENT, on_change=controls.adopt)


def _title(found: Opened) -> str:
    recording = found.recording
    if isinstance(recording, Recording):
        return f"{recording.experiment.toy_task.title}: {title_of(recording.experiment)}"
    return pictures.TRANSLATORS_TITLE


def _draw_facts(found: Opened) -> None:
    """Draw facts about the recording, and its curves as a table."""
    recording = found.recording
    told = {
        "Recording": found.name,
        "Looked at": f"{len(recording.steps)} times, up to update {recording.steps[-1]:,}",
        **_facts(recording),
    }
    rows = "".join(f"<dt>{name}</dt><dd>{html.escape(text)}</dd>" for name, text in told.items())
    st.html(f"<dl class='recording-facts'>{rows}</dl>")
    with st.container(key="learning-tools"):
        charts.numbers("learning-curves", lambda: _table(found))


def _facts(recording: Recording | TranslatorRecording) -> dict[str, str]:
    if isinstance(recording, Recording):
        return {"Of": f"a toy, {recording.experiment.toy_task.title}"}
    return {
        "Of": "a translator’s training",
        "Weights": "averaged, as in a checkpoint",
        "Vocabulary": f"{recording.vocab_size:,} entries",
    }


def _table(found: Opened) -> "pd.DataFrame":
    recording = found.recording
    return curve_table({_title(found): recording}) if isinstance(recording, Recording) else translator_table(recording)


def _status(found: Opened, view: RecordingState) -> list[str]:
    recording = found.recording
    maps = recording.maps if isinstance(recording, Recording) else recording.maps[0]
    layers, heads = next(iter(maps.values())).shape[1:3]
    parts = [
        f"<b>{html.escape(found.name)}</b>",
        f"<b>{layers}</b> {term('layers')} × <b>{heads}</b> {term('heads')}",
        f"<b>{len(recording.steps)}</b> recorded steps, <b>{recording.steps[-1]:,}</b> updates",
    ]
    return [*parts, "a link cannot contain a file"] if view.recording == FILE else parts
