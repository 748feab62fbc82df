"""A visitor's own recording: an uploaded file, shown instead of the experiments while the page is open.

Its data count against the memory limit that all visitors' files share (`cache.pictures.ROOM`). Files are read one at a
time, so that the memory for reading is needed only once. The address says that a file is shown but not which one, so
after a reload a note asks the visitor to open the file again.
"""

import hashlib
import io
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app import layout, streamlit_internals
from attnviz.app.address import persistent
from attnviz.app.cache import pictures
from attnviz.kit.glossary import definition
from attnviz.learning.learning_state import FILE
from attnviz.places import ASSETS
from attnviz.text.display import display

if TYPE_CHECKING:
    from attnviz.learning.widget.payload import Packed
    from attnviz.toys.recording import Recording
    from attnviz.toys.translator.recording import TranslatorRecording

MEGABYTES = 4  # maximum size; our recordings have about 400 kB
MOST_HEADS = 400  # maximum heads of a kind
FULL = (
    "The server has no memory left for {}, because the files of other visitors use all of it. Please try again later."
)
TOO_MANY = "{} shows {:,} heads of each kind; at most {} can be drawn."
AGAIN = "This link shows a recording from a file, but a link cannot contain the file. Please open the file again."
TRANSLATOR_FILE = ASSETS / "recordings" / "translator.npz"
_READING = Lock()
_TAKEN_AWAY = "recording-files-taken-away"
_HOW = """
A recording is an .npz file. `python -m attnviz.training --watch` writes one for a translator: `recording.npz` in the
folder of its state. `python -m attnviz learn reverse --out run.npz` writes one for a toy.
"""


@dataclass(frozen=True, eq=False)
class Opened:
    """A recording with its display name, and the data for the browser."""

    name: str
    recording: "Recording | TranslatorRecording"
    packed: "Packed"


def picker() -> None:
    """Draw the file upload."""
    with st.popover("Open a recording", icon=":material/upload_file:", key="own-recording"):
        st.file_uploader(
            "A recording from a file",
            type=["npz"],
            max_upload_size=MEGABYTES,
            key=_key(),
            on_change=_begin,
            help=f"{definition('Open a recording')} The file stays in memory for this page only and is "
            "deleted when you close the page. Links do not contain the file.",
        )
        st.markdown(_HOW)


def open_file() -> Opened | None:
    """Open the visitor's file if the address says that one is shown. Report problems above the picture."""
    if persistent.text("recording") != FILE:
        return None
    file = st.session_state.get(_key())
    if file is None:
        layout.note(AGAIN)
        return None
    content, name = file.getvalue(), display(file.name)
    try:
        if file.type == streamlit_internals.NO_ROOM:
            raise ValueError(FULL.format(name))
        return _read(hashlib.blake2b(content, digest_size=16).hexdigest(), name, content)
    except ValueError as error:
        layout.warn(str(error))
        return None


def pack(name: str, recording: "Recording | TranslatorRecording") -> Opened:
    """Pack a recording for the browser. Raise ValueError with a message of one sentence if it is too large to draw."""
    from attnviz.learning.widget import payload
    from attnviz.toys.recording import Recording

    if isinstance(recording, Recording):
        return Opened(name, recording, payload.pack(recording))
    layers, heads = next(iter(recording.maps[0].values())).shape[1:3]
    if layers * heads > MOST_HEADS:
        raise ValueError(TOO_MANY.format(name, layers * heads, MOST_HEADS))
    return Opened(name, recording, payload.pack_translator(recording))


def take_away() -> None:
    """Forget the file, by replacing the uploader with an empty one."""
    st.session_state[_TAKEN_AWAY] = st.session_state.get(_TAKEN_AWAY, 0) + 1


def _begin() -> None:
    """Show a newly uploaded file from its beginning, or the experiments if the file was removed."""
    shown = FILE if st.session_state.get(_key()) is not None else None
    persistent.write({"recording": shown, "moment": None, "site": None, "sentence": None})


def _key() -> str:
    taken_away = st.session_state.get(_TAKEN_AWAY, 0)
    return f"recording-file-{taken_away}" if taken_away else "recording-file"


@st.cache_resource(max_entries=1, scope="session", show_spinner="Reading the file …")
def _read(digest: str, name: str, _content: bytes) -> Opened:
    from attnviz.toys.storage import read_recording

    with _READING:
        found = pack(name, read_recording(io.BytesIO(_content), name))
    try:
        pictures.ROOM.put(found, pictures.size(found.recording) + len(found.packed[1]))
    except MemoryError:
        raise ValueError(FULL.format(name)) from None
    return found
