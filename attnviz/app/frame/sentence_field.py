"""The field for a sentence in the top bar, and its default text."""

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
    """A text field in the top bar: its label, its name in notes, and its limit in characters."""

    key: str
    label: str
    name: str
    most: int = MOST_TYPED


@cache
def examples() -> tuple[str, ...]:
    """Return the example sentences."""
    return tuple(json.loads(EXAMPLES.read_text(encoding="utf-8")))


def default_source() -> str:
    """Return the default text: the last question of a conversation typed for another model, or an example."""
    return chat_bar.last_user_text() or examples()[2]


def sentence(field: Field) -> str:
    """Draw the field for a sentence, and return its text."""
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
    """Remove a target that the model wrote for another sentence. A target that the visitor typed stays."""
    if persistent.text("tgt") != st.session_state.get("tgt-typed"):
        persistent.write({"tgt": None})


def _target_typed() -> None:
    st.session_state["tgt-typed"] = persistent.text("tgt").strip() and persistent.text("tgt")
