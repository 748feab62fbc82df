"""What is kept between runs of a page: models and traces, shared by all visitors, in bounded caches.

Torch is imported when the first model is asked for, after the page's input has been drawn.
"""

import gc
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.models.catalogue import Entry

if TYPE_CHECKING:
    from attnviz.models.translator import Translator
    from attnviz.tracing.trace import Trace


@dataclass(frozen=True)
class Request:
    """What the top bar asks for; an empty `tgt` means that the model translates."""

    entry: Entry
    src: str
    to: str
    tgt: str = ""

    def to_params(self) -> dict[str, str]:
        """As the texts that stand in a link."""
        return {"model": self.entry.name, "src": self.src, "to": self.to, "tgt": self.tgt}


@st.cache_resource(max_entries=2, show_spinner="Loading the model …")
def model(name: str) -> "Translator":
    """A model of the catalogue, loaded once for all visitors."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch: threads that spin starve each other
    import torch

    from attnviz.models.catalogue import load

    torch.set_num_threads(int(os.environ.get("ATTNVIZ_THREADS", "1")))  # sentences are short, visitors are many
    loaded = load(name)
    loaded.translate("Hello.", to=loaded.languages[0])  # the first run allocates and compiles; let nobody wait for it
    gc.collect()
    gc.freeze()  # what exists now lives as long as the server: later collections skip it
    return loaded


@st.cache_resource(max_entries=64, show_spinner=False)
def _trace(name: str, weights: str, src: str, to: str, tgt: str) -> "Trace":
    return model(name).trace(src, to=to, tgt_text=tgt or None)


def trace(request: Request) -> "Trace":
    """The trace of a request, from the cache if anybody asked before. Raises ValueError with one sentence."""
    weights = model(request.entry.name).model_id
    return _trace(request.entry.name, weights, request.src, request.to, request.tgt)
