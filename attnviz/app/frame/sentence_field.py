"""A sentence in the top bar: its field, and the text that stands in it while none was typed."""

import json
from dataclasses import dataclass
from functools import cache

import streamlit as st

from attnviz.app.address import persistent, widgets
from attnviz.app.frame import chat_bar
from attnviz.app.frame.page import current_page
from attnviz.places import ASSETS
from attnviz.text.limits import cut_to_limit, prefix_notes

EXAMPLES = ASSETS / "examples.json"
MOST_TYPED = 8_192  # characters for a checkpoint, whose tokenizer then says how many tokens of them are kept


@dataclass(frozen=True)
class Field:
    """A sentence in the bar: the label above it, what a note calls it, and how many characters it takes."""

    key: str
    label: str
    name: str
    most: int = MOST_TYPED


@cache
def examples() -> tuple[str, ...]:
    """Return sentences to try."""
    return tuple(json.loads(EXAMPLES.read_text(encoding="utf-8")))


def default_source() -> str:
    """Return the text while none was typed: the question of a conversation that waits for its model, or an example."""
    return chat_bar.last_user_text() or examples()[2]


def sentence(field: Field) -> str:
    """Draw a sentence's field, and return its text."""
    default, changed = {"src": (default_source(), drop_written_target), "tgt": ("", _target_typed)}[field.key]
    value, shown = persistent.text(field.key, default), f"{field.key}-shown"

    def draw(**more) -> str | None:
        return st.text_input(field.label, **more)

    def take() -> None:
        typed, note = cut_to_limit(st.session_state[shown] or "", field.most)
        if note:
            st.session_state[f"{field.key}-note"] = prefix_notes(field.name, (note,))
        persistent.write({field.key: None if typed == default else typed})
        changed()

    widgets.show(shown, value, {"value": value}, draw, take)
    for note in st.session_state.pop(f"{field.key}-note", ()):
        current_page().add(note)
    return value


def drop_written_target() -> None:
    """Drop a target that the model wrote for another sentence; one that a person typed stays."""
    if persistent.text("tgt") != st.session_state.get("tgt-typed"):
        persistent.write({"tgt": None})


def _target_typed() -> None:
    st.session_state["tgt-typed"] = persistent.text("tgt").strip() and persistent.text("tgt")
