"""What the browser is sent for a tab, made once for a text and kept for the choices that follow; the view beside it."""

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st

from attnviz.tracing.bare_weights import BareWeights
from attnviz.views.binary import packed, unpacked

if TYPE_CHECKING:
    from attnviz.tracing.trace import Trace

Made = TypeVar("Made")


def payload(trace: "Trace", how: tuple[Any, ...], view: dict[str, Any], *, make: Callable[[], bytes]) -> bytes:
    """`make()`, or what it gave before for the same weights, sentences and `how`; with `view` in its header."""
    header, blobs = unpacked(value(trace, how, make=make))
    return packed({**header, "view": view}, bytes(blobs))


def value(trace: "Trace", how: tuple[Any, ...], *, make: Callable[[], Made]) -> Made:
    """`make()`, or what it gave before for the same weights, sentences and `how`.

    What is made of a visitor's own weights is kept for that visitor alone, and goes when they leave.
    """
    said = repr((trace.model_id, trace.info.dtype, trace.sentences, how))
    made = _made_of_own if isinstance(trace, BareWeights) else _made
    return made(hashlib.blake2b(said.encode("utf-8", "surrogatepass")).hexdigest(), make)


@st.cache_resource(max_entries=16, show_spinner="Making every head's map …")
def _made(name: str, _make: Callable[[], Made]) -> Made:
    return _make()


@st.cache_resource(max_entries=8, scope="session", show_spinner="Making every head's map …")
def _made_of_own(name: str, _make: Callable[[], Made]) -> Made:
    return _make()
