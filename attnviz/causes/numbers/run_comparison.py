"""Compare the attention maps of two runs on matching tokens.

The runs may differ in the sentence, the language or the model, or one may have interventions or another mask.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.maps.blocks import ShownMaps
from attnviz.maps.grouping import ColLabel, RowLabel
from attnviz.maps.options import MapOptions
from attnviz.maps.selection import select
from attnviz.tracing.trace import Trace
from attnviz.tracing.trace_like import TraceLike
from attnviz.transformer.probe import Kind

Pairs = Sequence[tuple[int, int]]  # paired positions in the two runs
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
    """Pair the items of two sequences by position number, without comparing them."""
    return tuple((at if at < here else None, at if at < there else None) for at in range(max(here, there)))


def pairs_of(places: Union) -> list[tuple[int, int]]:
    """Return the pairs of positions that exist in both runs, leaving out positions without a partner."""
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
        """Return a head's attention weights in the first and in the second run, each of shape `(rows, cols)`."""
        options = MapOptions(words=self.by_words)
        here, there = (select(trace.one_layer(kind, layer, head), kind, options) for trace in (self.here, self.there))
        return here.attn[0, 0], there.attn[0, 0]  # whole maps, because both are drawn whole


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
    both = tuple(ShownMaps.of_trace(trace, kind, MapOptions(words=by_words)) for trace in (here, there))
    (rows_here, cols_here), (rows_there, cols_there) = (shown.axes for shown in both)
    rows, in_step = pair_in_order([_row_key(row) for row in rows_here], [_row_key(row) for row in rows_there])
    cols = union([col.text for col in cols_here], [col.text for col in cols_there])
    if not in_step and kind != "cross":
        cols = own_order(len(cols_here), len(cols_there))
    paired = (pairs_of(rows) if in_step else [], pairs_of(cols))
    layers = range(min(shown.shape[0] for shown in both))
    apart = torch.stack([_distances(both, layer, *paired) for layer in layers])
    return ComparedKind(
        rows, cols, (tuple(rows_here), tuple(rows_there)), (tuple(cols_here), tuple(cols_there)), apart, in_step
    )


def _row_key(row: RowLabel) -> str:
    """Return the text that identifies a row: its output token, or its input token in an encoder."""
    return (row.input if row.output is None else row.output) or ""


def _distances(both: Sequence[ShownMaps], layer: int, rows: Pairs, cols: Pairs) -> Float[Tensor, " heads"]:
    heads = min(shown.shape[1] for shown in both)
    if not rows:
        return torch.full((heads,), torch.nan)
    apart = torch.zeros(heads)
    for p, q in _paired_rows(both, layer, rows):
        apart += jensen_shannon(*pair_weights(p[:heads], q[:heads], cols)).sum(dim=-1)
    return apart / len(rows)


def _paired_rows(both: Sequence[ShownMaps], layer: int, pairs: Pairs) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield the weights of paired rows in both runs, some hundred rows at a time."""
    here, there = (shown.stripes(layer) for shown in both)
    kept: list[tuple[slice, Tensor]] = []  # of the second run, with the rows that pairs may still need
    for rows, attn in here:
        own = [(one, other) for one, other in pairs if rows.start <= one < rows.stop]
        if not own:
            continue
        while not kept or kept[-1][0].stop <= own[-1][1]:
            kept.append(next(there))
        first, others = kept[0][0].start, torch.cat([part for _, part in kept], dim=1)
        yield attn[:, [one - rows.start for one, _ in own]], others[:, [other - first for _, other in own]]
        kept = [(place, part) for place, part in kept if place.stop > own[-1][1] + 1]


def jensen_shannon(p: Float[Tensor, "*rows keys"], q: Float[Tensor, "*rows keys"]) -> Float[Tensor, "*rows"]:
    """Compute the Jensen-Shannon divergence in bits: 0 for equal distributions, 1 for disjoint ones.

    Rows that do not sum to 1, such as rows with a sink or with keys left out, are normalised first. If both rows are
    empty the result is 0; if only one is empty or has NaN, it is NaN.
    """
    sums = [row.double().sum(dim=-1, keepdim=True) for row in (p, q)]
    empty = (sums[0] == 0) & (sums[1] == 0)
    p, q = (row.double() / total for row, total in zip((p, q), sums, strict=True))
    both = (p + q) / 2
    found = (_entropy(both) - (_entropy(p) + _entropy(q)) / 2).clamp(min=0, max=1)
    equal = (p == q).all(dim=-1)
    return torch.where(empty.squeeze(-1) | equal, 0.0, found).float()


def heads_apart(here: TraceLike, there: TraceLike, kind: Kind) -> Float[Tensor, "layers heads"]:
    """Compute each head's mean divergence over rows between two runs on the same tokens, in bits.

    It is 0 for a head whose map did not change.
    """
    both, rows = [ShownMaps.of_trace(trace, kind) for trace in (here, there)], len(here.query_tokens(kind))
    apart = torch.zeros(here.shape(kind))
    for layer, found in enumerate(apart):
        for (_, p), (_, q) in zip(*(shown.stripes(layer) for shown in both), strict=True):
            found += jensen_shannon(p, q).sum(dim=-1) / rows
    return apart


def pair_weights(p: Tensor, q: Tensor, cols: Pairs) -> tuple[Tensor, Tensor]:
    """Return each run's weights over the paired keys, followed by its total weight on unpaired keys."""
    kept = p[..., [here for here, _ in cols]], q[..., [there for _, there in cols]]
    rest = [weights.sum(dim=-1, keepdim=True) - own.sum(dim=-1, keepdim=True)
            for weights, own in zip((p, q), kept, strict=True)]  # fmt: skip
    lone = [_drop_rounding(part) for part in rest]
    none = torch.zeros_like(lone[0])
    return torch.cat([kept[0], lone[0], none], dim=-1), torch.cat([kept[1], none, lone[1]], dim=-1)


def _drop_rounding(part: Tensor) -> Tensor:
    return torch.where(part.abs() < 1e-6, torch.zeros_like(part), part).clamp(min=0)


def divergence_by_kind(here: TraceLike, there: TraceLike) -> Mapping[Kind, Float[Tensor, "layers heads"]]:
    """Return `heads_apart` for every attention kind."""
    return {kind: heads_apart(here, there, kind) for kind in here.kinds}


def _entropy(p: Tensor) -> Tensor:
    return -torch.special.xlogy(p, p).sum(dim=-1) / torch.log(torch.tensor(2.0, dtype=p.dtype))
