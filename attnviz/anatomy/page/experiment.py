"""One attention site run on the input in the top bar and a second one as a batch: two sentences, or an image and its
mirror image.

Also the tabs of Anatomy and Implementations, and the terms of the open tab.
"""

import html
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from functools import cached_property, partial
from typing import TypeVar

import streamlit as st

from attnviz.analysis.inputs import observed_inputs, site_inputs, site_module
from attnviz.analysis.projections import NotPlain, Projections, projections
from attnviz.analysis.rerun import batch_of_two
from attnviz.anatomy.numbers.shape_walk import LAYOUTS
from attnviz.anatomy.numbers.skipped_lines import SKIPS
from attnviz.app import captions, layout
from attnviz.app.address import persistent, widgets
from attnviz.app.cache import budget, traces
from attnviz.app.cache.bounded import BoundedCache
from attnviz.app.markdown import literal
from attnviz.app.progress import run_then_give_way
from attnviz.app.request import Request
from attnviz.implementations.scoring import Scoring
from attnviz.implementations.site_inputs import SiteInputs
from attnviz.implementations.weights import SiteWeights
from attnviz.kit.fields import choice, index, read, text, whole_number, write
from attnviz.kit.glossary import definition, words_on
from attnviz.kit.views.labels import KINDS
from attnviz.models.facts import any_input
from attnviz.models.protocol import Model
from attnviz.models.translator.translator import Translator
from attnviz.text.entries import token_texts
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Kind, Site

TABS = {
    "walk": "Shape walk",
    "skip": "Skip a line",
    "memory": "Memory order",
    "claims": "Claims",
    "counts": "Shapes and counts",
    "modulation": "Self-attention? Not really",
}
MOST_LINES = 40
SECONDS = ("I love you.", "Hello.")  # defaults of the second sentence, for a long and for a short typed one
SHORT, MAX_SECOND = 6, 200
MIRRORED = "The second image of the batch is the mirror image of the first, which always has the same size."
_WATCHED = "The quick brown fox jumps over the lazy dog."

ELSEWHERE = (
    "Heads and Masks show its queries, keys and values. This page needs a model with W_q, W_k, W_v and W_o at each "
    "site (BERT, GPT-2, BART; with their own positions, Llama, Qwen, Pythia, T5 …)"
)


AS_IT_IS = "This page shows the site unchanged and ignores the changes made on other pages"

SHARED = (
    "The {heads} heads of this site share keys and values in {groups} groups. Here each head has its own copy of its "
    "group's rows of W_k and W_v, which gives the same attention."
)


@dataclass(frozen=True)
class SiteState:
    """The part of a link that chooses a site, a head, and the second sentence of the batch."""

    kind: Kind = choice("encoder_self")
    layer: int = index(of="layer")
    head: int = index(of="head")
    second: str = text(SECONDS[0], limit=MAX_SECOND)

    def to_params(self) -> dict[str, str]:
        """Return every field as an address parameter."""
        return write(self)


ThisView = TypeVar("ThisView", bound=SiteState)


def _read_state(view: type[ThisView], trace: Trace) -> ThisView:
    """Parse the view from the address. Invalid values are reported above the picture."""
    start, texts = view(kind=trace.kinds[0], second=_default_second(trace)), persistent.texts()
    there = {"kind": trace.kinds, "layer": trace.n_layers, "head": trace.n_heads}
    kind = read(view, texts, there, start)[0].kind
    there |= dict(zip(("layer", "head"), trace.shape(kind), strict=True))  # decoder and encoder may differ in size
    found, problems = read(view, texts, there, start)
    layout.note(*persistent.linked_problems(problems))
    return found


@dataclass(frozen=True, eq=False)
class SiteExperiment:
    """The run on view with a second item: the request, the trace of each item, and the trace of both as a batch."""

    request: Request
    trace: Trace
    second: Trace
    batch: Trace
    view: SiteState

    @property
    def model(self) -> Model:
        """The model that ran."""
        return traces.model(self.request.entry.name)

    @property
    def item(self) -> str:
        """The noun for an item of the batch."""
        return "image" if self.trace.sentences[0].images else "sentence"

    @property
    def items(self) -> tuple[str, str]:
        """The names of the two items of the batch."""
        return ("image", "mirror image") if self.item == "image" else ("typed sentence", "second sentence")

    @cached_property
    def inputs(self) -> SiteInputs:
        """The site's weights, inputs and mask for both items of the batch.

        Raise ValueError for a site that does not consist of four projections.
        """
        return self._inputs(self.batch)

    @cached_property
    def first_alone(self) -> SiteInputs:
        """The site's weights and inputs for the first item alone, without padding."""
        return self._inputs(self.trace)

    @cached_property
    def second_alone(self) -> SiteInputs:
        """The site's weights and inputs for the second item alone, without padding."""
        return self._inputs(self.second)

    def weights(self, sites: Sequence[Site]) -> dict[Site, SiteWeights]:
        """Return the projections of several sites.

        Raise ValueError with a message of one sentence if one does not consist of four projections.
        """
        if isinstance(self.model, Translator):
            return {site: SiteWeights.from_module(site_module(self.model, site)) for site in sites}
        found = _find_projections((self.trace.model_id, *map(str, sites)), self.model, tuple(sites))
        for site, one in found.items():
            if isinstance(one, NotPlain):
                name = f"{_kind_name(site.kind)} of layer {self.trace.layer_number(site.kind, site.layer)}"
                raise ValueError(f"{name} cannot be taken apart: {one.why}. {ELSEWHERE}.")
        return found  # type: ignore[return-value]  # none of them is NotPlain

    def _inputs(self, trace: Trace) -> SiteInputs:
        site = Site(self.view.kind, self.view.layer)
        if isinstance(self.model, Translator):
            return site_inputs(self.model, trace, *astuple(site))
        return observed_inputs(self.weights([site])[site], trace, *astuple(site))

    def labels(self, item: int = 0) -> tuple[list[str], list[str]]:
        """Return the display texts of query and key tokens for one sentence of the batch."""
        kind = self.view.kind
        return token_texts(self.batch.query_tokens(kind, item)), token_texts(self.batch.key_tokens(kind, item))

    @property
    def tokens(self) -> dict[str, list[list[str]]]:
        """The tokens along both length dimensions, a list for each sentence."""
        rows, cols = zip(*(self.labels(item) for item in range(len(self.batch.sentences))), strict=True)
        return {"q_len": list(rows), "k_len": list(cols)}

    @property
    def name(self) -> str:
        """The site in words."""
        return f"{_kind_name(self.view.kind)}, {self.trace.layer_name(self.view.kind, self.view.layer)}"


def open_page(
    request: Request, state: type[ThisView], page: str, tabs: Mapping[str, str]
) -> "tuple[SiteExperiment, ThisView]":
    """Draw the controls that all tabs of a page share, and its tabs. Return the experiment on the chosen site, and the
    page's state.
    """
    trace = layout.trace_or_refuse(request, traces.full_trace)
    view = _read_state(state, trace)
    _draw_site(trace, view)
    _draw_tabs(page, tabs, vars(view)["tab"])  # each page has tabs of its own
    return layout.run_or_refuse(lambda: _site_experiment(request, trace, view)), view


def _site_experiment(request: Request, trace: Trace, view: SiteState) -> SiteExperiment:
    """Run a site on two sentences, or on an image and its mirror image.

    Raise ValueError if the second sentence cannot be tokenized, or if the site does not consist of four projections.
    """
    key = (trace.model_id, *request.to_params().values(), view.second)
    model = traces.model(request.entry.name)
    second, batch = _pairs.get(key, read=lambda *_: _pair(model, view.second, trace))
    made = SiteExperiment(request, trace, second, batch, view)
    weights = made.inputs.weights  # raises before anything is drawn if the site is unsupported
    if weights.n_groups < weights.n_heads:
        layout.note(SHARED.format(groups=weights.n_groups, heads=weights.n_heads))
    captions.set_caption(trace, request.entry, site=f"{made.name} H{view.head}")
    return made


def _draw_site(trace: Trace, view: SiteState) -> None:
    """Draw the controls for kind, layer, head and second sentence, side by side. An image needs no second one."""
    layers, heads = map(range, trace.shape(view.kind))
    with st.container(key="site"):
        wide = 5 if trace.own_numbers(view.kind) else 0  # space for the layer's index in the model
        columns = st.columns([26 - wide, 10 + wide, 10, 54], gap="small")
    with columns[0]:
        widgets.select("kind", "Site", trace.kinds, view.kind, _kind_name, means=explain_terms("Site"))
    with columns[1]:
        named = partial(trace.layer_name, view.kind)
        widgets.select("layer", "Layer", layers, view.layer, named, means=explain_terms("Layer"))
    with columns[2]:
        widgets.select("head", "Head", heads, view.head, lambda head: f"H{head}", means=explain_terms("Head"))
    with columns[3]:
        if trace.sentences[0].images:
            st.caption(MIRRORED)
            return
        widgets.text_field(
            "second",
            "Second sentence of the batch",
            view.second,
            limit=MAX_SECOND,
            help_text=explain_terms("Second sentence of the batch"),
        )


def _kind_name(kind: str) -> str:
    return KINDS[kind].name if kind in KINDS else kind


def _default_second(trace: Trace) -> str:
    """Return a second sentence whose length differs from the typed one's."""
    return SECONDS[0] if len(trace.sentences[0].src or trace.sentences[0].tgt) > SHORT else SECONDS[1]


_pairs: BoundedCache[tuple[str, ...], tuple[Trace, Trace]] = BoundedCache(
    most=budget.bytes_for("pairs"), size=lambda pair: pair[0].nbytes() + pair[1].nbytes()
)


def _pair(model: Model, second: str, trace: Trace) -> tuple[Trace, Trace]:
    other = run_then_give_way(lambda: _second(model, second, trace))
    return other, run_then_give_way(lambda: batch_of_two(model, trace, other))


def _second(model: Model, second: str, trace: Trace) -> Trace:
    """Run the second item of the batch: the second sentence, or the mirror image of an image."""
    first = trace.sentences[0]
    if not first.images:
        return traces.run(model, second, to=trace.to)
    mirrored = [replace(image, pixels=image.array[:, ::-1].tobytes()) for image in first.images]
    return model.rerun(replace(trace, sentences=(replace(first, images=tuple(mirrored)),)))


@st.cache_resource(max_entries=16, show_spinner=False)
def _find_projections(key: tuple[str, ...], _model: Model, _sites: tuple[Site, ...]) -> Projections:
    """Find the projections on a text or image of our own, because all visitors share the result.

    A visitor's text may be too short, since a single token, for example, reveals no rotation by position.
    """
    sample = any_input(_model) if _model.inputs.is_image else _WATCHED
    watched = traces.run(_model, sample, to=_model.languages[0] if _model.languages else "")
    return projections(_model, watched, _sites)


def explain_terms(*names: str) -> str:
    """Return the definitions of terms as Markdown for a widget's `help`."""
    if len(names) == 1:
        return literal(definition(names[0]))
    return "\n\n".join(f"**{literal(name)}**: {literal(definition(name))}" for name in names)


def _draw_tabs(page: str, parts: Mapping[str, str], chosen: str) -> None:
    """Draw the tabs of a page, and a button that opens the terms of the open tab."""
    with st.container(key="parts", horizontal=True, vertical_alignment="center", gap="small"):
        widgets.segments("tab", "Part of the page", parts, chosen, hide_label=True)
        terms = {name: definition(name) for name in words_on(page, chosen)}
        listed = "".join(f"<dt>{html.escape(name)}</dt><dd>{html.escape(text)}</dd>" for name, text in terms.items())
        with st.popover("Words", help="Terms on this part of the page", key="words"):
            st.html(f"<dl class='words' tabindex='0'>{listed}</dl>")


@dataclass(frozen=True)
class AnatomyState(SiteState):
    """State of the page Anatomy.

    `line` is the line of attention code on view in the shape walk, and `skip` the line that is left out or changed.
    """

    tab: str = choice("walk", tuple(TABS))
    layout: str = choice("batch_first", LAYOUTS)
    line: int = whole_number(0, MOST_LINES)
    skip: str = choice("contiguous", tuple(SKIPS))


def learned_numbers_text(weights: SiteWeights) -> str:
    """Return the number of a site's trainable parameters, with the reasons why it differs from 4 d_model²."""
    told = [f"This site: {weights.n_learned:,}"]
    heads, groups = weights.n_heads, weights.n_groups
    if groups < heads:
        told.append(
            f"{heads} heads share keys and values in {groups} groups, {'a' if groups == 1 else 'each a'} W_k and W_v"
        )
    if weights.n_heads * weights.d_k != weights.d_model:
        told.append(f"d_k is {weights.d_k}, not d_model / heads")
    if not all(weights.has_bias):
        without = [f"W_{role}" for role, has in zip("qkvo", weights.has_bias, strict=True) if not has]
        told.append("no biases" if len(without) == 4 else f"no bias at {', '.join(without)}")
    if weights.scoring.q_norm or weights.scoring.k_norm:
        told.append("and the gains of the norms of queries and keys")
    if weights.scoring.bias is not None:
        told.append("not counting the table of distance biases, which layers share")
    return "; ".join(told) + "."


def extra_steps_text(scoring: Scoring) -> str:
    """Return the steps on queries, keys and scores besides query · key / √d_k; "" if there are none."""
    done = (
        ("queries and keys are normalised", scoring.q_norm or scoring.k_norm),
        ("queries and keys are rotated by position", scoring.rotation),
        ("scores have their own scale", scoring.scale is not None),
        ("a bias for the distance is added to the scores", scoring.bias),
    )
    return ", ".join(said for said, is_so in done if is_so)


def scale_name(weights: SiteWeights) -> str:
    """Return words that name the scale of a site."""
    is_own = weights.scoring.scale is not None and not weights.is_unscaled
    return f"with its own scale, {weights.scale:.4g}" if is_own else "with 1/√d_k"
