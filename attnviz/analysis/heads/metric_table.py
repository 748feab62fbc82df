"""Every metric of every head in one table, as sorted and tinted by on the Heads page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from attnviz.analysis.heads.metrics import (
    diagonality,
    distance_to_diagonal,
    entropy,
    eos_mass,
    first_token_mass,
    mean_distance,
    next_token,
    previous_token,
)
from attnviz.maps.grouping import ColLabel, RowLabel
from attnviz.maps.maps import EagerMaps
from attnviz.text.tokens import Token
from attnviz.tracing.trace import TraceLike

__all__ = [
    "METRICS",
    "Metric",
    "diagonality",
    "distance_to_diagonal",
    "end_keys",
    "entropy",
    "eos_mass",
    "first_token_mass",
    "head_metrics",
    "mean_distance",
    "next_token",
    "previous_token",
]

_LARGE = 65_536  # weights of a map


@dataclass(frozen=True)
class Metric:
    """What a column of `head_metrics` is: its label, its unit ("" for a share, 0 to 1) and one sentence."""

    label: str
    unit: str
    meaning: str


METRICS = {
    "entropy": Metric("entropy", "bits", "how evenly a row is spread; at most log2 of the number of keys"),
    "mean_distance": Metric("mean distance", "tokens", "how far from the diagonal a row looks"),
    "diagonality": Metric(
        "diagonality", "", "1: all weight on the diagonal; about 0.5: spread evenly; 0: as far off as can be"
    ),
    "previous_token": Metric("previous token", "", "weight on the token before the query's own"),
    "next_token": Metric("next token", "", "weight on the token after the query's own"),
    "first_token_mass": Metric("first token", "", "weight on the first token, special or not"),
    "eos_mass": Metric("end token", "", "weight on the special token that ends the sentence"),
}


def head_metrics(shown: EagerMaps | Mapping[str, EagerMaps], trace: TraceLike, *, item: int = 0) -> pd.DataFrame:
    """One row a head: kind, layer, head, and the columns of `METRICS`; units are in `.attrs["units"]`. Where some of a
    model's layers do not attend, `model_layer` is the number that a layer has among all of them.

    Entropy, distances, and previous and next token are of the maps as shown, distances always in tokens of the whole
    sentence (a word is at the mean of its pieces). The masses on the first and the end token are of the token
    maps, so that hiding special tokens does not hide that a head looks at them. NaN where a metric means nothing:
    previous and next token in cross-attention, the end token where no key is one.
    """
    maps = {shown.kind: shown} if isinstance(shown, EagerMaps) else shown
    columns = [_columns(one, trace, item) for one in maps.values()]
    table = pd.DataFrame({name: np.concatenate([part[name] for part in columns]) for name in columns[0]})
    table.attrs["units"] = {name: metric.unit for name, metric in METRICS.items()}
    return table


def _columns(shown: EagerMaps, trace: TraceLike, item: int) -> dict[str, np.ndarray]:
    layers, heads = shown.attn.shape[:2]
    values = {**_of_maps(shown, trace, item), **_sinks(shown, trace, item)}
    return {
        "kind": np.repeat(np.array(shown.kind, dtype=object), layers * heads),
        "layer": np.repeat(np.arange(layers), heads),
        "head": np.tile(np.arange(heads), layers),
        **_own_numbers(shown, trace),
        **{name: values[name].double().flatten().numpy() for name in METRICS},
    }


def _own_numbers(shown: EagerMaps, trace: TraceLike) -> dict[str, np.ndarray]:
    layers, heads = shown.attn.shape[:2]
    if not any(map(trace.attending, trace.kinds)):
        return {}
    return {"model_layer": np.repeat([trace.layer_number(shown.kind, layer) for layer in range(layers)], heads)}


def _of_maps(shown: EagerMaps, trace: TraceLike, item: int) -> dict[str, Tensor]:
    """What is said of the maps as shown. Large ones are looked at one by one: what is made of a map on the way then
    fits where the processor reaches it quickly, and takes half the time.
    """
    layers, heads, rows, cols = shown.shape
    if rows * cols < _LARGE:
        return {**_spread_metrics(shown, trace, item), **_beside(shown)}
    masks = shown.mask.expand(layers, heads, -1, -1)
    found = []
    for at in product(range(layers), range(heads)):
        one = replace(shown, attn=shown.attn[at][None, None], mask=masks[at][None, None])
        found.append({**_spread_metrics(one, trace, item), **_beside(one)})
    return {name: torch.cat([part[name].flatten() for part in found]).view(layers, heads) for name in found[0]}


def _spread_metrics(shown: EagerMaps, trace: TraceLike, item: int) -> dict[str, Tensor]:
    lengths = len(trace.query_tokens(shown.kind, item=item)), len(trace.key_tokens(shown.kind, item=item))
    distance = distance_to_diagonal(_places(shown.rows), _places(shown.cols), lengths)
    return {
        "entropy": entropy(shown.attn),
        "mean_distance": mean_distance(shown.attn, distance),
        "diagonality": diagonality(shown.attn, shown.mask, distance=distance),
    }


def _beside(shown: EagerMaps) -> dict[str, Tensor]:
    if shown.kind == "cross":  # a step of the target has no place of its own in the source
        nothing = shown.attn.new_full(shown.attn.shape[:2], torch.nan)
        return {"previous_token": nothing, "next_token": nothing}
    col_of = {token: at for at, col in enumerate(shown.cols) for token in col.tokens}
    # A decoder row of a whole output word is where its label says: at the word that went in first.
    own = [shown.cols[col_of[row.tokens[0]]].tokens if row.tokens[0] in col_of else row.tokens for row in shown.rows]
    previous = torch.tensor([col_of.get(tokens[0] - 1, -1) for tokens in own], dtype=torch.long)
    following = torch.tensor([col_of.get(tokens[-1] + 1, -1) for tokens in own], dtype=torch.long)
    return {
        "previous_token": previous_token(shown.attn, previous),
        "next_token": next_token(shown.attn, following),
    }


def _sinks(shown: EagerMaps, trace: TraceLike, item: int) -> dict[str, Tensor]:
    keys = trace.key_tokens(shown.kind, item=item)
    q_len, k_len = len(trace.query_tokens(shown.kind, item=item)), len(keys)
    untouched = (len(shown.rows), len(shown.cols)) == (q_len, k_len)
    # Cut to the sentence: an item of a batch may be padded.
    attn = shown.attn if untouched else trace.attn(shown.kind, item=item)[..., :q_len, :k_len]
    return {"first_token_mass": first_token_mass(attn), "eos_mass": eos_mass(attn, end_keys(keys))}


def end_keys(tokens: Sequence[Token]) -> Tensor:
    """Positions of the tokens that end the sentence: the last special token, wherever it is."""
    if len(tokens) < 2 or not tokens[-1].is_special:
        return torch.empty(0, dtype=torch.long)
    return torch.tensor([at for at, token in enumerate(tokens) if token.id == tokens[-1].id and token.is_special])


def _places(labels: Sequence[RowLabel] | Sequence[ColLabel]) -> Tensor:
    return torch.tensor([sum(label.tokens) / len(label.tokens) for label in labels], dtype=torch.float32)
