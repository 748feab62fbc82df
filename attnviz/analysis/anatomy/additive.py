"""Scores by a dot product beside additive scores (Bahdanau et al. 2015): the same sizes, time and memory of each."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import torch
from torch import Tensor

from attnviz.analysis.site.peak_memory import peak_memory


@dataclass(frozen=True)
class ScoreCost:
    """Seconds of one way to make scores (median), and bytes at its peak."""

    seconds: float
    nbytes: int


def dot_product(query: Tensor, key: Tensor) -> Tensor:
    """query · key for every pair, `(heads, q_len, k_len)`: one matrix product."""
    return query @ key.mT


def additive_scores(query: Tensor, key: Tensor, v: Tensor) -> Tensor:
    """v · tanh(query + key) for every pair: each pair has a vector of its own before it becomes a number."""
    return (query.unsqueeze(-2) + key.unsqueeze(-3)).tanh() @ v


@torch.inference_mode()
def score_costs(n_heads: int, d_k: int, length: int, *, repeats: int = 5, seed: int = 0) -> dict[str, ScoreCost]:
    """Both ways on random queries and keys. Raises ValueError for a length below 1."""
    if length < 1:
        raise ValueError(f"The length must be at least 1, not {length}.")
    generator = torch.Generator().manual_seed(seed)
    query, key = (torch.randn(n_heads, length, d_k, generator=generator) for _ in range(2))
    v = torch.randn(d_k, generator=generator)
    calls = {"dot product": lambda: dot_product(query, key), "additive": lambda: additive_scores(query, key, v)}
    return {name: ScoreCost(_seconds(call, repeats), peak_memory(call).peak) for name, call in calls.items()}


def _seconds(call: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats + 1):  # the first one warms up
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return median(times[1:])
