"""One attention site on the bench: the typed sentence and a second one as a batch, and what the site is made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import streamlit as st

from attnviz.analysis.rerun import batch_of_two
from attnviz.analysis.site.case import site_case
from attnviz.implementations.case import Case
from attnviz.models.translator.translator import Translator
from attnviz.text.entries import token_texts
from attnviz.text.tokens import Token
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Kind
from attnviz.ui import captions, layout
from attnviz.ui.address import persistent, widgets
from attnviz.ui.address.fields import choice, index, read, text, write
from attnviz.ui.cache import traces
from attnviz.ui.request import Request
from attnviz.ui.site.terms import explained
from attnviz.views.labels import KINDS

SECONDS = ("I love you.", "Hello.")  # the second sentence, if nobody types one: the first that is the shorter of both
SHORT, MAX_SECOND = 6, 200

ONLY_TRANSLATOR = (
    "This page takes a site apart into W_q, W_k, W_v and W_o, as attnviz's own attention has them. A checkpoint keeps "
    "its projections in ways of its own (fused, rotated, shared by groups of heads), of which attnviz sees the query, "
    "key and value that come out: look at those on Heads and Masks, or choose the built-in translator here."
)


@dataclass(frozen=True)
class SiteState:
    """The part of a link that chooses a site, a head and the second sentence of the batch."""

    kind: Kind = choice("encoder_self")
    layer: int = index(of="layer")
    head: int = index(of="head")
    second: str = text(SECONDS[0], limit=MAX_SECOND)

    def to_params(self) -> dict[str, str]:
        """Every field as the text that stands in a link."""
        return write(self)


ThisView = TypeVar("ThisView", bound=SiteState)


def view_of(view: type[ThisView], trace: Trace) -> ThisView:
    """The view that the address asks for; what it asks wrongly is said above the picture."""
    there = {"kind": trace.kinds, "layer": trace.n_layers, "head": trace.n_heads}
    start = view(kind=trace.kinds[0], second=_shorter(trace))
    found, problems = read(view, persistent.texts(), there, start)
    layout.note(*persistent.of_link(problems))
    return found


@dataclass(frozen=True, eq=False)
class SiteExperiment:
    """A request, its trace, the second sentence's trace, and the batch of two that both make."""

    request: Request
    trace: Trace
    second: Trace
    batch: Trace
    view: SiteState

    @property
    def model(self) -> Translator:
        """The model that ran. Raises ValueError for one that cannot be taken apart."""
        return _translator(self.request.entry.name)

    @cached_property
    def case(self) -> Case:
        """The site's weights, inputs and mask, for both sentences."""
        return site_case(self.model, self.batch, self.view.kind, self.view.layer)

    @cached_property
    def alone(self) -> Case:
        """The same site for the typed sentence alone, without padding."""
        return site_case(self.model, self.trace, self.view.kind, self.view.layer)

    @cached_property
    def second_alone(self) -> Case:
        """The same for the second sentence."""
        return site_case(self.model, self.second, self.view.kind, self.view.layer)

    def labels(self, item: int = 0) -> tuple[list[str], list[str]]:
        """The query tokens and key tokens of one sentence of the batch, safe to show."""
        kind = self.view.kind
        return texts(self.batch.query_tokens(kind, item)), texts(self.batch.key_tokens(kind, item))

    @property
    def tokens(self) -> dict[str, list[list[str]]]:
        """The tokens along both axes of length, a list for each sentence."""
        rows, cols = zip(*(self.labels(item) for item in range(len(self.batch.sentences))), strict=True)
        return {"q_len": list(rows), "k_len": list(cols)}

    @property
    def name(self) -> str:
        """The site in words."""
        return f"{_named(self.view.kind)}, L{self.view.layer}"


def site_experiment(request: Request, trace: Trace, view: SiteState) -> SiteExperiment:
    """Put a site on the bench. Raises ValueError for a second sentence that cannot be read, and for a checkpoint whose
    projections are not the package's own.
    """
    key = (trace.model_id, *request.to_params().values(), view.second)
    second, batch = _pair(key, _translator(request.entry.name), view.second, _trace=trace)
    made = SiteExperiment(request, trace, second, batch, view)
    captions.about(trace, request.entry, site=f"{made.name} H{view.head}")
    return made


def site(trace: Trace, view: SiteState) -> None:
    """Kind, layer, head and second sentence, side by side."""
    with st.container(key="site"):
        columns = st.columns([26, 10, 10, 54], gap="small")
    with columns[0]:
        widgets.select("kind", "Site", trace.kinds, view.kind, _named, means=explained("Site"))
    with columns[1]:
        widgets.select(
            "layer", "Layer", range(trace.n_layers), view.layer, lambda layer: f"L{layer}", means=explained("Layer")
        )
    with columns[2]:
        widgets.select(
            "head", "Head", range(trace.n_heads), view.head, lambda head: f"H{head}", means=explained("Head")
        )
    with columns[3]:
        widgets.text_field(
            "second",
            "Second sentence of the batch",
            view.second,
            limit=MAX_SECOND,
            help_text=explained("Second sentence of the batch"),
        )


def _named(kind: str) -> str:
    return KINDS[kind].name if kind in KINDS else kind


def texts(tokens: Sequence[Token]) -> list[str]:
    """Tokens as they can be shown; each knows what the vocabulary has for it."""
    return token_texts(tokens)


def _shorter(trace: Trace) -> str:
    """A second sentence that makes a batch of two lengths with the typed one."""
    return SECONDS[0] if len(trace.tokens("src")) > SHORT else SECONDS[1]


@st.cache_resource(max_entries=16, show_spinner=False)
def _pair(key: tuple[str, ...], _model: Translator, second: str, *, _trace: Trace) -> tuple[Trace, Trace]:
    other = _model.trace(second, to=_trace.to)
    return other, batch_of_two(_model, _trace, other)


def _translator(name: str) -> Translator:
    model = traces.model(name)
    if not isinstance(model, Translator):
        raise ValueError(ONLY_TRANSLATOR)
    return model
