"""Picture of attention flow: from a row of the last layer back through the layers to the text.

The browser multiplies a residual share in, so that its slider needs no answer from Python.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from attnviz.analysis.mixing import Mix, alti_mixes, attention_mixes, mean_residual, sublayers
from attnviz.guards.arguments import reads_arguments
from attnviz.heads.alignment.alignment import NO_MODEL, Rates, shipped_rates
from attnviz.heads.alignment.numbers.alignment_ways import Aligner, KnownMaps, known_maps_of
from attnviz.heads.alignment.numbers.gold import gold_pairs
from attnviz.heads.alignment.numbers.max_flow import MOST as MOST_OF_FLOW
from attnviz.heads.alignment.numbers.max_flow import max_flow
from attnviz.heads.neuron.neuron import row_of
from attnviz.kit.browser_view import add_view
from attnviz.kit.caching import NO_HELP, Cache, Host, make_anew
from attnviz.kit.fields import PageState, Say, declare, flag, number, whole_number
from attnviz.kit.payload import LabelEntries, common_header, entries_of, payload_of
from attnviz.kit.picture import TabRules
from attnviz.kit.subject import Subject, of_trace
from attnviz.kit.wire import Blobs, Payload
from attnviz.maps.grouping import Groups
from attnviz.maps.selection import query_groups
from attnviz.models.protocol import Model
from attnviz.text.display import display_token
from attnviz.text.languages import language_name
from attnviz.tracing.trace_like import TraceLike

if TYPE_CHECKING:
    from attnviz.analysis.contributions import Contributions
    from attnviz.text.tokens import Token
    from attnviz.transformer.probe import Kind

MOST = 4_000_000  # values that the browser multiplies: more than twelve layers of 512 tokens
BARE = "ALTI needs the values, and the file has only weights"
LEAST = "Flow starts with {}, because this method has a lower alignment error than the other one (of ALTI and rollout)."
UNKNOWN = "No alignment errors were measured for this model, so Flow starts with rollout and a residual share of 0.50."
_TO_COMPARE = (
    ("attribution", "attribution"), ("mean of heads", "weights, mean of heads"), ("ALTI", "ALTI"),
    ("rollout, measured residual", "rollout, measured share"), ("rollout", "rollout, share 0.50"),
    ("max flow", "maximum flow, share 0.50"), ("diagonal", "the diagonal"),
)  # fmt: skip
_METHODS = {"rollout": "Rollout", "alti": "ALTI"}


@dataclass(frozen=True)
class FlowFacts:
    """Facts shown beside the Flow picture.

    `measured` is the measured share of the residual, 0 to 1, or None. `why_no_alti` and `why_no_flow` say why ALTI or
    maximum flow is unavailable ("" if available). `errors` are pairs of a method and its alignment error rate, and
    `errors_of` names the sentences they were measured on. `opens_on` says with which method Flow starts, and why.
    """

    measured: float | None = None
    why_no_alti: str = ""
    why_no_flow: str = ""
    errors: Sequence[tuple[str, float]] = ()
    errors_of: str = ""
    opens_on: str = ""


def flow_payload(trace: "TraceLike", mixes: "Mapping[str, Sequence[Mix]]", facts: FlowFacts) -> Payload:
    """Pack the data that the Flow component draws. `mixes` by method must include "rollout", without a residual."""
    blobs, first = Blobs(), mixes["rollout"]
    kind = first[-1].kind
    outputs = trace.output_tokens(kind) or (None,) * len(first[-1].read)
    inputs = trace.query_tokens(kind)
    header = common_header(kind, trace.kinds, blobs) | {
        "sublayers": [_sublayer(trace, mix) for mix in first],
        "read": {name: [blobs.add(_float32(mix)) for mix in some] for name, some in mixes.items()},
        "rows": [
            [display_token(one), other and display_token(other)] for one, other in zip(inputs, outputs, strict=True)
        ],
        "row_entries": _row_entries(inputs, outputs),
        **_texts("source", _source(trace)),
        **_texts("target", inputs if kind != "encoder_self" else ()),
        "facts": asdict(facts),
        "flow": None,
    }
    return payload_of(header, {}, blobs)


def with_flow(payload: Payload, row: int, residual: int, found: "Contributions") -> Payload:
    """Return the payload with the maximum flow from one row, at a residual share in percent."""
    flow = {"row": row, "residual": residual, "source": found.source[0].tolist(), "target": found.target[0].tolist()}
    return payload.adding(flow=flow)


def _sublayer(trace: "TraceLike", mix: "Mix") -> dict[str, Any]:
    rows, keys = mix.read.shape
    return {"kind": mix.kind, "layer": trace.layer_name(mix.kind, mix.layer), "rows": rows, "keys": keys}


def _source(trace: "TraceLike") -> "Sequence[Token]":
    """Return the tokens that the encoder reads, or those that cross-attention reads if the encoder is unknown."""
    kinds: list[Kind] = [kind for kind in trace.kinds if kind != "decoder_self"]
    return trace.key_tokens(kinds[0]) if kinds else ()


def _texts(name: str, tokens: "Sequence[Token]") -> dict[str, Any]:
    found = entries_of([[token] for token in tokens])
    return {name: [display_token(token) for token in tokens], f"{name}_entries": found}


def _row_entries(inputs: "Sequence[Token]", outputs: "Sequence[Token | None]") -> list[list[LabelEntries]]:
    both = [entries_of([[token] if token else [] for token in tokens]) for tokens in (inputs, outputs)]
    return [list(pair) for pair in zip(both[0], both[1] or [[]] * len(inputs), strict=True)] if both[0] else []


def _float32(mix: "Mix") -> np.ndarray:
    return np.ascontiguousarray(mix.read.numpy(), dtype="<f4")


def _read_method(text: str, bound: object, default: str, say: Say) -> str:
    if text in _METHODS:
        return text
    say("it can be rollout, alti", "the one that aligns best")
    return default


@dataclass(frozen=True)
class FlowState(PageState):
    """State of the Flow picture.

    `row` is the row of the last layer (None: the middle one). `by` is the method ("": ALTI or rollout, whichever has
    the lower known alignment error). `residual` is the residual share in percent, and `flow` says whether maximum flow
    is computed.
    """

    row: int | None = whole_number(used="the pinned row", name="followed")
    by: str = declare("", _read_method, options=_METHODS)
    residual: int = number(50, 0, 100)
    flow: bool = flag()


def flow(
    trace: TraceLike, state: FlowState | None = None, *, known: KnownMaps | None = None, rates: Rates | None = None,
    cached: Cache = make_anew,
) -> Payload:  # fmt: skip
    """Make the Flow picture of a trace. Raise ValueError if its layers cannot be combined.

    Args:
        trace: a trace of one sentence.
        state: what the picture shows.
        known: the model's own maps (`KnownMaps.find`), without which there is no ALTI; None for bare weights.
        rates: alignment error rates of the methods; None for those shipped with the model.
        cached: function that caches expensive parts.
    """
    size = sum(len(trace.query_tokens(kind)) * len(trace.key_tokens(kind)) for kind, _ in sublayers(trace))
    if size > MOST:
        raise ValueError(
            f"Flow multiplies the maps of all layers. It can handle up to {MOST:,} numbers, but this "
            f"text needs {size:,}. Please type a shorter text."
        )
    rates = shipped_rates(trace, trace.to) if rates is None else rates
    rollout: tuple[Mix, ...] = cached("flow mixes", (trace,), lambda: attention_mixes(trace))
    facts = _facts(trace, known, rollout, rates, cached)
    state = drawn_state(trace, state or FlowState(), rates)
    state = replace(state, by="rollout" if facts.why_no_alti else state.by)

    def make() -> Payload:
        mixes: dict[str, Sequence[Mix]] = {"rollout": rollout}
        if state.by == "alti" and known is not None:
            mixes["alti"] = alti_mixes(known.stream, trace)  # type: ignore[arg-type]  # `why_no_alti` is empty, so the maps are known
        return flow_payload(trace, mixes, facts)

    made = cached("flow", (trace, state.by, facts), make)
    if state.flow and not facts.why_no_flow:
        mixes = [mix.set_residual(state.residual / 100) for mix in rollout]
        row, residual = state.row or 0, state.residual
        made = with_flow(made, row, residual, cached("max flow", (trace, row, residual), lambda: max_flow(mixes, row)))
    return add_view(made, state)


def drawn_state(trace: TraceLike, state: FlowState, rates: Rates) -> FlowState:
    """Return the state with a valid row, and with a method if none is chosen."""
    count = len(trace.query_tokens(trace.kinds[-1]))
    row = count // 2 if state.row is None or state.row >= count else state.row
    return replace(state, row=row, by=state.by or least_method(rates))


def least_method(rates: Mapping[Aligner, float]) -> str:
    """Return "alti" or "rollout", whichever has the lower alignment error rate; "rollout" if no rate is known."""
    of = {method: min((rate for way, rate in rates.items() if way.method == method and way.reading == "out"), default=2)
          for method in ("rollout", "ALTI")}  # fmt: skip
    return "alti" if of["ALTI"] < of["rollout"] else "rollout"


def _facts(trace: Any, known: KnownMaps | None, rollout: tuple[Mix, ...], rates: Rates, cached: Cache) -> FlowFacts:
    longest = max(max(mix.read.shape) for mix in rollout)
    too_long = f"Maximum flow is computed for up to {MOST_OF_FLOW} tokens; this text has {longest}."
    why_no_flow = too_long if longest > MOST_OF_FLOW else ""
    if known is None or trace.weights_only:
        why = BARE if trace.weights_only else f"ALTI cannot be computed here: {NO_MODEL}."
        return FlowFacts(why_no_alti=why, why_no_flow=why_no_flow, opens_on=UNKNOWN)
    if why := known.missing_reason("ALTI"):
        return FlowFacts(
            why_no_alti=f"ALTI cannot be computed for this model: {why}.", why_no_flow=why_no_flow, opens_on=UNKNOWN
        )
    stream: Any = known.stream
    measured = cached("flow residual", (trace,), lambda: round(mean_residual(stream, trace), 4))
    return FlowFacts(measured, "", why_no_flow, *_errors(trace, rates))


def _errors(trace: TraceLike, rates: Rates) -> tuple[tuple[tuple[str, float], ...], str, str]:
    """Return the best rate of each method in this language, what the rates were measured on, and a sentence
    about the method with which Flow starts.
    """
    found: list[tuple[str, float]] = []
    for method, name in _TO_COMPARE if rates else ():
        ways = [way for way in rates if way.method == method and way.reading == "out"]
        if ways:
            best = min(ways, key=rates.__getitem__)
            found.append((name if best.layer is None else f"{name}, L{best.layer}", rates[best]))
    of = f"{len(gold_pairs(trace.to))} sentences in {language_name(trace.to)}, best layer of each" if found else ""
    name = {"alti": "ALTI", "rollout": "rollout with a residual share of 0.50"}[least_method(rates)]
    return tuple(found), of, LEAST.format(name) if found else UNKNOWN


class FlowRules(TabRules):
    """Rules of the tab Flow.

    Flow follows one token of the last layer, whereas the other tabs pin a row, which may span several tokens.
    """

    def rows(self, trace: Any, page: Any) -> Groups:
        """Return, for each row that the other tabs of Heads show, the positions of its query tokens.

        Return () if those rows are not the rows of the last layer, from which Flow starts.
        """
        kind, last = page.heads.kind, trace.kinds[-1]
        has_them = kind == last or "encoder_self" not in (kind, last)  # both kinds of a decoder have the same rows
        return query_groups(trace, kind, page.options) if has_them else ()

    def settle(self, trace: Any, state: FlowState, page: Any, host: Any) -> FlowState:
        """Return the state with the row and method that are drawn, so that a link contains both.

        A link without them follows the pinned row, by the method with the lowest known alignment error. In a link that
        names the tab and an empty row, as earlier versions wrote it, the row is the middle one.
        """
        row = state.row
        if row is None and not ({"tab", "followed"} <= page.linked):
            rows, pinned = self.rows(trace, page), page.heads.row
            row = rows[pinned][0] if pinned is not None and pinned < len(rows) else None
        rates = shipped_rates(trace, trace.to) if host.rates is None else host.rates
        return drawn_state(trace, replace(state, row=row), rates)

    def choose(self, view: Mapping[str, Any], texts: dict[str, str], shown: Any) -> dict[str, str]:
        """Return the address parameters after a click: pin the clicked row in all tabs.

        A row that the other tabs do not have is stored as Flow's own row.
        """
        sent = shown.view
        texts = {name: text for name, text in texts.items() if name not in ("followed", "by")}
        if "by" in view and view["by"] != sent.get("by"):
            texts["by"] = view["by"]
        query = view.get("row")
        if query is None or query == sent.get("row"):
            return texts
        row = row_of(shown.rows, query)
        if row is None or shown.rows[row][0] != query:
            return texts | {"followed": str(query)}
        return texts | {"row": str(row), "followed": ""}


@reads_arguments
def flow_of(trace: TraceLike, *, model: Model | None = None, host: Host = NO_HELP) -> Subject:
    """Trace a row of the last layer back to the text, by rollout and, with the model, also by ALTI."""
    known = known_maps_of(model, trace, host)

    def draw(state: FlowState) -> Payload:
        made = flow(trace, state, known=known, rates=host.rates, cached=host.cached)
        if host.is_strict and state.by == "alti" != made.header["view"]["by"]:
            why = (
                "ALTI needs the model that made the trace, so please pass model=…"
                if known is None
                else known.missing_reason("ALTI")
            )
            raise ValueError(f"by='alti' cannot be shown: {why}.")
        return made

    return of_trace(trace, FlowState(), draw, model, {"row": len(trace.query_tokens(trace.kinds[-1]))})
