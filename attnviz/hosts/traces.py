"""Pictures of a trace: Heads and the other tabs of its page.

With the `model` that made the trace, pictures can also show what the trace alone does not contain.
"""

from dataclasses import replace
from functools import partial

from attnviz.analysis.metric_table import METRICS
from attnviz.guards.arguments import reads_arguments
from attnviz.heads.alignment.alignment import AlignmentState, alignment
from attnviz.heads.alignment.numbers.alignment_ways import KnownMaps
from attnviz.heads.every_head.every_head import OneRowState, WholeModelState, one_row, whole_model
from attnviz.heads.flow.flow import FlowState, flow
from attnviz.heads.heads import heads
from attnviz.heads.heads_state import HeadsState
from attnviz.heads.links.links import LinksState, links
from attnviz.heads.neuron.neuron import NeuronState, neuron
from attnviz.kit.caching import NO_HELP, Host, make_anew
from attnviz.kit.covering import NOTHING, Covering
from attnviz.kit.focus import SiteBounds
from attnviz.kit.subject import Subject, of_trace
from attnviz.kit.wire import Payload
from attnviz.maps.options import MapOptions
from attnviz.models.protocol import Model
from attnviz.spans.spans import NO_MODEL, SpansState, bounds_of, spanned_text, spans
from attnviz.tracing.causes.switches import Head, heads_off, switch_heads_off
from attnviz.tracing.trace import Trace
from attnviz.tracing.trace_like import TraceLike
from attnviz.transformer.probe import Kind

EVERYTHING = 1 << 40  # bytes; no limit
_PLAIN = MapOptions()


@reads_arguments
def heads_of(
    trace: TraceLike, *, model: Model | None = None, covering: Covering = NOTHING,
    quadrant: tuple[int, int] | None = None, host: Host = NO_HELP,
) -> Subject:  # fmt: skip
    """Show every head's map.

    With the model, heads can be switched off, and cells can show what heads write. `covering` hides what an open
    question asks about; `quadrant` is explained at `HeadsPicture`.
    """
    cached = make_anew if trace.from_file else host.cached  # uploaded maps would fill the shared cache
    shapes: dict[Kind, tuple[int, int]] = {kind: trace.shape(kind) for kind in trace.kinds}
    start = HeadsState(trace.kinds[-1], off=tuple(sorted(heads_off(trace.interventions, shapes))))

    def draw(state: HeadsState, **how: int) -> Payload:
        more = {"model": model, "covering": covering, "quadrant": quadrant, "cached": cached, **how}
        return heads(_run(trace, start, state, model), state, **more)

    bounds = {"sort": ("layout", *METRICS), "tint": ("none", *METRICS), "pins": SiteBounds({**shapes})}
    alone = () if model is not None and isinstance(trace, Trace) else ("cells", "off")
    made = of_trace(trace, start, draw, model, bounds, ("plotly", "table", "npz", *alone))
    return replace(made, draw_whole=partial(draw, most=EVERYTHING))


@reads_arguments
def links_of(trace: TraceLike, *, options: MapOptions = _PLAIN, host: Host = NO_HELP) -> Subject:
    """Show two sentences as columns, with lines between their tokens.

    `options` can hide special tokens or merge pieces.
    """
    bounds = {
        "heads": lambda found: trace.shape(found["kind"]),
        "token": lambda found: {"q": len(trace.query_tokens(found["kind"])), "k": len(trace.key_tokens(found["kind"]))},
    }

    def draw(state: LinksState) -> Payload:
        return links(trace, state, options=options, cached=host.cached)

    return of_trace(trace, LinksState(trace.kinds[-1]), draw, bounds=bounds)


@reads_arguments
def whole_model_of(trace: TraceLike, *, options: MapOptions = _PLAIN, host: Host = NO_HELP) -> Subject:
    """Show every head of every layer as a small map. `options` can hide special tokens or merge pieces."""

    def draw(state: WholeModelState) -> Payload:
        return whole_model(trace, state, options=options, cached=host.cached)

    return of_trace(trace, WholeModelState(trace.kinds[-1]), draw, unanswered=("open",))


@reads_arguments
def one_row_of(trace: TraceLike, *, options: MapOptions = _PLAIN, host: Host = NO_HELP) -> Subject:
    """Show one row in every head of every layer. `options` can hide special tokens or merge pieces."""

    def draw(state: OneRowState) -> Payload:
        return one_row(trace, state, options=options, cached=host.cached)

    return of_trace(trace, OneRowState(trace.kinds[-1]), draw, unanswered=("open",))


@reads_arguments
def neuron_of(trace: TraceLike, *, host: Host = NO_HELP) -> Subject:
    """Show the query and key vectors behind one weight of a head.

    Raises ValueError for a trace without queries and keys.
    """
    if trace.weights_only and host.is_strict:
        raise ValueError(f"Neuron needs queries and keys: {trace.missing_reason or 'this trace has only weights.'}")
    bounds = {"key": lambda found: len(trace.key_tokens(found["kind"]))}
    return of_trace(trace, NeuronState(trace.kinds[-1]), lambda state: neuron(trace, state), bounds=bounds)


@reads_arguments
def alignment_of(trace: TraceLike, *, model: Model | None = None, host: Host = NO_HELP) -> Subject:
    """Show from which source word each target word comes. Raises ValueError for a trace without cross-attention."""
    if "cross" not in trace.kinds and host.is_strict:
        raise ValueError("Alignment needs cross-attention, and this trace has none: trace a model that translates.")
    known = _known_maps(model, trace, host)

    def draw(state: AlignmentState) -> Payload:
        made = alignment(trace, state, known=known, language=host.language, rates=host.rates, cached=host.cached)
        if host.is_strict and state.way not in ("", made.header["view"]["way"]):
            raise ValueError(f"way={state.way!r} cannot be shown: this trace has no such way of aligning.")
        return made

    return of_trace(trace, AlignmentState(), draw, model)


@reads_arguments
def flow_of(trace: TraceLike, *, model: Model | None = None, host: Host = NO_HELP) -> Subject:
    """Trace a row of the last layer back to the text, by rollout and, with the model, also by ALTI."""
    known = _known_maps(model, trace, host)

    def draw(state: FlowState) -> Payload:
        made = flow(trace, state, known=known, rates=host.rates, cached=host.cached)
        if host.is_strict and state.by == "alti" != made.header["view"]["by"]:
            why = "give the model that made the trace, model=…" if known is None else known.missing_reason("ALTI")
            raise ValueError(f"by='alti' cannot be shown: {why}.")
        return made

    return of_trace(trace, FlowState(), draw, model, {"row": len(trace.query_tokens(trace.kinds[-1]))})


@reads_arguments
def spans_of(trace: TraceLike, *, model: Model | None = None, host: Host = NO_HELP) -> Subject:
    """Show how much an answer attends to each part of its prompt and, with the model, how the answer changes
    without each.

    Raises ValueError for a trace without a decoder.
    """
    spanned_text(trace)
    layers, heads = trace.shape("decoder_self")

    def draw(state: SpansState) -> Payload:
        made = _spans_hidden(trace, state, model, host)
        why = made.header["facts"]["why_no_norm"] or _needs_model(model)
        if host.is_strict and state.shares == "norm" and why:
            raise ValueError(f"shares='norm' cannot be shown: {why}")
        return made

    bounds = {**bounds_of(trace), "layer": layers, "head": heads, "focus": len(trace.sentences[0].tgt)}
    unanswered = () if model is not None and isinstance(trace, Trace) else ("shares", "hidden")
    return of_trace(trace, SpansState(), draw, model, bounds, unanswered)


def _spans_hidden(trace: TraceLike, state: SpansState, model: Model | None, host: Host) -> Payload:
    """Return the Spans picture; if the visitor stopped the runs with hidden spans, without them."""
    if not state.hidden:
        return spans(trace, state, model=model, cached=host.cached)
    made = host.run(
        "spans-hidden", (state.spans, state.answer, state.hidden), "Hiding each span in turn",
        lambda work: spans(trace, state, model=model, cached=host.cached, work=work),
    )  # fmt: skip
    return made or spans(trace, replace(state, hidden=""), model=model, cached=host.cached)


def _needs_model(model: Model | None) -> str:
    return NO_MODEL if model is None else ""


def _known_maps(model: Model | None, trace: TraceLike, host: Host) -> KnownMaps | None:
    find = host.find_maps or KnownMaps.find
    return find(model, trace) if model is not None and isinstance(trace, Trace) else None


def _run(trace: TraceLike, start: HeadsState, state: HeadsState, model: Model | None) -> TraceLike:
    """Return the trace, run again if other heads are off than when it was made."""
    if state.off == start.off:
        return trace
    if model is None or not isinstance(trace, Trace):
        raise ValueError("off=… cannot be shown: give the model that made the trace, model=…, to run it again.")
    off = [Head(*site) for site in state.off]  # type: ignore[arg-type]  # checked by rerun
    return model.rerun(replace(trace, interventions=switch_heads_off(trace.interventions, model.shapes, off)))
