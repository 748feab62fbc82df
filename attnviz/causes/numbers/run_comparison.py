"""Compare the attention maps of two runs on matching tokens.

The runs may differ in the sentence, the language or the model, or one may have interventions or another mask.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.causes.numbers.divergence import jensen_shannon, pair_weights
from attnviz.maps.grouping import ColLabel, RowLabel
from attnviz.maps.lazy import layer_by_layer
from attnviz.maps.options import MapOptions
from attnviz.maps.selection import labels, select
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Kind

Place = tuple[int | None, int | None]  # positions in the two runs; None without a partner
Union = tuple[Place, ...]


def union(here: Sequence[Hashable], there: Sequence[Hashable]) -> Union:
    """Merge two sequences into one order (difflib).

    Equal items are paired. Stretches of the same length between them are paired item by item, other items stay
    unpaired.
    """
    places = list[Place]()
    for _, a, b, c, d in SequenceMatcher(None, here, there, autojunk=False).get_opcodes():
        if b - a == d - c:
            places += zip(range(a, b), range(c, d), strict=True)
        else:
            places += [(at, None) for at in range(a, b)] + [(None, at) for at in range(c, d)]
    return tuple(places)


def pair_in_order(here: Sequence[Hashable], there: Sequence[Hashable]) -> tuple[Union, bool]:
    """Merge two sequences into one order, and return it with True.

    If fewer than half of the items find a partner, return `own_order` and False.
    """
    places = union(here, there)
    if 2 * len(pairs_of(places)) >= min(len(here), len(there)):
        return places, True
    return own_order(len(here), len(there)), False


def own_order(here: int, there: int) -> Union:
    """Pair two sequences by position number, without comparing their items."""
    return tuple((at if at < here else None, at if at < there else None) for at in range(max(here, there)))


def pairs_of(places: Union) -> list[tuple[int, int]]:
    """Return the pairs of positions in which both sides are present."""
    return [(here, there) for here, there in places if here is not None and there is not None]


@dataclass(frozen=True, eq=False)
class ComparedKind:
    """Comparison of two runs for one attention kind.

    If `in_step`, `rows` and `cols` align both runs' rows and columns. Otherwise fewer than half of the rows have a
    partner, as between languages: each run keeps its own order and nothing is compared. `apart` is the mean
    Jensen-Shannon divergence over paired rows, in bits, NaN if there are none. A row's weight on unpaired columns
    counts as one extra column that only its own run has. Heads are matched by number.
    """

    rows: Union
    cols: Union
    row_labels: tuple[tuple[RowLabel, ...], tuple[RowLabel, ...]]
    col_labels: tuple[tuple[ColLabel, ...], tuple[ColLabel, ...]]
    apart: Float[Tensor, "layers heads"]
    in_step: bool = True


@dataclass(frozen=True, eq=False)
class RunComparison:
    """Comparison of two runs for each attention kind that both have.

    `by_words` is True if token pieces were merged into words first.
    """

    here: Trace
    there: Trace
    kinds: Mapping[Kind, ComparedKind]
    by_words: bool = False

    def maps(self, kind: Kind, layer: int, head: int) -> tuple[Tensor, Tensor]:
        """Return a head's attention weights in both runs, each `(rows, cols)` of its own run."""
        options = MapOptions(words=self.by_words)
        here, there = (select(trace.one_layer(kind, layer), kind, options) for trace in (self.here, self.there))
        return here.attn[0, head], there.attn[0, head]


def compare_runs(here: Trace, there: Trace, *, by_words: bool = False) -> RunComparison:
    """Compare two runs.

    With `by_words`, pieces are merged into words, because models with different vocabularies share only words. Raise
    ValueError if the runs have no attention kind in common.
    """
    kinds: list[Kind] = [kind for kind in here.kinds if kind in there.kinds]
    if not kinds:
        raise ValueError("The two models have no kind of attention in common, so there are no maps to compare.")
    return RunComparison(here, there, {kind: _compare_kind(here, there, kind, by_words) for kind in kinds}, by_words)


def _compare_kind(here: Trace, there: Trace, kind: Kind, by_words: bool) -> ComparedKind:
    options = MapOptions(words=by_words)
    (rows_here, cols_here), (rows_there, cols_there) = (labels(trace, kind, options) for trace in (here, there))
    rows, in_step = pair_in_order([_row_key(row) for row in rows_here], [_row_key(row) for row in rows_there])
    cols = union([col.text for col in cols_here], [col.text for col in cols_there])
    if not in_step and kind != "cross":
        cols = own_order(len(cols_here), len(cols_there))
    paired = (pairs_of(rows) if in_step else [], pairs_of(cols))
    layers = zip(layer_by_layer(here, kind), layer_by_layer(there, kind), strict=False)
    maps = ((select(one, kind, options).attn[0], select(other, kind, options).attn[0]) for one, other in layers)
    apart = torch.stack([_distances(one, other, *paired) for one, other in maps])
    return ComparedKind(
        rows, cols, (tuple(rows_here), tuple(rows_there)), (tuple(cols_here), tuple(cols_there)), apart, in_step
    )


def _row_key(row: RowLabel) -> str:
    """Return the text that identifies a row: its output token, or its input token in an encoder."""
    return (row.input if row.output is None else row.output) or ""


def _distances(here: Tensor, there: Tensor, rows: list[tuple[int, int]], cols: list[tuple[int, int]]) -> Tensor:
    heads = min(len(here), len(there))
    if not rows:
        return torch.full((heads,), torch.nan)
    p, q = here[:heads, [a for a, _ in rows]], there[:heads, [b for _, b in rows]]
    return jensen_shannon(*pair_weights(p, q, cols)).mean(dim=-1)
