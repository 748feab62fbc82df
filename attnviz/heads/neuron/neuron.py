"""Neuron: one pair of tokens of one head, down to its numbers. It counts tokens, where other pictures count rows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from attnviz.heads.neuron.payload import neuron_payload
from attnviz.kit.browser_view import add_view
from attnviz.kit.fields import choice, whole_number
from attnviz.kit.focus import FocusState
from attnviz.kit.picture import TabRules
from attnviz.kit.views.interventions import changed_head_note
from attnviz.kit.wire import Payload
from attnviz.maps.grouping import Groups
from attnviz.maps.selection import query_groups
from attnviz.tracing.trace_like import TraceLike
from attnviz.transformer.probe import SCORES_ONLY

OF_QUERIES = "The neuron view shows the query and the key behind one weight."
NEEDS_QUERIES = (
    f"{OF_QUERIES} Your file has only weights, without queries and keys. Close “Your own tensors” and open a model in "
    "the bar above."
)


@dataclass(frozen=True)
class NeuronState(FocusState):
    """State of the Neuron picture: `row` and `key`, positions of tokens (None: the first query; its largest key)."""

    row: int | None = whole_number(name="query")
    key: int | None = whole_number()
    order: str = choice("position", {"position": "By position", "contribution": "By contribution"})


def neuron(trace: TraceLike, state: NeuronState | None = None) -> Payload:
    """Make the Neuron picture of a trace. Raises ValueError with one sentence where it has no queries and keys.

    A mean has no queries of its own: the first layer or head stands for it.
    """
    if trace.weights_only:
        raise ValueError(NEEDS_QUERIES if trace.from_file else f"{OF_QUERIES} {trace.missing_reason}")
    state = state or NeuronState()
    kind, layer, head = state.site_in(trace)
    if not trace.call(kind, layer).has_queries:  # type: ignore[attr-defined]  # a trace of a run
        raise ValueError(f"{OF_QUERIES} It cannot be drawn here: {SCORES_ONLY}.")
    made = neuron_payload(trace, kind, layer=layer, head=head, view={})
    return add_view(made, replace(state, kind=kind, layer=layer, head=head))


def query_of(rows: Groups, *, row: int | None, query: int | None) -> int | None:
    """Return the query token that is meant: the chosen one, unless another row was pinned since on another tab."""
    if query is not None and row_of(rows, query) == row:
        return query
    return rows[row][0] if row is not None and row < len(rows) else None


def row_of(rows: Groups, query: int) -> int | None:
    """Return the shown row that a query token belongs to; None for one that is hidden."""
    return next((place for place, tokens in enumerate(rows) if query in tokens), None)


class NeuronRules(TabRules):
    """Neuron looks at a query token, and the other tabs pin a row, which may be several tokens."""

    def rows(self, trace: Any, page: Any) -> Groups:
        """Return the query tokens of each row that the other tabs show."""
        return query_groups(trace, page.heads.kind, page.options)

    def settle(self, trace: Any, state: NeuronState, page: Any, host: Any) -> NeuronState:
        """Return the state with the query token of the pinned row."""
        return replace(state, row=query_of(self.rows(trace, page), row=page.heads.row, query=state.row))

    def choose(self, view: Mapping[str, Any], texts: dict[str, str], shown: Any) -> dict[str, str]:
        """Pin the row of the query that was chosen; only where the row says too little, name the query itself."""
        query = view.get("row")
        row = None if query is None else row_of(shown.rows, query)
        is_told = query_of(shown.rows, row=row, query=None) == query  # by the row alone
        return texts | {"row": _text(row), "query": "" if is_told else _text(query)}

    def note(self, trace: Any, state: NeuronState) -> str:
        """Say that the head is shown before it is changed, if the run changes it."""
        return changed_head_note(trace.interventions, state.site_in(trace))


def _text(value: int | None) -> str:
    return "" if value is None else str(value)
