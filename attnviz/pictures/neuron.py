"""Neuron: one pair of tokens of one head, down to its numbers. It counts tokens, where other pictures count rows."""

from dataclasses import dataclass, replace

from attnviz.maps.grouping import Groups
from attnviz.pictures.browser_view import add_view
from attnviz.pictures.fields import choice, whole_number
from attnviz.pictures.focus import FocusState
from attnviz.tracing.trace_like import TraceLike
from attnviz.transformer.probe import SCORES_ONLY
from attnviz.widgets.neuron.payload import neuron_payload
from attnviz.widgets.wire import Payload

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
