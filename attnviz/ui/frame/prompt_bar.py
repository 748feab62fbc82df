"""A decoder's input in the top bar: a prompt or a conversation, and how many tokens are written after it."""

from dataclasses import dataclass

import streamlit as st

from attnviz.models.catalogue import Entry
from attnviz.pictures.fields import read, whole_number
from attnviz.text.conversation import Turn
from attnviz.ui.address import persistent, widgets
from attnviz.ui.frame import chat_bar, chat_editor
from attnviz.ui.frame.page import current_page
from attnviz.ui.frame.sentence_field import Field, default_source, sentence
from attnviz.ui.request import Request

NEW, MAX_NEW = 8, 64  # tokens after a prompt
FEW = f"0: only the prompt is read. At most {MAX_NEW}. The tab Reply of Decoding writes more, token by token"
_PROMPT = Field("src", "Prompt", "Prompt")


@dataclass(frozen=True)
class _Prompt:
    """The bar's controls besides a prompt."""

    new: int = whole_number(NEW, MAX_NEW + 1)


def prompt(entry: Entry) -> Request:
    """Draw the controls, and return their request."""
    is_offered = chat_bar.is_offered(entry)  # asked first: turns that cannot be run are the page's refusal
    turns = chat_bar.turns(entry)
    if is_offered:
        form, left, right = st.columns([15, 55, 15], vertical_alignment="bottom", gap="small")
        with form:
            chat_editor.draw_choice(default_source())
    else:
        left, right = st.columns([70, 15], vertical_alignment="bottom", gap="small")
    with left:
        src = _prompt_or_turns(turns)
    asked, problems = read(_Prompt, persistent.texts(), {})
    current_page().add(*persistent.linked_problems(problems))
    with right:
        new = _count(asked.new, is_answered=bool(turns) and turns[-1].role == "assistant")
    return Request(entry, src, new=new, messages=turns)


def _prompt_or_turns(turns: tuple[Turn, ...]) -> str:
    """Draw the prompt's field, or the conversation in its place; return the prompt."""
    if not turns:
        return sentence(_PROMPT)
    chat_editor.draw(chat_bar.drafted_turns() or turns)
    return ""


def _count(value: int, *, is_answered: bool) -> int:
    """Draw the number of tokens to write; after a turn of the assistant's, none are."""
    means = "The last turn is the assistant’s: nothing is written after it" if is_answered else FEW

    def draw(**more) -> int:
        return st.number_input("Tokens to write", 0, MAX_NEW, help=means, disabled=is_answered, **more)

    def take() -> None:
        persistent.write({"new": str(st.session_state["new-shown"])})

    return widgets.show("new-shown", value, {"value": value}, draw, take)
