"""The top bar's controls. Each draws itself and returns what was chosen; all are kept in the link and across pages."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from attnviz.models.catalogue import DEFAULT, Entry, entries
from attnviz.text.languages import language_name
from attnviz.text.limits import capped
from attnviz.ui.session import Request

# The sentences stay in force when the page changes; bound alone, a value is lost where a link to a page has a query.
KEPT: dict[str, Any] = {"bind": "query-params", "persist_state": "session"}
EXAMPLES = Path(__file__).parents[2] / "assets" / "examples.json"


@st.cache_data
def examples() -> list[str]:
    """Sentences to try."""
    return json.loads(EXAMPLES.read_text(encoding="utf-8"))


def top_bar() -> Request:
    """Model, source sentence, target language, target sentence; Enter runs."""
    bar = st.container(key="top-bar")
    columns = bar.columns([17, 37, 11, 37, 8, 12, 12], vertical_alignment="bottom", gap="small")
    with columns[0]:
        entry = model_picker()
    with columns[1]:
        src = _sentence("src", "Source sentence", examples()[2], on_change=_source_changed)
    with columns[2]:
        to = _choice("to", "To", {code: language_name(code) for code in entry.languages}, on_change=_source_changed)
    with columns[3]:
        tgt = _sentence("tgt", "Target (empty: the model translates)", "", on_change=_target_typed)
    columns[4].button("Run", key="run", help="Run the model: Enter in a sentence does the same", width="stretch")
    with columns[5]:
        st.menu_button("Examples", examples(), key="example", on_click=_use_example, width="stretch")
    st.session_state["copy-link-slot"] = columns[6].empty()
    return Request(entry, src, to, tgt)


def model_picker() -> Entry:
    """One of the catalogue's models."""
    known = {entry.name: entry for entry in entries()}
    if not known:
        st.error(f"No model is installed: assets/models holds no {DEFAULT}. Get the repository whole, or train one.")
        st.stop()
    return known[_choice("model", "Model", {name: entry.title for name, entry in known.items()})]


def _choice(key: str, label: str, titles: dict[str, str], *, on_change: Callable[[], None] = lambda: None) -> str:
    """One of `titles`; the address holds its key, where a bound selectbox would put its title."""
    options = list(titles)
    with st.container(key=f"link-{key}"):
        linked = st.text_input(key, key=key, **KEPT)
    shown = f"{key}-shown"

    def adopt() -> None:
        st.session_state[key] = st.session_state[shown]
        on_change()

    st.session_state[shown] = linked if linked in titles else options[0]
    return st.selectbox(label, options, key=shown, format_func=titles.__getitem__, on_change=adopt)


def _sentence(key: str, label: str, default: str, *, on_change) -> str:
    typed = st.text_input(label, value=default, key=key, on_change=on_change, **KEPT)
    for note in st.session_state.pop(f"{key}-note", ()):
        st.session_state.setdefault("notes", []).append(note)
    return typed or ""


def _keep_to_limit(key: str) -> None:
    kept, note = capped(st.session_state.get(key) or "")
    if note:
        st.session_state[key] = kept
        st.session_state[f"{key}-note"] = [note]


def _source_changed() -> None:
    """A target that the model wrote for another sentence goes; one that a person typed stays."""
    _keep_to_limit("src")
    if not st.session_state.get("tgt-typed"):
        st.session_state["tgt"] = ""


def _target_typed() -> None:
    _keep_to_limit("tgt")
    st.session_state["tgt-typed"] = bool((st.session_state.get("tgt") or "").strip())


def _use_example() -> None:
    st.session_state["src"] = st.session_state["example"]
    st.session_state["tgt"], st.session_state["tgt-typed"] = "", False
