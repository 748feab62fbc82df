"""The Flow tab: a row of the last layer, followed back through the layers to the text."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from attnviz.maps.selection import query_groups
from attnviz.ui import captions
from attnviz.ui.address import persistent
from attnviz.ui.cache.known_maps import known_maps
from attnviz.ui.cache.pictures import cached
from attnviz.ui.heads import errors
from attnviz.ui.heads import tabs as heads_tabs
from attnviz.ui.heads.neuron import row_of
from attnviz.ui.heads.tabs import TabsState
from attnviz.ui.markdown import literal
from attnviz.ui.reported import NUMBER, SWITCH, TEXT, reported

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from attnviz.analysis.causes.flow.mixing import Mix
    from attnviz.maps.grouping import Groups
    from attnviz.models.protocol import Model
    from attnviz.tracing.trace import TraceLike
    from attnviz.widgets.flow.payload import FlowFacts
    from attnviz.widgets.wire import Payload

MOST = 4_000_000  # numbers that the browser multiplies: twelve layers of 512 tokens and more
BARE = "ALTI needs the values, and the file has only weights"
LEAST = "Flow opens on {}, which has the lowest alignment error of its ways."
UNKNOWN = "No alignment errors are known here: Flow opens on rollout with a residual share of 0.50."
_ROWS, _SENT = "flow-rows", "flow-sent"
TOLD = {"row": NUMBER, "by": TEXT, "residual": NUMBER, "flow": SWITCH}
_TO_COMPARE = (
    ("attribution", "attribution"), ("mean of heads", "weights, mean of heads"), ("ALTI", "ALTI"),
    ("rollout, measured residual", "rollout, measured share"), ("rollout", "rollout, share 0.50"),
    ("max flow", "maximum flow, share 0.50"), ("diagonal", "the diagonal"),
)  # fmt: skip


def draw(trace: "TraceLike", tabs: TabsState, model: "Model | None") -> None:
    """The flow of the row that the address asks for; where there is no way through the layers, why not."""
    from attnviz.analysis.causes.flow.mixing import attention_mixes, sublayers

    try:
        size = sum(len(trace.query_tokens(kind)) * len(trace.key_tokens(kind)) for kind, _ in sublayers(trace))
        if size > MOST:
            raise ValueError(
                f"Flow multiplies all layers' maps and can handle {MOST:,} numbers; this text has {size:,}. Type a "
                "shorter text."
            )
        rollout = cached("flow mixes", (trace,), lambda: attention_mixes(trace))
    except ValueError as why:
        st.info(literal(str(why)), icon=":material/info:")
        return
    _draw(trace, tabs, model, rollout)


def settled(trace: "TraceLike", tabs: TabsState) -> TabsState:
    """The tabs' state with Flow's row and method as they are drawn, so that a link names both.

    A link that leaves them out follows the pinned row, by the method with the lowest known alignment error. A copied
    link of an earlier version names an empty row beside the tab: that is the middle one, as it was there.
    """
    texts, count = persistent.texts(), len(trace.query_tokens(trace.kinds[-1]))
    followed = tabs.followed
    if followed is None and not ({"tab", "followed"} <= texts.linked):
        groups, row = _rows(trace, tabs), tabs.view.row
        followed = groups[row][0] if row is not None and row < len(groups) else None
    if followed is None or followed >= count:
        followed = count // 2
    return replace(tabs, followed=followed, by=tabs.by or _least(errors.known(trace.model_id, trace.to)))


def _rows(trace: "TraceLike", tabs: TabsState) -> "Groups":
    """The query tokens of each row that the other tabs show, if these are the rows that Flow can follow."""
    kind, last = tabs.view.kind, trace.kinds[-1]
    has_them = kind == last or "encoder_self" not in (kind, last)  # the two kinds of a decoder share their rows
    return query_groups(trace, kind, tabs.options(kind)) if has_them else ()


def _least(rates: "Mapping[Any, float]") -> str:
    """The method with the lowest error: of rollout at its usual share and ALTI; rollout where none is known."""
    of = {method: min((rate for way, rate in rates.items() if way.method == method and way.reading == "out"), default=2)
          for method in ("rollout", "ALTI")}  # fmt: skip
    return "alti" if of["ALTI"] < of["rollout"] else "rollout"


def _draw(trace: "TraceLike", tabs: TabsState, model: "Model | None", rollout: "tuple[Mix, ...]") -> None:
    from attnviz.ui.mount import flow
    from attnviz.widgets.flow.payload import flow_payload

    rows = len(rollout[-1].read)
    followed = rows // 2 if tabs.followed is None or tabs.followed >= rows else tabs.followed
    facts = _facts(trace, model, rollout)
    by = "alti" if tabs.by == "alti" and not facts.why_no_alti else "rollout"
    st.session_state[_ROWS], st.session_state[_SENT] = _rows(trace, tabs), {"row": followed, "by": by}

    def make() -> "Payload":
        mixes: Mapping[str, Sequence[Mix]] = {"rollout": rollout}
        return flow_payload(trace, {**mixes, "alti": _alti(trace, model)} if by == "alti" else mixes, facts)

    view = {"row": followed, "by": by, "residual": tabs.residual, "flow": tabs.flow}
    made = cached("flow", (trace, by, facts), make).with_view(view)
    if tabs.flow and not facts.why_no_flow:
        made = _with_flow(made, trace, rollout, followed, tabs.residual)
    flow(captions.on(made), on_change=_take)


def _facts(trace: "TraceLike", model: "Model | None", rollout: "tuple[Mix, ...]") -> "FlowFacts":
    from attnviz.analysis.causes.flow.max_flow import MOST as MOST_OF_FLOW
    from attnviz.widgets.flow.payload import FlowFacts

    longest = max(max(mix.read.shape) for mix in rollout)
    too_long = f"Maximum flow is computed for up to {MOST_OF_FLOW} tokens; this text has {longest}."
    why_no_flow = too_long if longest > MOST_OF_FLOW else ""
    if model is None or trace.weights_only:
        return FlowFacts(why_no_alti=BARE, why_no_flow=why_no_flow, opens_on=UNKNOWN)
    known = known_maps(model, trace)  # type: ignore[arg-type]  # no bare one
    why = known.lacks("ALTI")
    if why:
        return FlowFacts(why_no_alti=f"No ALTI for this model: {why}.", why_no_flow=why_no_flow, opens_on=UNKNOWN)
    measured = cached("flow residual", (trace,), lambda: _measured(known.stream, trace))
    return FlowFacts(measured, "", why_no_flow, *_errors(trace))


def _measured(maps: Any, trace: Any) -> float:
    """The share of the residual, mean over all sublayers."""
    from attnviz.analysis.causes.flow.mixing import mean_residual

    return round(mean_residual(maps, trace), 4)


def _errors(trace: "TraceLike") -> "tuple[tuple[tuple[str, float], ...], str, str]":
    """The best rate of each method in this language, what they are of, and what Flow opens on."""
    from attnviz.analysis.causes.gold import gold_pairs
    from attnviz.text.languages import language_name

    rates = errors.known(trace.model_id, trace.to)
    found: list[tuple[str, float]] = []
    for method, name in _TO_COMPARE if rates else ():
        ways = [way for way in rates if way.method == method and way.reading == "out"]
        if ways:
            best = min(ways, key=rates.__getitem__)
            found.append((name if best.layer is None else f"{name}, L{best.layer}", rates[best]))
    of = f"{len(gold_pairs(trace.to))} sentences in {language_name(trace.to)}, best layer of each" if found else ""
    name = {"alti": "ALTI", "rollout": "rollout with a residual share of 0.50"}[_least(rates)]
    return tuple(found), of, LEAST.format(name) if found else UNKNOWN


def _alti(trace: Any, model: Any) -> "tuple[Mix, ...]":
    from attnviz.analysis.causes.flow.mixing import alti_mixes

    return alti_mixes(known_maps(model, trace).stream, trace)  # type: ignore[arg-type]  # it lacks nothing, or nobody asks


def _with_flow(made: "Payload", trace: "TraceLike", rollout: "tuple[Mix, ...]", row: int, residual: int) -> "Payload":
    from attnviz.analysis.causes.flow.max_flow import max_flow
    from attnviz.widgets.flow.payload import with_flow

    mixes = [mix.with_residual(residual / 100) for mix in rollout]
    flowing = cached("max flow", (trace, row, residual), lambda: max_flow(mixes, row))
    return with_flow(made, row, residual, flowing)


def _take() -> None:
    if view := reported("flow", "view", TOLD):
        sent = st.session_state.get(_SENT, {})
        news = {name: view[name] for name in ("row", "by") if view[name] != sent.get(name)}
        st.session_state[_SENT] = sent | news
        texts = {"residual": view["residual"], "flow": int(bool(view["flow"]))}
        row = _pinned(news.pop("row")) if "row" in news else {}
        heads_tabs.take(texts | news | row)


def _pinned(query: int) -> dict[str, object]:
    """A row that is clicked is pinned on all tabs; only where it is no row of theirs is it Flow's own."""
    rows = st.session_state.get(_ROWS, ())
    row = row_of(rows, query)
    return {"followed": query} if row is None or rows[row][0] != query else {"row": row, "followed": None}
