"""A visitor's own weights: a file in the place of the model, as long as the page is open."""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.models.catalogue import Entry
from attnviz.ui import frame
from attnviz.ui.address import persistent
from attnviz.ui.heads_tabs import Tabbed
from attnviz.ui.markdown import literal

if TYPE_CHECKING:
    from attnviz.tracing.bare_weights import BareWeights

MEGABYTES = 64
_KEYS = """
| key | what |
| --- | --- |
| `attn` | weights, (layers, heads, q_len, k_len) |
| `tokens` | the query tokens, one a row |
| `key_tokens` | the key tokens, where they are others |
| `kind` | encoder_self, decoder_self or cross |
| `mask` | bool, (q_len, k_len), True = may attend |

In .npz, tokens are an array of strings; in .safetensors they and the kind stand in the metadata, tokens as a JSON list.
Several kinds in one file: `attn.cross`, `tokens.src`, `tokens.tgt` and so on, as `trace.save` writes them.
"""


def picker() -> "BareWeights | None":
    """Draw the place where a file is handed in; its weights, or None where there is no file that can be read."""
    with st.popover("Your own tensors", icon=":material/upload_file:", key="own-tensors"):
        file = st.file_uploader(
            "Attention weights from a file",
            type=["npz", "safetensors"],
            max_upload_size=MEGABYTES,
            key="own-file",
            help="The file is kept in memory, for this page alone, and forgotten after the page is closed; "
            "no link carries it.",
        )
        st.markdown(_KEYS)
    if file is None:
        return None
    content = file.getvalue()
    try:
        return _read(hashlib.blake2b(content, digest_size=16).hexdigest(), file.name, content)
    except ValueError as error:
        st.session_state["notes-slot"].error(literal(str(error)), icon=":material/error:")
        return None


def entry() -> Entry:
    """Where a file's weights start: at the first head of its first kind."""
    return Entry("own-tensors", Path(), "Your own tensors", ())


@st.cache_resource(max_entries=1, scope="session", show_spinner="Reading the file …")
def _read(digest: str, name: str, _content: bytes) -> "BareWeights":
    from attnviz.tracing.tensor_file import read

    return read(_content, name)


def finish(trace: "BareWeights", tabs: Tabbed) -> None:
    """Notes and status bar; there is no model to speak of, and no link that could carry the file."""
    kind = tabs.view.kind
    queries, keys = len(trace.query_tokens(kind)), len(trace.key_tokens(kind))
    persistent.publish()
    frame.say(*trace.info.notes)
    parts = (
        "<b>your own tensors</b>, bare weights",
        f"<b>{trace.n_layers}</b> layers × <b>{trace.n_heads}</b> heads",
        f"<b>{queries}</b> query tokens, <b>{keys}</b> key tokens",
        "the link does not carry a file",
    )
    st.html("<div class='status-bar' role='status'>" + "".join(f"<span>{part}</span>" for part in parts) + "</div>")
