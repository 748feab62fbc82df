"""What the pictures of this page are captioned with when they are saved; a page says it once, after its run."""

import hashlib
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.views import captions
from attnviz.views.captions import Caption
from attnviz.views.interventions import all_in_words
from attnviz.widgets.wire import Payload

if TYPE_CHECKING:
    from attnviz.models.catalogue import Entry
    from attnviz.tracing.trace_like import TraceLike

_CAPTION = "picture-caption"


def about(trace: "TraceLike", model: "str | Entry", *, site: str = "", **which) -> None:
    """Say what this run's pictures are of: a model by its entry, or in words; `which` as for `captions.sentence`."""
    name = model if isinstance(model, str) else f"{model.title}, weights {trace.model_id}"
    name = "; ".join((name, *dict.fromkeys(filter(None, map(trace.attending, trace.kinds)))))
    if trace.interventions:
        name = f"{name}; changes to the run: {all_in_words(trace.interventions)}"
    st.session_state[_CAPTION] = Caption(captions.sentence(trace, **which), name, site)


def on(payload: Payload, *, site: str = "") -> Payload:
    """A payload with this run's caption; the widget knows kind, layer and head, or `site` says them."""
    return captioned(payload, replace(_current(), site=site))


def captioned(payload: Payload, caption: Caption) -> Payload:
    """A payload with a caption in its header; the same picture under another caption has another id."""
    told = asdict(caption)
    name = hashlib.blake2b(f"{payload.header['id']}{told}".encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return payload._replace(header={**payload.header, "id": name, "caption": told})


def lines(site: str | None = None) -> list[str]:
    """The caption of a figure; `site` instead of what the page says, where the figure is of another one."""
    caption = _current()
    return (caption if site is None else replace(caption, site=site)).lines()


def of_model() -> list[str]:
    """The caption of a figure that no sentence has a part in."""
    return [_current().model]


def _current() -> Caption:
    return st.session_state.get(_CAPTION) or Caption("", "attnviz")
