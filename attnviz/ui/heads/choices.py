"""The Heads page's state as the address asks for it, and as the visitor changes it in a component."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from attnviz.analysis.heads.metric_table import METRICS
from attnviz.maps.grouping import Groups
from attnviz.maps.quadrants import quadrants
from attnviz.models.catalogue import Entry
from attnviz.pictures.fields import write_view
from attnviz.pictures.focus import SiteBounds
from attnviz.pictures.heads_state import HeadsState, read_heads_state
from attnviz.pictures.neuron import query_of, row_of
from attnviz.text.glossary import definition
from attnviz.tracing.causes.switches import Head, heads_off
from attnviz.tracing.trace_like import TraceLike
from attnviz.transformer.probe import Kind
from attnviz.ui import extensions, interventions, layout
from attnviz.ui.address import persistent
from attnviz.ui.address.widgets import segments
from attnviz.ui.heads.state import STATES, WHOLE, HeadsPageState, read_page_state
from attnviz.ui.heads.tabs import PARTS
from attnviz.ui.reports import reported_view

KEYS = {"model": "whole_model", "row": "one_row"}  # session keys of components that are not called as their tabs
_SHOWN, _OFF = "heads-shown", "heads-off"
_ROWS, _SENT = "heads-rows", "flow-sent"


def current_state(texts: Mapping[str, str], trace: TraceLike, entry: Entry) -> HeadsPageState:
    """Read the state that the address's texts ask for; say above the picture what they ask wrongly."""
    heads, problems = read_heads_state(texts, SiteBounds.from_trace(trace), METRICS, HeadsState(**entry.start))
    there = {f"{one.query_segment}-{one.key_segment}": one.name for one in quadrants(trace, heads.kind)}
    there = there if len(there) > 1 else {}
    page, more = read_page_state(texts, trace, heads, there)
    layout.note(*persistent.linked_problems((*problems, *more)))
    if there and page.tab in ("heads", "links", "model"):  # others show every token
        _choose_quadrant(there, page.quadrant, is_pair=heads.kind == "encoder_self")
    st.session_state[_SHOWN] = page.to_params()
    st.session_state[_OFF] = _heads_off(trace)
    return page


def _choose_quadrant(found: dict[str, str], chosen: str, *, is_pair: bool) -> None:
    with st.session_state[PARTS], st.container(horizontal=True, vertical_alignment="center", key="part-row"):
        said = "A, B: the two sentences" if is_pair else "A: the prompt, B: what was written"
        st.caption(said, width="content", help=definition("Quadrants"))
        segments("quadrant", "Quadrant of the maps", {WHOLE: "A + B"} | found, chosen, hide_label=True)


def _heads_off(trace: TraceLike) -> tuple[Any, list[Head]]:
    shapes: dict[Kind, tuple[int, int]] = {kind: trace.shape(kind) for kind in trace.kinds}
    return shapes, sorted(heads_off(trace.interventions, shapes))


def remember_rows(rows: Groups, sent: Mapping[str, Any] | None = None) -> None:
    """Remember the tokens of the rows that other tabs show, and of Flow the row and method that it was sent."""
    st.session_state[_ROWS], st.session_state[_SENT] = rows, sent or {}


def adopt(tab: str) -> Callable[[], None]:
    """Return the callback that takes over what was chosen in a tab's component: it becomes the address."""
    return partial(_adopt, tab)


def _adopt(tab: str) -> None:
    view = reported_view(KEYS.get(tab, tab), STATES[tab])
    if view is None:
        return
    if tab == "heads":
        _switch(view.pop("off", ()))
        if (asking := extensions.asking_extension()) is not None:
            asking.adopt_marks()
    texts = write_view(STATES[tab], view)
    _write(_CHANGES[tab](view, texts) if tab in _CHANGES else texts)


def _write(texts: Mapping[str, str]) -> None:
    """Write what differs from what is shown into the address."""
    shown = st.session_state.get(_SHOWN, {})
    news = {name: text for name, text in texts.items() if text != shown.get(name)}
    persistent.write(({"followed": ""} if "row" in news else {}) | news)  # Flow follows the row that is pinned last
    st.session_state[_SHOWN] = shown | news


def _switch(sites: tuple[tuple[str, int, int], ...]) -> None:
    """Switch heads off and on as the component has them."""
    shapes, before = st.session_state.get(_OFF, ({}, []))
    heads = {(kind, at, head) for kind, (n, m) in shapes.items() for at in range(n) for head in range(m)}
    wanted = sorted(Head(*site) for site in sites if site in heads)  # type: ignore[arg-type]  # a kind that is there
    if wanted != before:
        interventions.switch_off(wanted, shapes)
        st.session_state[_OFF] = shapes, wanted


def _open_head(view: Mapping[str, Any], texts: dict[str, str]) -> dict[str, str]:
    """Open the head that was clicked; which head the pointer was on is no choice before that."""
    if view.get("open"):
        return texts | {"tab": "heads"}
    return {name: text for name, text in texts.items() if name not in ("layer", "head")}


def _link_held(view: Mapping[str, Any], texts: dict[str, str]) -> dict[str, str]:
    """Pin the row of a held query on all tabs; only Links holds a key. Releasing the query unpins its row."""
    token, kinds = view.get("token"), (view.get("kind"), st.session_state.get(_SHOWN, {}).get("kind"))
    if token is None or ("encoder_self" in kinds and kinds[0] != kinds[1]):  # rows of another sentence
        return texts | {"row": "", "held": ""}
    return texts | {"row": token[1:], "held": ""} if token.startswith("q") else texts


def _row_chosen(view: Mapping[str, Any], texts: dict[str, str]) -> dict[str, str]:
    kinds = view.get("kind"), st.session_state.get(_SHOWN, {}).get("kind")
    is_other = "encoder_self" in kinds and kinds[0] != kinds[1]  # rows of another sentence
    return _open_head(view, texts | ({"row": ""} if is_other else {}))


def _pair_chosen(view: Mapping[str, Any], texts: dict[str, str]) -> dict[str, str]:
    """Pin the row of the query that was chosen; only where that says too little, name the query itself."""
    rows, query = st.session_state.get(_ROWS, ()), view.get("row")
    row = None if query is None else row_of(rows, query)
    is_told = query_of(rows, row=row, query=None) == query  # by the row alone
    return texts | {"row": _text(row), "query": "" if is_told else _text(query)}


def _flow_chosen(view: Mapping[str, Any], texts: dict[str, str]) -> dict[str, str]:
    """Pin the row that was clicked on all tabs; only where it is no row of theirs is it Flow's own."""
    sent = st.session_state.get(_SENT, {})
    st.session_state[_SENT] = {**sent, **view}
    texts = {name: text for name, text in texts.items() if name not in ("followed", "by")}
    if "by" in view and view["by"] != sent.get("by"):
        texts["by"] = view["by"]
    query = view.get("row")
    if query is None or query == sent.get("row"):
        return texts
    rows = st.session_state.get(_ROWS, ())
    row = row_of(rows, query)
    if row is None or rows[row][0] != query:
        return texts | {"followed": str(query)}
    return texts | {"row": str(row), "followed": ""}


def _text(value: int | None) -> str:
    return "" if value is None else str(value)


_CHANGES = {
    "links": _link_held, "model": _open_head, "row": _row_chosen, "neuron": _pair_chosen, "flow": _flow_chosen,
}  # fmt: skip
