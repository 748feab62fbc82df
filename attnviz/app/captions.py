"""The caption of the pictures of this run's page; a page says it once, after its run."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from attnviz.kit.captions import caption_of, with_caption
from attnviz.kit.views.captions import Caption
from attnviz.kit.wire import Payload

if TYPE_CHECKING:
    from attnviz.models.catalogue import Entry
    from attnviz.tracing.trace_like import TraceLike

_CAPTION = "picture-caption"


def set_caption(trace: "TraceLike", model: "str | Entry", **which: Any) -> None:
    """Set this page's caption: a model by its entry, or in words; `which` as for `caption_of`."""
    name = model if isinstance(model, str) else f"{model.title}, weights {trace.model_id}"
    st.session_state[_CAPTION] = caption_of(trace, name, **which)


def add_caption(payload: Payload, *, site: str = "") -> Payload:
    """Add this page's caption to a payload; the widget knows kind, layer and head, or `site` says them."""
    return with_caption(payload, replace(current_caption(), site=site))


def lines(site: str | None = None) -> list[str]:
    """Return the caption of a figure; `site` instead of the page's, where the figure is of another one."""
    return (current_caption() if site is None else replace(current_caption(), site=site)).lines()


def of_model() -> list[str]:
    """Return the caption of a figure that no sentence has a part in."""
    return [current_caption().model]


def current_caption() -> Caption:
    """Return this page's caption."""
    return st.session_state.get(_CAPTION) or Caption("", "attnviz")
