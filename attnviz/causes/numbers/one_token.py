"""The text of a token id in pictures, and the token id for a typed text."""

import re

from attnviz.models.protocol import Model
from attnviz.text.display import display_token
from attnviz.tracing.trace import Trace

_ID = re.compile(r"#(0|[1-9][0-9]{0,8})")


def name_of(model: Model, id_: int) -> str:
    """Return a token's text as pictures show it."""
    tokens = model.decode_ids([id_])[1]
    return (display_token(tokens[0]) if tokens else "") or f"id {id_}"


def id_of(model: Model, trace: Trace, asked: str) -> int | None:
    """Return the id for a text that is a token or `#` and a number; None for "".

    Raise ValueError if the text is no token of this model, or several tokens.
    """
    if not asked.strip():
        return None
    assert trace.logits is not None  # callers need logits anyway
    vocab_size = trace.logits.shape[-1]
    if found := _ID.fullmatch(asked):
        if int(found[1]) < vocab_size:
            return int(found[1])
        raise ValueError(f"There is no {_unit(trace)} {found[1]}. The model has {vocab_size}.")
    pieces = model.encode_target(asked, to=trace.to)
    if len(pieces) == 1:
        return pieces[0].id
    shown = " ".join(f"“{display_token(piece)}”" for piece in pieces[:8])
    unit = _unit(trace)
    what = f"{len(pieces)} {unit}s for this model ({shown})" if pieces else f"not a {unit} of this model"
    raise ValueError(f"“{asked[:60]}” is {what}. Please choose a single {unit}.")


def _unit(trace: Trace) -> str:
    """Return the noun for an entry of the model's logits: "label" if the model reads an image, otherwise "token"."""
    return "label" if trace.sentences[0].images else "token"
