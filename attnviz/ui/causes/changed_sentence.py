"""Controls of the Patch tab: the second sentence, pairs that work, and which run's numbers go into which."""

import json
from functools import cache
from pathlib import Path

import streamlit as st

from attnviz.text.glossary import definition
from attnviz.text.limits import MAX_CHARACTERS
from attnviz.ui.address import persistent
from attnviz.ui.address.widgets import segments, text_field
from attnviz.ui.markdown import literal

PAIRS = Path(__file__).parents[3] / "assets" / "pairs_to_patch.json"
WAYS = {"in": "From above into changed", "out": "From changed into above"}
_KEY = "patch-example"
_EMPTY = "the sentence above with one word changed"
_FRESH = dict.fromkeys(("step", "a", "b", "c", "d", "put", "way"))


@cache
def pairs() -> dict[str, dict[str, str]]:
    """Return pairs that work on the shipped model, by title: the texts of the address."""
    return json.loads(PAIRS.read_text(encoding="utf-8"))


def bar(changed: str) -> None:
    """Draw the second sentence and the pairs."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="patch-bar"):
        with st.container(key="patch-changed"):
            said = definition("Changed sentence")
            text_field("changed", "Changed sentence", changed, limit=MAX_CHARACTERS, help_text=said, empty=_EMPTY)
        st.menu_button("Pairs", list(pairs()), key=_KEY, on_click=_use)
        persistent.catch_up(_KEY, _use)


def pairs_as_buttons() -> None:
    """Draw the pairs as buttons, where there is no second sentence yet."""
    with st.container(horizontal=True, key="patch-ready"):
        for at, (title, pair) in enumerate(pairs().items()):
            said = f"{pair['src']} | {pair['changed']}"
            st.button(title, key=f"patch-ready-{at}", help=literal(said), on_click=_use_pair, args=(title,))


def direction(way: str) -> None:
    """Draw the choice of whose numbers go where."""
    segments("way", "Direction", WAYS, way, means=definition("Direction"))


def _use() -> None:
    _use_pair(st.session_state[_KEY])


def _use_pair(title: str) -> None:
    persistent.write({**_FRESH, "tgt": None, "do": None, **pairs().get(title, {})})
