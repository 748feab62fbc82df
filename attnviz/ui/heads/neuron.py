"""The Neuron tab: one pair of tokens of one head. It counts tokens, where other tabs count the rows that are shown."""

from typing import TYPE_CHECKING

import streamlit as st

from attnviz.maps.grouping import Groups
from attnviz.maps.selection import query_groups
from attnviz.ui import captions, layout
from attnviz.ui.heads import tabs as heads_tabs
from attnviz.ui.heads.tabs import TabsState
from attnviz.ui.reported import NUMBER, OPTIONAL_NUMBER, TEXT, reported
from attnviz.views.interventions import touched

if TYPE_CHECKING:
    from attnviz.tracing.trace import TraceLike

OF_QUERIES = "The neuron view shows the query and the key behind one weight."
NEEDS_QUERIES = (
    f"{OF_QUERIES} Your file has only weights, without queries and keys. Close “Your own tensors” and open a model in "
    "the bar above."
)
_ROWS = "neuron-rows"
TOLD = {
    "kind": TEXT, "layer": NUMBER, "head": NUMBER, "row": OPTIONAL_NUMBER, "key": OPTIONAL_NUMBER, "order": TEXT,
}  # fmt: skip


def draw(trace: "TraceLike", tabs: TabsState) -> None:
    """The pair that the address asks for; without queries and keys, why there is none."""
    from attnviz.ui.mount import neuron
    from attnviz.widgets.neuron.payload import neuron_payload

    if trace.weights_only:
        st.info(NEEDS_QUERIES if trace.from_file else f"{OF_QUERIES} {trace.missing_reason}", icon=":material/info:")
        return
    kind = tabs.view.kind
    # A mean has no queries of its own, and another kind may have fewer layers or heads: the first stands for these.
    chosen = zip((tabs.view.layer, tabs.view.head), trace.shape(kind), strict=True)
    layer, head = (at if isinstance(at, int) and at < count else 0 for at, count in chosen)
    if said := touched(trace.interventions, (kind, layer, head)):
        layout.note(said)
    rows = st.session_state[_ROWS] = _rows(trace, tabs)
    query = query_of(rows, row=tabs.view.row, query=tabs.query)
    view = {"kind": kind, "layer": layer, "head": head, "row": query, "key": tabs.key, "order": tabs.order}
    payload = neuron_payload(trace, kind, layer=layer, head=head, view=view)
    neuron(captions.on(payload), on_change=_take)


def query_of(rows: Groups, *, row: int | None, query: int | None) -> int | None:
    """The query token that is meant: the one chosen here, unless another row was pinned elsewhere since."""
    if query is not None and row_of(rows, query) == row:
        return query
    return rows[row][0] if row is not None and row < len(rows) else None


def row_of(rows: Groups, query: int) -> int | None:
    """The shown row that a query token belongs to; None for one that is hidden."""
    return next((place for place, tokens in enumerate(rows) if query in tokens), None)


def _rows(trace: "TraceLike", tabs: TabsState) -> Groups:
    """The query tokens of each row that the Heads tab shows: pieces of a word together, hidden ones gone."""
    return query_groups(trace, tabs.view.kind, tabs.options(tabs.view.kind))


def _take() -> None:
    view = reported("neuron", "view", TOLD)
    if view is None:
        return
    texts = {name: view[name] for name in ("kind", "layer", "head", "key", "order")}
    rows, query = st.session_state.get(_ROWS, ()), view["row"]
    row = None if query is None else row_of(rows, query)
    is_told = query_of(rows, row=row, query=None) == query  # by the row alone
    heads_tabs.take(texts | {"row": row, "query": None if is_told else query})
