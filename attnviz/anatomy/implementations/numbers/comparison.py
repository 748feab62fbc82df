"""Compare all implementations on the same weights and input: differences of results, time, and peak memory by length.

Also relative positions (an overridden `get_scores`) at a site that was trained without them.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median

import pandas as pd
import torch
from torch import Tensor

from attnviz.analysis.inputs import query_key_value
from attnviz.analysis.outcome import largest_change
from attnviz.analysis.peak_memory import peak_memory
from attnviz.implementations.sequence_first import RelativeAttention, SequenceFirst, SequenceFirstAttention
from attnviz.implementations.site_inputs import SiteInputs
from attnviz.implementations.ways import WAYS
from attnviz.implementations.weights import Attention, SiteWeights

COLUMNS = ("one", "other", "output", "attn")
LENGTHS = (16, 32, 64, 128, 256, 512, 1024)
TIME_METHOD = (
    "median of up to five runs of self-attention on random input after one to warm up, one sentence, one thread"
)


@dataclass(frozen=True, eq=False)
class Equivalence:
    """Results of all implementations on one input.

    `table` has a row for each ordered pair of implementations: max |Δ| of outputs and of weights (NaN if one returns no
    weights). `refused` says why an implementation does not support this site's sizes.
    """

    results: Mapping[str, tuple[Tensor, Tensor | None]]
    table: pd.DataFrame
    refused: Mapping[str, str]

    @property
    def largest_difference(self) -> float:
        """The largest difference between any two outputs or weights."""
        return float(self.table[["output", "attn"]].max().max())

    def grid(self, of: str) -> pd.DataFrame:
        """Return a square table of max |Δ| of "output" or "attn", with a row and a column per implementation."""
        names = list(self.results)
        return self.table.pivot_table(index="one", columns="other", values=of, dropna=False).reindex(
            index=names, columns=names
        )


@torch.inference_mode()
def equivalence(inputs: SiteInputs) -> Equivalence:
    """Run every implementation on the inputs of an attention site."""
    results: dict[str, tuple[Tensor, Tensor | None]] = {}
    refused: dict[str, str] = {}
    for name, way in WAYS.items():
        try:
            results[name] = way.make(inputs.weights)(*inputs.call)
        except ValueError as error:
            refused[name] = str(error)
    rows = [
        (
            one,
            other,
            largest_change(results[one][0], results[other][0]),
            largest_change(results[one][1], results[other][1]),
        )
        for one in results
        for other in results
    ]
    return Equivalence(results, pd.DataFrame(rows, columns=list(COLUMNS)), refused)


@dataclass(frozen=True)
class WayCost:
    """Cost of one implementation at one length: seconds of a pass, and peak memory in bytes."""

    way: str
    length: int
    seconds: float
    nbytes: int


def implementation_cost(
    weights: SiteWeights, lengths: tuple[int, ...] = LENGTHS, *, enough: float = 0.3, seed: int = 0
) -> Iterator[WayCost]:
    """Yield the cost of each implementation at each length, shortest first, so that a page can show its progress.

    A pass is repeated until `enough` seconds have passed. An implementation that does not support these sizes is left
    out.
    """
    made = {name: attention for name, way in WAYS.items() if (attention := _make(way.make, weights)) is not None}
    generator = torch.Generator().manual_seed(seed)
    for length in lengths:
        x = torch.randn(1, length, weights.d_model, generator=generator)
        for name, attention in made.items():
            yield _cost(name, attention, x, enough=enough)


@torch.inference_mode()
def _cost(name: str, attention: Attention, x: torch.Tensor, *, enough: float) -> WayCost:
    nbytes = peak_memory(lambda: attention(x, x, None)).peak
    return WayCost(name, x.shape[1], _seconds(attention, x, enough), nbytes)


def _make(make, weights: SiteWeights) -> Attention | None:
    try:
        return make(weights)
    except ValueError:
        return None


def _seconds(attention: Attention, x: torch.Tensor, enough: float) -> float:
    attention(x, x, None)
    times: list[float] = []
    while not times or (len(times) < 5 and sum(times) < enough):
        started = time.perf_counter()
        attention(x, x, None)
        times.append(time.perf_counter() - started)
    return median(times)


@dataclass(frozen=True, eq=False)
class RelativePositions:
    """Weights `(batch, heads, q_len, k_len)` without and with the override, and max |Δ| of the output."""

    plain: Tensor
    relative: Tensor
    output_change: float


@torch.inference_mode()
def relative_positions(inputs: SiteInputs, *, reach: int, strength: float) -> RelativePositions:
    """Run a site with and without a vector for each relative offset added to its keys.

    This model has no trained table, so each vector points along its head's mean query: offset 0 gets `strength`,
    falling linearly to -`strength` at `reach`. Positive strength favours near tokens, negative strength distant ones.
    Raise ValueError for a reach below 1.
    """
    if reach < 1:
        raise ValueError(f"reach must be at least 1, not {reach}.")
    query = query_key_value(inputs)[0].mean(dim=(0, 2))  # (heads, d_k)
    direction = query / query.square().sum(dim=-1, keepdim=True).clamp_min(1e-9) * inputs.weights.d_k**0.5
    offsets = torch.arange(-reach, reach + 1).abs() / reach
    table = (strength * (1 - 2 * offsets)).view(-1, 1, 1) * direction
    output, plain = SequenceFirst(SequenceFirstAttention(inputs.weights))(*inputs.call)
    changed, relative = SequenceFirst(RelativeAttention(inputs.weights, table))(*inputs.call)
    return RelativePositions(plain, relative, float((output - changed).abs().max()))
