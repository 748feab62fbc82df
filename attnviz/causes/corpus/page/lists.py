"""Choice of the list of sentences to measure: the included one, or a visitor's own, pasted or from a file.

A visitor's own list stays in the session when the visitor leaves the page. Links do not contain the file.
"""

import streamlit as st

from attnviz.analysis.corpus.lines import MOST_LINES, CorpusLine, lines_of, shipped_lines
from attnviz.app import layout, streamlit_internals
from attnviz.app.address import persistent
from attnviz.causes.corpus.page.state import SentencesState
from attnviz.kit.glossary import definition
from attnviz.text.display import display
from attnviz.text.limits import TextError

MEGABYTES = 1
MOST_CHARACTERS = 200_000  # below Streamlit's message limit of 1 MB in any script
_TEXT, _KEPT, _FILE = "corpus-text", "corpus-kept", "corpus-file"
AGAIN = (
    "This link uses sentences that the sender pasted, but a link cannot contain these sentences. Please "
    "paste them again."
)
TOO_LONG = "These are {:,} characters; at most {:,} are read. Split the list."
NO_TEXT = "“{}” is not UTF-8 text. Save it as plain text, one sentence per line."


def picker(view: SentencesState, to: str, kinds_of_text: str) -> tuple[CorpusLine, ...]:
    """Draw the input for a visitor's own list, and return the chosen list's lines.

    If the list cannot be read, show why and return no lines. `kinds_of_text` says what a line must contain for this
    model.
    """
    if view.sentences == "shipped":
        return shipped_lines(to)
    _draw_own_list(kinds_of_text)
    try:
        return _read(st.session_state.get(_KEPT, ""), asked=view.read)
    except TextError as refusal:
        layout.warn(str(refusal))
        return ()


def _draw_own_list(kinds_of_text: str) -> None:
    """Draw the text area and the file upload, whose text is copied into the text area."""
    left, right = st.columns([3, 1])
    with left:
        if _TEXT not in st.session_state:
            st.session_state[_TEXT] = st.session_state.get(_KEPT, "")
        st.text_area(
            "Your own sentences",
            key=_TEXT,
            height=170,
            max_chars=MOST_CHARACTERS + 1,  # one more, so that a longer text is refused and not silently truncated
            placeholder=f"{kinds_of_text} Up to {MOST_LINES:,} lines.",
            on_change=_keep,
            help=definition("Your own sentences"),
        )
    with right:
        st.file_uploader(
            "A list from a file",
            type=["txt", "tsv"],
            max_upload_size=MEGABYTES,
            key=_FILE,
            on_change=_take_file,
            help=definition("A list from a file"),
        )
    if said := st.session_state.pop("corpus-file-said", ""):
        layout.warn(said)


def _read(text: str, *, asked: bool) -> tuple[CorpusLine, ...]:
    """Split a text into lines. Raise TextError with a message of one sentence if it cannot be read."""
    if not text.strip():
        if asked:
            layout.note(AGAIN)
        return ()
    if len(text) > MOST_CHARACTERS:
        raise TextError(TOO_LONG.format(len(text), MOST_CHARACTERS))
    return lines_of(text)


def _keep() -> None:
    """Keep the typed list in the session; it is measured only when the visitor asks for it."""
    st.session_state[_KEPT] = st.session_state.get(_TEXT) or ""
    persistent.write({"read": None})


def _take_file() -> None:
    file = st.session_state.get(_FILE)
    if file is None:
        return
    name = display(file.name)
    if file.type == streamlit_internals.NO_ROOM:
        st.session_state["corpus-file-said"] = (
            f"The server has no memory left for the file {name}. Please paste its lines, or try again later."
        )
        return
    try:
        text = file.getvalue().decode("utf-8-sig")
    except UnicodeDecodeError:
        st.session_state["corpus-file-said"] = NO_TEXT.format(name)
        return
    if len(text) > MOST_CHARACTERS:  # in the text area it would be sent with each choice
        st.session_state["corpus-file-said"] = TOO_LONG.format(len(text), MOST_CHARACTERS)
        return
    st.session_state[_TEXT] = text.replace("\r\n", "\n")
    _keep()
