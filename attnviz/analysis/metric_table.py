"""Table of every metric of every head, by which the page Heads sorts and tints heads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Bool
from torch import Tensor

from attnviz.analysis.metrics import (
    RowSums,
    diagonality,
    distance_to_diagonal,
    entropy,
    eos_mass,
    farthest_key,
    first_token_mass,
    induction,
    mean_distance,
    next_token,
    previous_token,
)
from attnviz.maps.grouping import ColLabel, RowLabel
from attnviz.maps.lazy import layer_by_layer
from attnviz.maps.maps import EagerMaps
from attnviz.maps.selection import Axes, labels, select
from attnviz.text.tokens import Token
from attnviz.tracing.external.weights import BareWeights, block_starts
from attnviz.tracing.trace_like import TraceLike, validate_choice
from attnviz.transformer.probe import Kind

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "METRICS",
    "Columns",
    "HeadMetrics",
    "Metric",
    "diagonality",
    "distance_to_diagonal",
    "end_keys",
    "entropy",
    "eos_mass",
    "first_token_mass",
    "head_columns",
    "head_metrics",
    "join_tables",
    "mean_distance",
    "next_token",
    "previous_token",
]

Columns = dict[str, np.ndarray]  # columns of a table, because making a DataFrame is slow
_ROUNDING = 2e-3  # allowed excess of a row sum in bfloat16
_LARGE = 65_536  # weights of a map


@dataclass(frozen=True)
class Metric:
    """A column of `head_metrics`: its label, its unit ("" for a share from 0 to 1), and an explanation."""

    label: str
    unit: str
    meaning: str


METRICS = {
    "entropy": Metric("entropy", "bits", "how evenly a row is spread; at most log2 of the number of keys"),
    "mean_distance": Metric("mean distance", "tokens", "how far from the diagonal a row looks"),
    "diagonality": Metric(
        "diagonality",
        "",
        "1: all weight on the diagonal; about 0.5: spread evenly; 0: as far from the diagonal as possible",
    ),
    "previous_token": Metric("previous token", "", "weight on the token before the query's own"),
    "next_token": Metric("next token", "", "weight on the token after the query's own"),
    "first_token_mass": Metric("first token", "", "weight on the first token, special or not"),
    "eos_mass": Metric("end token", "", "weight on the special token that ends the sentence"),
}


def head_metrics(shown: EagerMaps | Mapping[str, EagerMaps], trace: TraceLike, *, item: int = 0) -> "pd.DataFrame":
    """Return a table with one row per head: kind, layer, head, and the columns of `METRICS`.

    The units are in `.attrs["units"]`. If some of a model's layers have no attention, `model_layer` is the layer's
    index in the model. Entropy, distances, and previous and next token are computed from the maps as shown, with
    distances in tokens of the whole sentence (a word is at the mean of its pieces). The masses on the first and the end
    token are computed from the token maps, so that hiding special tokens does not change them. A metric is NaN where it
    is undefined: previous and next token in cross-attention, the end token if no key is one, and all metrics of a head
    whose given values are not weights (negative, or rows that sum to more than 1).
    """
    import pandas as pd  # here, so that `HeadMetrics` works without it

    maps = {shown.kind: shown} if isinstance(shown, EagerMaps) else shown
    table = pd.DataFrame(join_tables([head_columns(one, trace, item=item) for one in maps.values()]))
    table.attrs["units"] = {name: metric.unit for name, metric in METRICS.items()}
    return table


def head_columns(shown: EagerMaps, trace: TraceLike, *, item: int = 0) -> Columns:
    """Return the columns of `head_metrics` for one kind, without units."""
    return HeadMetrics(trace, shown.kind, (shown.rows, shown.cols), item=item).columns(shown, trace)


def join_tables(tables: Sequence[Columns]) -> Columns:
    """Concatenate tables of several kinds or heads."""
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


class HeadMetrics:
    """Computes the metrics of a kind's heads from maps that arrive one head at a time.

    All of these maps must have the same rows and columns; what depends only on them or on the mask is computed once.
    """

    def __init__(self, trace: TraceLike, kind: Kind, axes: Axes, *, item: int = 0) -> None:
        self.kind: Kind = kind
        self.item = item
        self.lengths = len(trace.query_tokens(kind, item=item)), len(trace.key_tokens(kind, item=item))
        self.distance = distance_to_diagonal(_places(axes[0]), _places(axes[1]), self.lengths)
        self.previous, self.next = _neighbours(axes)
        own = [trace.layer_number(kind, layer) for layer in range(trace.shape(kind)[0])]
        self._numbers = np.array(own) if any(map(trace.attending_layers, trace.kinds)) else None
        self._farthest: tuple[Tensor, Tensor] | None = None
        self._first = _first_keys(trace, kind)

    def columns(self, shown: EagerMaps, trace: TraceLike, *, layer: int = 0, head: int = 0) -> Columns:
        """Return columns like `head_columns` for maps with the same labels.

        The first head of the maps is `head` of `layer`; `trace` has only these heads.
        """
        sums = _row_sums(shown.attn, self.distance)
        values = {
            "entropy": entropy(shown.attn, sums),
            "mean_distance": mean_distance(shown.attn, self.distance, sums),
            "diagonality": diagonality(
                shown.attn, distance=self.distance, sums=sums, farthest=self._farthest_keys(shown.mask)
            ),
            **self._neighbour_measures(shown.attn, sums.weight),
            **self._sinks(shown, trace, sums.weight),
        }
        if trace.weights_only:  # uploaded values may not be weights
            odd = _are_no_weights(trace.attn(self.kind, item=self.item))
            values = {name: found.masked_fill(odd, torch.nan) for name, found in values.items()}
        layers, heads = shown.attn.shape[:2]
        names = {
            "kind": np.repeat(np.array(self.kind, dtype=object), layers * heads),
            "layer": np.repeat(layer + np.arange(layers), heads),
            "head": np.tile(head + np.arange(heads), layers),
        }
        if self._numbers is not None:
            names["model_layer"] = self._numbers[names["layer"]]
        return names | {name: values[name].double().flatten().numpy() for name in METRICS}

    def _farthest_keys(self, mask: Tensor) -> Tensor:
        if self._farthest is None or not torch.equal(mask, self._farthest[0]):
            self._farthest = mask, farthest_key(self.distance, mask)
        return self._farthest[1]

    def _neighbour_measures(self, attn: Tensor, weight: Tensor) -> dict[str, Tensor]:
        if self.kind == "cross":  # a target step has no position in the source
            nothing = attn.new_full(attn.shape[:2], torch.nan)
            return {"previous_token": nothing, "next_token": nothing}
        before, after = previous_token(attn, self.previous, weight), next_token(attn, self.next, weight)
        return {"previous_token": before, "next_token": after}

    def _sinks(self, shown: EagerMaps, trace: TraceLike, weight: Tensor) -> dict[str, Tensor]:
        attn, (q_len, k_len) = shown.attn, self.lengths
        if attn.shape[-2:] != self.lengths:  # without padding of the batch
            attn = trace.attn(self.kind, item=self.item)[..., :q_len, :k_len]
            weight = attn.sum(dim=-1)
        ends = end_keys(trace.key_tokens(self.kind, item=self.item))
        return {
            "first_token_mass": first_token_mass(attn, weight, self._first),
            "eos_mass": eos_mass(attn, ends, weight),
        }


def _first_keys(trace: TraceLike, kind: Kind) -> Tensor | None:
    """Return the first key of each row's own text if several texts are packed into one, otherwise None."""
    if not isinstance(trace, BareWeights) or len(starts := block_starts(trace, kind)) == 1:
        return None
    rows, at = torch.arange(trace.weights[kind].shape[-2]), torch.tensor(starts)
    return at[torch.bucketize(rows, at, right=True) - 1]


def _are_no_weights(attn: Tensor) -> Tensor:
    """Return for each map whether it has negative values, or rows that sum to more than 1 beyond rounding."""
    return (attn.amin(dim=(-2, -1)) < 0) | (attn.sum(dim=-1).amax(dim=-1) > 1 + _ROUNDING)


def _row_sums(attn: Tensor, distance: Tensor) -> RowSums:
    """Return the row sums of all maps.

    Large maps are read one at a time, because their rows are contiguous in memory.
    """
    if attn.shape[-2:].numel() < _LARGE:
        return RowSums.from_attn(attn, distance)
    each = [RowSums.from_attn(one, distance) for one in attn.flatten(0, 1)]
    return RowSums(*(torch.stack(part).view(attn.shape[:-1]) for part in zip(*each, strict=True)))


def _neighbours(axes: Axes) -> tuple[Tensor, Tensor]:
    """Return the columns of the tokens before and after each row's own token; -1 if there is none."""
    rows, cols = axes
    col_of = {token: at for at, col in enumerate(cols) for token in col.tokens}
    # A decoder row of a merged output word is located at its first input word.
    own = [cols[col_of[row.tokens[0]]].tokens if row.tokens[0] in col_of else row.tokens for row in rows]
    before = torch.tensor([col_of.get(tokens[0] - 1, -1) for tokens in own], dtype=torch.long)
    return before, torch.tensor([col_of.get(tokens[-1] + 1, -1) for tokens in own], dtype=torch.long)


def end_keys(tokens: Sequence[Token]) -> Tensor:
    """Return the positions of the token that ends the sentence, which is the last token if it is special."""
    if len(tokens) < 2 or not tokens[-1].is_special:
        return torch.empty(0, dtype=torch.long)
    return torch.tensor([at for at, token in enumerate(tokens) if token.id == tokens[-1].id and token.is_special])


def _places(labels: Sequence[RowLabel] | Sequence[ColLabel]) -> Tensor:
    return torch.tensor([sum(label.tokens) / len(label.tokens) for label in labels], dtype=torch.float32)


def trace_metrics(trace: TraceLike, kind: Kind | None = None, *, item: int = 0) -> "pd.DataFrame":
    """Measure every head of a trace, or of one `kind`, and return a table with one row per head.

    The columns are kind, layer, head, those of `METRICS`, and `induction`: the weight on tokens that follow an earlier
    occurrence of the row's own token, NaN if no token occurs twice and in cross-attention. `.attrs["units"]` has the
    units, "" for a share from 0 to 1. One layer is in memory at a time. Raises ValueError for a kind or an item that
    the trace does not have.
    """
    import pandas as pd  # here, so that `metric_columns` works without it

    kinds: tuple[Kind, ...] = trace.kinds if kind is None else (validate_choice(kind, "kind", trace.kinds),)
    table = pd.DataFrame(join_tables([metric_columns(trace, one, item) for one in kinds]))
    table.attrs["units"] = {name: metric.unit for name, metric in METRICS.items()} | {"induction": ""}
    return table


def metric_columns(trace: TraceLike, kind: Kind, item: int = 0) -> Columns:
    """Return the columns of `trace_metrics` for one kind, as arrays by name."""
    measures = HeadMetrics(trace, kind, labels(trace, kind, item=item), item=item)
    wanted = _after_earlier_places(trace.query_tokens(kind, item), trace.key_tokens(kind, item))
    tables = []
    for layer, one in enumerate(layer_by_layer(trace, kind)):
        maps = select(one, kind, item=item)
        scores = induction(maps.attn, wanted & (kind != "cross"))
        columns = measures.columns(maps, one, layer=layer)
        tables.append(columns | {"induction": scores.double().flatten().numpy()})
    return join_tables(tables)


def _after_earlier_places(queries: Sequence[Token], keys: Sequence[Token]) -> Bool[Tensor, "q_len k_len"]:
    """Mark for each query the keys right after earlier occurrences of its own token, except for special tokens."""
    wanted = torch.zeros(len(queries), len(keys), dtype=torch.bool)
    places: dict[tuple[int, str], list[int]] = {}
    for row, token in enumerate(queries):
        if token.is_special:
            continue
        earlier = places.setdefault((token.id, token.piece or token.text), [])
        wanted[row, [place + 1 for place in earlier if place + 1 < len(keys)]] = True
        earlier.append(row)
    return wanted
