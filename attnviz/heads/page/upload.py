"""A visitor's own weights from a file, shown in place of a model for as long as the page is open.

The weights of all visitors share one memory limit (`cache.pictures.ROOM`, which includes what is computed from them),
and their files another (`streamlit_internals`). If a limit is reached, a note says so. Files are read one at a time, so
that the memory for reading is needed only once.
"""

import hashlib
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app import layout, streamlit_internals
from attnviz.app.address import persistent
from attnviz.app.cache import pictures
from attnviz.app.drawing import sheet
from attnviz.app.frame.page import current_page
from attnviz.app.markdown import literal
from attnviz.kit.glossary import definition
from attnviz.models.catalogue import Entry
from attnviz.text.display import display

if TYPE_CHECKING:
    from attnviz.heads.page.state import HeadsPageState
    from attnviz.tracing.external.weights import BareWeights

MEGABYTES = 64
FULL = (
    "The server has no memory left for {}, because the files of other visitors use all of it. Please try "
    "again later, or upload fewer layers."
)
_READING = Lock()
_TAKEN_AWAY, _NAME = "own-files-taken-away", "own-file-name"
_KEYS = """
| key | what |
| --- | --- |
| `attn` | weights, (layers, heads, q_len, k_len) |
| `tokens` | the query tokens, one for each row |
| `key_tokens` | the key tokens, if they differ |
| `kind` | encoder_self, decoder_self or cross; left out: cross with key tokens, decoder_self if no row looks ahead |
| `mask` | bool, (q_len, k_len), True = may attend |

In .npz, tokens are an array of strings. In .safetensors, tokens (as a JSON list) and kind are in the metadata.
Several kinds in one file: `attn.cross`, `tokens.src`, `tokens.tgt` and so on, as `trace.save` writes them.
"""

_NOT_RUN = "The changes to the run that are listed above have no effect on the weights in your file."


def picker() -> "BareWeights | None":
    """Draw the file upload; return its weights, or None if there is no readable file."""
    taken_away = st.session_state.setdefault(_TAKEN_AWAY, 0)
    with st.popover("Your own tensors", icon=":material/upload_file:", key="own-tensors"):
        file = st.file_uploader(
            "Attention weights from a file",
            type=["npz", "safetensors"],
            max_upload_size=MEGABYTES,
            key=f"own-file-{taken_away}" if taken_away else "own-file",
            help=f"{definition('Your own tensors')} The file stays in memory for this page only and is "
            "deleted when you close the page. Links do not contain the file.",
        )
        st.markdown(_KEYS)
    if file is None:
        return None
    content = file.getvalue()
    try:
        if file.type == streamlit_internals.NO_ROOM:
            raise ValueError(FULL.format(file.name))
        weights = _read(hashlib.blake2b(content, digest_size=16).hexdigest(), file.name, content)
    except ValueError as error:
        current_page().warn(str(error))
        return None
    _say_whose(file.name)
    return weights


def _say_whose(name: str) -> None:
    """Say above the picture that it does not show the sentence in the bar, which the style sheet greys out."""
    st.session_state[_NAME] = name
    with (
        current_page().above,
        st.container(key="own-shown", horizontal=True, vertical_alignment="center"),
    ):
        shown = f"The picture shows your own tensors from {display(name)}, not the sentence in the bar above."
        st.info(literal(shown), icon=":material/upload_file:")
        st.button("Back to the sentence", key="own-away", on_click=_take_away)


def _take_away() -> None:
    """Empty the file uploader by drawing a new one."""
    st.session_state[_TAKEN_AWAY] += 1


def caption() -> str:
    """Return the words that name the file in captions, in place of a model."""
    return f"weights from {display(st.session_state[_NAME])}"


def entry() -> Entry:
    """Return a catalogue entry for the file, whose view starts at the first head of the first kind."""
    return Entry("own-tensors", Path(), "Your own tensors", ())


@st.cache_resource(max_entries=1, scope="session", show_spinner="Reading the file …")
def _read(digest: str, name: str, _content: bytes) -> "BareWeights":
    from attnviz.tracing.external.file import read

    with _READING:
        trace = read(_content, name)
    try:
        pictures.ROOM.put(trace, trace.nbytes())
    except MemoryError:
        raise ValueError(FULL.format(name)) from None
    return trace


def finish(trace: "BareWeights", page: "HeadsPageState") -> None:
    """Draw the notes and the status bar.

    For a file there is no model to describe, and no link that could contain it.
    """
    kind = page.heads.kind
    queries, keys = len(trace.query_tokens(kind)), len(trace.key_tokens(kind))
    persistent.publish()
    layout.note(*trace.info.notes, *((_NOT_RUN,) if persistent.text("do") else ()))
    parts = (
        "<b>your own tensors</b>, only weights",
        f"<b>{trace.n_layers}</b> layers × <b>{trace.n_heads}</b> heads",
        f"<b>{queries}</b> query tokens, <b>{keys}</b> key tokens",
        "a link cannot contain a file",
    )
    st.html("<div class='status-bar' role='status'>" + "".join(f"<span>{part}</span>" for part in parts) + "</div>")
    sheet.open_if_asked(page, trace)
