"""Table of every metric of every head, by which the page Heads sorts and tints heads."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Bool
from torch import Tensor

from attnviz.analysis.metrics import (
    Cells,
    RowReader,
    RowSums,
    diagonality,
    entropy,
    farthest_key,
    mean_distance,
    places_on_keys,
    share,
)
from attnviz.maps.blocks import ShownMaps
from attnviz.maps.grouping import ColLabel, RowLabel
from attnviz.maps.maps import EagerMaps
from attnviz.maps.options import MapOptions
from attnviz.maps.selection import Axes
from attnviz.text.tokens import Token
from attnviz.tracing.external.weights import BareWeights, block_starts
from attnviz.tracing.trace_like import TraceLike, validate_choice
from attnviz.transformer.probe import Kind, report_layers
from attnviz.transformer.row_blocks import RowBlock, blocks_of_maps

if TYPE_CHECKING:
    import pandas as pd

Columns = dict[str, np.ndarray]  # columns of a table, because making a DataFrame is slow
_ROUNDING = 2e-3  # allowed excess of a row sum in bfloat16


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
    return HeadMetrics(ShownMaps(trace, shown.kind, (shown.rows, shown.cols), MapOptions(), item)).of_maps(shown)


def join_tables(tables: Sequence[Columns]) -> Columns:
    """Concatenate tables of several kinds or heads."""
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


class HeadMetrics:
    """Computes the metrics of all heads of one kind, as in `head_metrics`, from blocks of rows, one layer after
    another.
    """

    def __init__(self, shown: ShownMaps, cells: Mapping[str, Cells] | None = None) -> None:
        """Prepare the computation. `cells` adds columns by name: the share of each row's weight on the cells that a
        mask selects.
        """
        self._shown, self._more = shown, tuple(cells or ())
        trace, kind, lengths = shown.trace, shown.kind, shown.lengths
        self._places = places_on_keys(_places(shown.axes[0]), lengths), _places(shown.axes[1])
        beside: dict[str, Tensor] = {} if kind == "cross" else dict(zip(_BESIDE, _neighbours(shown.axes), strict=True))
        first = {"first_token_mass": _first_keys(trace, kind, lengths[0])}
        ends = {"eos_mass": end_keys(trace.key_tokens(kind, item=shown.item))}
        self._has_tokens = lengths == shown.shape[2:]
        self._tokens = RowReader(beside=first, columns=ends)
        own = (beside | first, ends) if self._has_tokens else (beside, {})
        self._rows = RowReader(self._places, *own, cells or {})
        numbers = [trace.layer_number(kind, layer) for layer in range(trace.shape(kind)[0])]
        self._numbers = np.array(numbers) if any(map(trace.attending_layers, trace.kinds)) else None
        self._farthest: list[tuple[Tensor, Tensor]] = []  # of each mask that was met

    def of_trace(self, also: Callable[[int], Callable[[RowBlock], object]] | None = None) -> Columns:
        """Measure all heads, layer by layer and block by block.

        `also(layer)` may return another function that is called with each block of the layer.
        """
        shown = self._shown
        layers, heads, rows, cols = shown.shape

        def blocks() -> Iterator[RowBlock]:
            for layer in range(layers):
                tell = None if also is None else also(layer)
                for block in shown.blocks(layer, informs=True):
                    if tell is not None:
                        tell(block)
                    yield block.move_heads(layer * heads)

        sums = self._rows.read((layers * heads, rows, cols), blocks())
        tokens = sums if self._has_tokens else self._read_tokens()
        masks = [shown.mask(layer) for layer in range(layers)]
        if all(mask is masks[0] for mask in masks) and len(masks[0]) == 1:
            return self._columns(sums, tokens, farthest_key(self._places, masks[0]))
        return self._columns(sums, tokens, torch.cat([self._farthest_keys(mask).expand(heads, -1) for mask in masks]))

    def of_maps(self, maps: EagerMaps) -> Columns:
        """Measure all maps of the kind, which are already in memory."""
        layers, heads, rows, cols = maps.attn.shape
        sums = self._rows.read((layers * heads, rows, cols), blocks_of_maps(maps.attn.flatten(0, 1)))
        tokens = sums if self._has_tokens else self._read_tokens()
        farthest = farthest_key(self._places, maps.mask.flatten(0, 1))
        if maps.mask.shape[:2] != (1, 1):
            farthest = farthest.view(*maps.mask.shape[:2], rows).expand(layers, heads, rows).reshape(-1, rows)
        return self._columns(sums, tokens, farthest)

    def _read_tokens(self) -> RowSums:
        """Sum the weights on the first and the end token over all token rows, even if the map shows words or hides some
        tokens.
        """
        layers, heads, *_ = self._shown.shape
        blocks = (
            block.move_heads(layer * heads) for layer in range(layers) for block in self._shown.token_blocks(layer)
        )
        return self._tokens.read((layers * heads, *self._shown.lengths), blocks)

    def _farthest_keys(self, mask: Tensor) -> Tensor:
        known = next((far for one, far in self._farthest if one is mask), None)
        if known is None:
            self._farthest.append((mask, known := farthest_key(self._places, mask)))
        return known

    def _columns(self, sums: RowSums, tokens: RowSums, farthest: Tensor) -> Columns:
        nothing = sums.weight.new_full(sums.weight.shape[:1], torch.nan)
        values = {
            "entropy": entropy(sums),
            "mean_distance": mean_distance(sums),
            "diagonality": diagonality(sums, farthest),
            **{name: share(sums, name) if name in sums.on else nothing for name in _BESIDE},
            "first_token_mass": share(tokens, "first_token_mass"),
            "eos_mass": share(tokens, "eos_mass") if len(self._tokens.columns["eos_mass"]) else nothing,
            **{name: share(sums, name) for name in self._more},
        }
        shown = self._shown
        if shown.trace.weights_only:  # weights of others can be anything
            given = (shown.trace.attn(shown.kind, layer=layer, item=shown.item) for layer in range(shown.shape[0]))
            odd = torch.cat([_are_no_weights(attn) for attn in given])
            values = {name: found.masked_fill(odd, torch.nan) for name, found in values.items()}
        layers, heads, *_ = shown.shape
        names = {
            "kind": np.repeat(np.array(shown.kind, dtype=object), layers * heads),
            "layer": np.repeat(np.arange(layers), heads),
            "head": np.tile(np.arange(heads), layers),
        }
        if self._numbers is not None:
            names["model_layer"] = self._numbers[names["layer"]]
        return names | {name: values[name].double().numpy() for name in (*METRICS, *self._more)}


_BESIDE = ("previous_token", "next_token")


def _first_keys(trace: TraceLike, kind: Kind, q_len: int) -> Tensor:
    """Return the first token of each row's own text: several texts may be packed into one."""
    if not isinstance(trace, BareWeights) or len(starts := block_starts(trace, kind)) == 1:
        return torch.zeros(q_len, dtype=torch.long)
    rows, at = torch.arange(q_len), torch.tensor(starts)
    return at[torch.bucketize(rows, at, right=True) - 1]


def _are_no_weights(attn: Tensor) -> Tensor:
    """Return for each map whether it has negative values, or rows that sum to more than 1 beyond rounding."""
    return (attn.amin(dim=(-2, -1)) < 0) | (attn.sum(dim=-1).amax(dim=-1) > 1 + _ROUNDING)


def _neighbours(axes: Axes) -> tuple[Tensor, Tensor]:
    """Return the columns of the tokens before and after each row's own token; -1 if there is none."""
    rows, cols = axes
    col_of = {token: at for at, col in enumerate(cols) for token in col.tokens}
    # A decoder row of a merged output word is located at its first input word.
    own = [cols[col_of[row.tokens[0]]].tokens if row.tokens[0] in col_of else row.tokens for row in rows]
    before = torch.tensor([col_of.get(tokens[0] - 1, -1) for tokens in own], dtype=torch.long)
    return before, torch.tensor([col_of.get(tokens[-1] + 1, -1) for tokens in own], dtype=torch.long)


def end_keys(tokens: Sequence[Token]) -> Tensor:
    """Return all positions of the token that ends the sentence, such as <eos>.

    That token is the sentence's last one if it is special; otherwise the result is empty.
    """
    if len(tokens) < 2 or not tokens[-1].is_special:
        return torch.empty(0, dtype=torch.long)
    return torch.tensor([at for at, token in enumerate(tokens) if token.id == tokens[-1].id and token.is_special])


def _places(labels: Sequence[RowLabel] | Sequence[ColLabel]) -> Tensor:
    return torch.tensor([sum(label.tokens) / len(label.tokens) for label in labels], dtype=torch.float32)


def trace_metrics(trace: TraceLike, kind: Kind | None = None, *, item: int = 0) -> "pd.DataFrame":
    """Measure every head of a trace, or of one `kind`, and return a table with one row per head.

    The columns are kind, layer, head, those of `METRICS`, and `induction`: the weight on tokens that follow an earlier
    occurrence of the row's own token, NaN if no token occurs twice and in cross-attention. `.attrs["units"]` has the
    units, "" for a share from 0 to 1. Weights are read a block of rows at a time. Raises ValueError for a kind or item
    that the trace does not have.
    """
    import pandas as pd  # here, so that `metric_columns` works without it

    kinds: tuple[Kind, ...] = trace.kinds if kind is None else (validate_choice(kind, "kind", trace.kinds),)
    with report_layers("Measuring every head", sum(trace.shape(one)[0] for one in kinds)):
        table = pd.DataFrame(join_tables([metric_columns(trace, one, item) for one in kinds]))
    table.attrs["units"] = {name: metric.unit for name, metric in METRICS.items()} | {"induction": ""}
    return table


def metric_columns(trace: TraceLike, kind: Kind, item: int = 0) -> Columns:
    """Return the columns of `trace_metrics` for one kind, as arrays by name."""
    shown = ShownMaps.of_trace(trace, kind, item=item)
    places = _EarlierPlaces(trace.query_tokens(kind, item), trace.key_tokens(kind, item), is_self=kind != "cross")
    return HeadMetrics(shown, {"induction": (places.rows, places.cells)}).of_trace()


class _EarlierPlaces:
    """For each query, the keys that directly follow an earlier occurrence of the query's own token.

    Special tokens and queries of cross-attention have no such keys. The weight on these keys identifies an induction
    head: Olsson et al., "In-context Learning and Induction Heads" (2022), call it prefix matching.
    """

    def __init__(self, queries: Sequence[Token], keys: Sequence[Token], *, is_self: bool) -> None:
        names: dict[tuple[int, str], int] = {}
        words = [-1 if token.is_special else names.setdefault(_word(token), len(names)) for token in queries]
        self._words = torch.tensor(words if is_self else [-1] * len(words), dtype=torch.long)
        self._before = torch.full((len(keys),), -2)  # the word before each key
        before = self._words[: max(0, len(keys) - 1)]
        self._before[1 : 1 + len(before)] = before
        first: dict[int, int] = {}
        came_before = [first.setdefault(word, row) + 1 <= min(row, len(keys) - 1) for row, word in enumerate(words)]
        self.rows = torch.tensor(came_before, dtype=torch.bool) & (self._words >= 0)  # which have such a key
        self._last: tuple[tuple[slice, slice], Tensor] | None = None

    def cells(self, rows: slice, keys: slice) -> Bool[Tensor, "rows keys"]:
        """Return a mask for a block of rows and keys: True where the key follows an earlier occurrence of the row's
        token.
        """
        if self._last is None or self._last[0] != (rows, keys):
            words = self._words[rows].unsqueeze(-1)
            earlier = torch.arange(keys.start, keys.stop) <= torch.arange(rows.start, rows.stop).unsqueeze(-1)
            self._last = (rows, keys), (words == self._before[keys]) & (words >= 0) & earlier
        return self._last[1]


def _word(token: Token) -> tuple[int, str]:
    return token.id, token.piece or token.text
