"""The picture Spans: which part of the prompt the answer attends to, and which part it needs."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from attnviz.analysis.cancellable import TO_THE_END, Cancellable
from attnviz.analysis.mixing import known_maps
from attnviz.analysis.output_maps import OutputMap
from attnviz.analysis.projections import NotPlain
from attnviz.guards.arguments import reads_arguments
from attnviz.kit.browser_view import add_view
from attnviz.kit.caching import NO_HELP, Cache, Host, make_anew
from attnviz.kit.fields import MEAN, PageState, Say, choice, declare, flag, or_mean, whole_number
from attnviz.kit.payload import common_header, entries_of, payload_of
from attnviz.kit.picture import TabRules
from attnviz.kit.subject import Subject, of_trace
from attnviz.kit.wire import Blobs, Payload
from attnviz.maps.options import NORM
from attnviz.models.protocol import Model
from attnviz.spans.numbers.hidden import HiddenFrom, hide_spans
from attnviz.spans.numbers.shares import SpanReading, cut_to_keys, read_spans_of, span_norms, span_shares
from attnviz.spans.span_rules import RULES, SpannedText, default_rule, missing_reason, read_answer, read_spans
from attnviz.text.display import display, display_token
from attnviz.text.tokens import Span
from attnviz.tracing.trace import Trace
from attnviz.tracing.trace_like import TraceLike
from attnviz.transformer.probe import Site

if TYPE_CHECKING:
    import pandas as pd

NO_DECODER = (
    "Spans works only with the text of a decoder, but this model has no decoder. Please open a model that writes text."
)
NO_MODEL = "The model that made the trace is not given (model=…)."
CONTINUED = (
    "Spans needs all rows of the text, but this trace contains only the newest rows. Please trace the whole text."
)
MOST = 8_000_000  # maximum number of shares to send, 32 MB
_HIDDEN: dict[str, HiddenFrom] = {"answer": "answer", "later": "all later rows"}


def _checked(check: Callable[[str, SpannedText], Any], usual: str) -> Any:
    """Declare a state field whose text is valid only for a certain prompt, such as token ranges.

    `check(text, prompt)` raises ValueError for an invalid text, which is then replaced by the default.
    """

    def read(text: str, bound: SpannedText | None, default: str, say: Say) -> str:
        try:
            if bound is not None:
                check(text, bound)
        except ValueError as why:
            say(sentence=f"{str(why).removesuffix('.')}. {usual}")
            return default
        return text

    return declare("", read)


@dataclass(frozen=True)
class SpansState(PageState):
    """State of the Spans picture.

    `spans` and `answer` are in the notation of `attnviz.spans.span_rules` ("": the default). `shares` is weight or
    ‖αf(x)‖. `per_token` divides the shares by the number of tokens, and `first` includes the first token. `hidden` says
    from which rows each span is hidden. `focus` is the position of the answer token in view (None: the whole answer).
    """

    spans: str = _checked(read_spans, "The usual spans are shown.")
    answer: str = _checked(read_answer, "The usual answer is shown.")
    layer: int | str = or_mean(MEAN, of="layer")
    head: int | str = or_mean(MEAN, of="head")
    shares: str = choice("weight", {"weight": "Weight", "norm": "‖α f(x)‖"})
    per_token: bool = flag()
    first: bool = flag(default=True)
    hidden: str = choice("", {"": "No span", "answer": "From the answer", "later": "From all later rows"})
    focus: int | None = whole_number(used="the whole answer")


def spanned_text(trace: TraceLike) -> SpannedText:
    """Return the text from which spans are taken. Raise ValueError with a message of one sentence without a decoder."""
    if "decoder_self" not in trace.kinds:
        raise ValueError(NO_DECODER)
    sentence = trace.sentences[0]
    if sentence.first_row:
        raise ValueError(CONTINUED)
    return SpannedText.of(sentence.tgt, sentence.tgt_text, sentence.spans)


def bounds_of(trace: TraceLike) -> dict[str, Any]:
    """Return the bounds of the fields `spans` and `answer`; {} for a trace without a decoder."""
    if "decoder_self" not in trace.kinds:
        return {}
    sentence = trace.sentences[0]
    return dict.fromkeys(("spans", "answer"), SpannedText.of(sentence.tgt, sentence.tgt_text, sentence.spans))


def spans(
    trace: TraceLike, state: SpansState | None = None, *, model: Model | None = None, cached: Cache = make_anew,
    work: Cancellable = TO_THE_END,
) -> Payload:  # fmt: skip
    """Make the Spans picture of a trace. Raise ValueError if there is nothing to draw.

    Args:
        trace: a trace with a decoder.
        state: what the picture shows.
        model: the model that made the trace, for ‖αf(x)‖ and for runs with hidden spans.
        cached: function that caches expensive parts.
        work: receives the progress of the runs with hidden spans, and caches their results.
    """
    state = _within(trace, state or SpansState())
    spanned = spanned_text(trace)
    length = len(trace.key_tokens("decoder_self"))
    chosen = tuple(span for span in read_spans(state.spans, spanned) if span.start < length)
    answer = read_answer(state.answer, spanned)
    _check_size(trace, chosen, answer)
    why = _missing_reason(trace, model)
    own = _output_maps(model, trace, cached) if state.shares == "norm" and not why else why
    facts = SpanFacts(
        is_conversation=bool(spanned.turns),
        rule=_rule_of(state.spans, spanned),
        rules={name: (title, missing_reason(name, spanned)) for name, title in RULES.items()},
        why_no_norm=own if isinstance(own, str) else "",
        why_no_cause=why,
    )
    shares = state.shares if isinstance(own, list) else "weight"

    def make() -> Payload:
        return spans_payload(trace, chosen, answer, _read(trace, cut_to_keys(chosen, length), answer, own), facts)

    made = cached("spans", (trace, chosen, answer, shares, facts), make)
    if state.hidden:
        made = _add_cause(made, trace, state, (tuple(cut_to_keys(chosen, length)), answer), why, model, work)
    asked = {name: getattr(state, name) for name in ("spans", "answer", "shares", "hidden")}
    return add_view(with_asked(made, **asked), state)


def _within(trace: TraceLike, state: SpansState) -> SpansState:
    """Return the state with a layer and a head that the decoder has, because the encoder may have more of them."""
    if "decoder_self" not in trace.kinds:
        return state
    layers, heads = trace.shape("decoder_self")
    layer = state.layer if state.layer == MEAN or int(state.layer) < layers else MEAN
    head = state.head if state.head == MEAN or int(state.head) < heads else MEAN
    return replace(state, layer=layer, head=head)


def _read(trace: TraceLike, chosen: list[Span], answer: Span, own: list[OutputMap] | str) -> SpanReading:
    if isinstance(own, list) and isinstance(trace, Trace):
        return read_spans_of(span_norms(trace, own, chosen), chosen, answer)
    return read_spans_of(span_shares(trace, chosen), chosen, answer)


def _check_size(trace: TraceLike, chosen: Sequence[Span], answer: Span) -> None:
    layers, heads = trace.shape("decoder_self")
    size = layers * heads * (len(answer) + len(chosen)) * (len(chosen) + 3)
    if size > MOST:
        raise ValueError(
            f"An answer of {len(answer)} tokens and {len(chosen)} spans have {size:,} shares over all "
            f"heads, and at most {MOST:,} can be drawn. Please choose a shorter answer or fewer spans."
        )


def _rule_of(written: str, spanned: SpannedText) -> str:
    if not written.strip():
        return default_rule(spanned)
    return written.removeprefix("rule:") if written.startswith("rule:") else ""


def _missing_reason(trace: TraceLike, model: Model | None) -> str:
    """Return why the model cannot run again for this trace; "" if it can."""
    if trace.weights_only or not isinstance(trace, Trace):
        return "The trace has only attention weights."
    return NO_MODEL if model is None else ""


def _output_maps(model: Model | None, trace: TraceLike, cached: Cache) -> list[OutputMap] | str:
    """Return `W_o` of each layer, or a sentence that says why it is unknown."""
    assert model is not None  # checked by `_missing_reason`
    assert isinstance(trace, Trace)
    try:
        known = known_maps(NORM, model, trace, cached)
    except ValueError as why:
        return str(why)
    if isinstance(known, NotPlain):
        return f"‖αf(x)‖ is not known for this model: {known.why}."
    return [known[Site("decoder_self", at)] for at in range(trace.shape("decoder_self")[0])]  # type: ignore[index,misc]


def _add_cause(
    made: Payload, trace: TraceLike, state: SpansState, what: tuple[tuple[Span, ...], Span], why: str,
    model: Model | None, work: Cancellable,
) -> Payload:  # fmt: skip
    """Return the payload with the answer's log-probability when each span is hidden, or the reason why it is
    unknown.
    """
    chosen, answer = what
    if why or model is None or not isinstance(trace, Trace):
        return with_cause(made, None, state.hidden, why)
    try:
        table = hide_spans(model, trace, answer, chosen, hidden_from=_HIDDEN[state.hidden], work=work)
    except ValueError as reason:
        return with_cause(made, None, state.hidden, str(reason))
    return with_cause(made, table, state.hidden)


class SpansRules(TabRules):
    """Checks the fields `spans` and `answer` of the tab Spans against the text of the trace."""

    def bounds(self, trace: Any, shared: Any) -> Mapping[str, Any]:
        """Return the text from which spans and answer are taken."""
        return bounds_of(trace)


@dataclass(frozen=True)
class SpanFacts:
    """Facts shown beside the Spans picture.

    `rule` is the rule that made the spans ("" for spans by hand), and `rules` has each rule's title and why it finds
    nothing in this text. `why_no_norm` and `why_no_cause` say why ‖αf(x)‖ and runs with hidden spans are unavailable
    ("" if available).
    """

    is_conversation: bool = False
    rule: str = ""
    rules: Mapping[str, tuple[str, str]] | None = None
    why_no_norm: str = ""
    why_no_cause: str = ""


def spans_payload(
    trace: "TraceLike", spans: "Sequence[Span]", answer: "Span", reading: "SpanReading", facts: SpanFacts
) -> Payload:
    """Pack the data that the Spans component draws. `reading` must have the spans in the same order as `spans`."""
    blobs, tokens = Blobs(), trace.sentences[0].tgt
    layers, heads, *_ = reading.by_token.shape
    read = reading.by_span.nan_to_num(0)
    header = common_header("decoder_self", trace.kinds, blobs) | {
        "tokens": [display_token(token) for token in tokens],
        "entries": entries_of([[token] for token in tokens]),
        "joined": [at for at, token in enumerate(tokens) if not token.starts_word],
        "special": [at for at, token in enumerate(tokens) if token.is_special],
        "spans": [_span(span) for span in spans],
        "answer": [answer.start, answer.end],
        "columns": [display(name) for name in reading.columns],
        "lengths": list(reading.lengths),
        "layers": layers,
        "heads": heads,
        "numbers": list(trace.own_numbers("decoder_self")),
        "by_token": blobs.add(_float32(reading.by_token.numpy())),
        "by_span": blobs.add(_float32(read.numpy())),
        "unread": reading.by_span[0, 0].isnan().any(dim=-1).nonzero().flatten().tolist(),
        "facts": asdict(facts),
        "cause": None,
    }
    return payload_of(header, {}, blobs)


def with_cause(payload: Payload, table: "pd.DataFrame | None", hidden: str, why: str = "") -> Payload:
    """Return the payload with the `hide_spans` table of the effect of hiding each span, or with the reason why
    there is none.
    """
    lines = [] if table is None else table.to_dict("records")
    cause = {
        "hidden": hidden,
        "logprob": lines[0]["logprob"] if lines else None,
        "why": why,
        "lines": [
            [display(line["span"]), *(float(line[name]) for name in ("share", "without", "difference"))]
            for line in lines
        ],
    }
    name = hashlib.blake2b(f"{payload.header['id']}{json.dumps(cause)}".encode(), digest_size=8).hexdigest()
    return payload._replace(header={**payload.header, "cause": cause, "id": name})


def with_asked(payload: Payload, **asked: str) -> Payload:
    """Return the payload with the visitor's choices for which it was made, so that the browser recognises an outdated
    one.
    """
    name = hashlib.blake2b(f"{payload.header['id']}{json.dumps(asked)}".encode(), digest_size=8).hexdigest()
    return payload._replace(header={**payload.header, "asked": asked, "id": name})


def _span(span: "Span") -> dict[str, Any]:
    return {"name": display(span.name), "start": span.start, "end": span.end, "role": span.role}


def _float32(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values, dtype="<f4")


@reads_arguments
def spans_picture_of(trace: TraceLike, *, model: Model | None = None, host: Host = NO_HELP) -> Subject:
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
    """Return the Spans picture with the effect of hiding each span, if the state asks for it.

    If the visitor stops the passes of the model, the picture has no such effects.
    """
    if not state.hidden:
        return spans(trace, state, model=model, cached=host.cached)
    made = host.run(
        "spans-hidden", (state.spans, state.answer, state.hidden), "Hiding each span in turn",
        lambda work: spans(trace, state, model=model, cached=host.cached, work=work),
    )  # fmt: skip
    return made or spans(trace, replace(state, hidden=""), model=model, cached=host.cached)


def _needs_model(model: Model | None) -> str:
    return NO_MODEL if model is None else ""
