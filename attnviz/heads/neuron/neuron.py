"""The picture Neuron: the query and key vectors behind one weight of a head.

Its positions are tokens, whereas other pictures use rows, which may merge several tokens.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor

from attnviz.guards.arguments import reads_arguments
from attnviz.kit.browser_view import add_view
from attnviz.kit.caching import NO_HELP, Host
from attnviz.kit.fields import choice, whole_number
from attnviz.kit.focus import FocusState
from attnviz.kit.payload import common_header, entries_of, payload_of
from attnviz.kit.picture import TabRules
from attnviz.kit.subject import Subject, of_trace
from attnviz.kit.views.interventions import changed_head_note
from attnviz.kit.wire import Blobs, Payload
from attnviz.maps.grouping import Groups
from attnviz.maps.selection import query_groups
from attnviz.text.display import display_token
from attnviz.tracing.trace_like import TraceLike
from attnviz.transformer.probe import SCORES_ONLY

if TYPE_CHECKING:
    from attnviz.transformer.probe import Kind

OF_QUERIES = "The neuron view shows the query and the key from which one weight is computed."
NEEDS_QUERIES = (
    f"{OF_QUERIES} Your file contains only weights, without queries and keys. To use this view, close "
    "“Your own tensors” and open a model in the bar above."
)


@dataclass(frozen=True)
class NeuronState(FocusState):
    """State of the Neuron picture.

    `row` and `key` are token positions (None: the first query, and its strongest key).
    """

    row: int | None = whole_number(name="query")
    key: int | None = whole_number()
    order: str = choice("position", {"position": "By position", "contribution": "By contribution"})


def neuron(trace: TraceLike, state: NeuronState | None = None) -> Payload:
    """Make the Neuron picture of a trace.

    Raise ValueError with a message of one sentence if it has no queries and keys. If the layer or head is "mean", the
    first layer or head is shown.
    """
    if trace.weights_only:
        raise ValueError(NEEDS_QUERIES if trace.from_file else f"{OF_QUERIES} {trace.missing_reason}")
    state = state or NeuronState()
    kind, layer, head = state.site_in(trace)
    if not trace.call(kind, layer).has_queries:  # type: ignore[attr-defined]  # not bare weights
        raise ValueError(f"{OF_QUERIES} It cannot be drawn here: {SCORES_ONLY}.")
    made = neuron_payload(trace, kind, layer=layer, head=head, view={})
    return add_view(made, replace(state, kind=kind, layer=layer, head=head))


def query_of(rows: Groups, *, row: int | None, query: int | None) -> int | None:
    """Return the query token to show: the chosen one, or, if another tab pinned another row since, that row's first."""
    if query is not None and row_of(rows, query) == row:
        return query
    return rows[row][0] if row is not None and row < len(rows) else None


def row_of(rows: Groups, query: int) -> int | None:
    """Return the row that contains a query token; None if the token is hidden."""
    return next((place for place, tokens in enumerate(rows) if query in tokens), None)


class NeuronRules(TabRules):
    """Rules of the tab Neuron.

    Neuron shows one query token, whereas the other tabs pin a row, which may span several tokens.
    """

    def rows(self, trace: Any, page: Any) -> Groups:
        """Return the query tokens of each row in the other tabs."""
        return query_groups(trace, page.heads.kind, page.options)

    def settle(self, trace: Any, state: NeuronState, page: Any, host: Any) -> NeuronState:
        """Return the state with the query token that belongs to the pinned row."""
        return replace(state, row=query_of(self.rows(trace, page), row=page.heads.row, query=state.row))

    def choose(self, view: Mapping[str, Any], texts: dict[str, str], shown: Any) -> dict[str, str]:
        """Return the address parameters that pin the row of the chosen query.

        The query itself is added only if it is not its row's first token.
        """
        query = view.get("row")
        row = None if query is None else row_of(shown.rows, query)
        is_told = query_of(shown.rows, row=row, query=None) == query  # the row alone identifies the query
        return texts | {"row": _text(row), "query": "" if is_told else _text(query)}

    def note(self, trace: Any, state: NeuronState) -> str:
        """Return the note that the head is shown as it was before an intervention, if the run has one on this head."""
        return changed_head_note(trace.interventions, state.site_in(trace))


def _text(value: int | None) -> str:
    return "" if value is None else str(value)


def neuron_payload(
    trace: "TraceLike", kind: "Kind", *, layer: int, head: int, view: dict[str, Any], kinds: Sequence[str] | None = None
) -> Payload:
    """Pack the data that the Neuron component draws: float32 queries and keys, the scale, and the bias and mask if any.

    Positions are tokens, including special tokens, without merging. Raise ValueError for a head that does not exist, or
    a trace that has only weights.
    """
    call = trace.call(kind, layer)
    if not 0 <= head < call.query.shape[1]:
        raise ValueError(f"There is no head {head}: this model has heads 0 to {call.query.shape[1] - 1}.")
    queries, keys = trace.query_tokens(kind), trace.key_tokens(kind)
    outputs = trace.output_tokens(kind) or (None,) * len(queries)
    q_len, k_len, d_k = len(queries), len(keys), call.query.shape[3]
    put_in, put_out = (entries_of([[token] if token else [] for token in tokens]) for tokens in (queries, outputs))
    blobs = Blobs()
    header = common_header(kind, kinds or trace.kinds, blobs) | {
        "layer": layer,
        "head": head,
        "sizes": [q_len, k_len, d_k],
        "layers_heads": list(trace.shape(kind)),
        "rows": [
            [display_token(one), other and display_token(other)] for one, other in zip(queries, outputs, strict=True)
        ],
        "cols": [display_token(token) for token in keys],
        "row_entries": [list(both) for both in zip(put_in, put_out or [[]] * q_len, strict=True)] if put_in else [],
        "col_entries": entries_of([[token] for token in keys]),
        "scale": float(call.scale),
        "softcap": call.softcap,
        "sink": None if call.sinks is None else float(call.sinks[0, head]),
        "query": blobs.add(_float32(call.query[0, head, :q_len])),
        "key": blobs.add(_float32(call.key[0, head, :k_len])),
        "bias": None if call.bias is None else blobs.add(_float32(_expand(call.bias, call, head)[:q_len, :k_len])),
        "mask": None if call.mask is None else blobs.add(_bytes(_expand(call.mask, call, head)[:q_len, :k_len])),
    }
    return payload_of(header, view, blobs)


def _expand(part: Tensor, call: Any, head: int) -> Tensor:
    """Return one head's part of a bias or mask, broadcast to shape `(q_len, k_len)`."""
    return part.expand(*call.query.shape[:3], call.key.shape[2])[0, head]


def _float32(tensor: Tensor) -> np.ndarray:
    return np.ascontiguousarray(tensor.detach().float().cpu().numpy(), dtype="<f4")


def _bytes(mask: Tensor) -> np.ndarray:
    return np.ascontiguousarray(mask.cpu().numpy(), dtype=np.uint8)


@reads_arguments
def neuron_of(trace: TraceLike, *, host: Host = NO_HELP) -> Subject:
    """Show the query and key vectors behind one weight of a head.

    Raises ValueError for a trace without queries and keys.
    """
    if trace.weights_only and host.is_strict:
        raise ValueError(
            f"Neuron needs queries and keys. {trace.missing_reason or 'This trace contains only weights.'}"
        )
    bounds = {"key": lambda found: len(trace.key_tokens(found["kind"]))}
    return of_trace(trace, NeuronState(trace.kinds[-1]), lambda state: neuron(trace, state), bounds=bounds)
