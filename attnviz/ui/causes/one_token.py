"""Lists to choose one token of the vocabulary from: likely ones, or any other that is typed."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from attnviz.text.display import display_token
from attnviz.text.glossary import definition
from attnviz.ui.address import persistent, widgets

if TYPE_CHECKING:
    from attnviz.models.protocol import Model
    from attnviz.tracing.trace import Trace

_ID = re.compile(r"#(0|[1-9][0-9]{0,8})")


def name_of(loaded: "Model", id_: int) -> str:
    """A token as pictures show it."""
    tokens = loaded.decode_ids([id_])[1]
    return (display_token(tokens[0]) if tokens else "") or f"id {id_}"


def id_of(loaded: "Model", trace: "Trace", asked: str) -> int | None:
    """The id that a text asks for: typed, or `#` and a number; None for "".

    Raises ValueError for what is no token of this model, or several.
    """
    if not asked.strip():
        return None
    assert trace.logits is not None  # whoever asks for a token's logit has some
    vocab_size = trace.logits.shape[-1]
    if found := _ID.fullmatch(asked):
        if int(found[1]) < vocab_size:
            return int(found[1])
        raise ValueError(f"There is no token {found[1]}. The vocabulary has {vocab_size}.")
    pieces = loaded.encode_target(asked, to=trace.to)
    if len(pieces) == 1:
        return pieces[0].id
    shown = " ".join(f"“{display_token(piece)}”" for piece in pieces[:8])
    what = f"{len(pieces)} tokens for this model ({shown})" if pieces else "not a token of this model"
    raise ValueError(f"“{asked[:60]}” is {what}. Choose one of its tokens.")


def token_list(name: str, label: str, options: Sequence[str], value: str, names: dict[str, str]) -> None:
    """A list of tokens, `#id` each with its name; what is typed instead goes into the address as it is."""
    listed = list(dict.fromkeys((*options, value)))

    def draw(**more: Any) -> Any:
        return st.selectbox(
            label,
            listed,
            format_func=lambda option: names[option] if option in names else str(option),
            accept_new_options=True,
            help=definition(label),
            **more,
        )

    key = f"pick-{name}"
    widgets.show(
        key, value, {"index": listed.index(value)}, draw, lambda: persistent.write({name: st.session_state[key]})
    )
