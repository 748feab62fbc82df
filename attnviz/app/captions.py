"""The caption that exported pictures of a page carry. A page sets it once, after the model has run."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from attnviz.kit.views.captions import Caption, caption_of, with_caption
from attnviz.kit.wire import Payload

if TYPE_CHECKING:
    from attnviz.models.catalogue import Entry
    from attnviz.tracing.trace_like import TraceLike

_CAPTION = "picture-caption"


def set_caption(trace: "TraceLike", model: "str | Entry", **which: Any) -> None:
    """Set this page's caption. `model` is an entry or a description in words; `which` is passed to `caption_of`."""
    name = model if isinstance(model, str) else f"{model.title}, weights {trace.model_id}"
    st.session_state[_CAPTION] = caption_of(trace, name, **which)


def add_caption(payload: Payload, *, site: str = "") -> Payload:
    """Add this page's caption to a payload. `site` names kind, layer and head if the widget does not."""
    return with_caption(payload, replace(current_caption(), site=site))


def lines(site: str | None = None) -> list[str]:
    """Return the lines of a figure's caption; `site` replaces the page's kind, layer and head if the figure has
    others.
    """
    return (current_caption() if site is None else replace(current_caption(), site=site)).lines()


def of_model() -> list[str]:
    """Return the caption of a figure that does not depend on the sentence."""
    return [current_caption().model]


def current_caption() -> Caption:
    """Return this page's caption."""
    return st.session_state.get(_CAPTION) or Caption("", "attnviz")
