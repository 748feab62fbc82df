"""Time and peak memory of every implementation as the sentence grows."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

import torch

from attnviz.analysis.site.peak_memory import peak_memory
from attnviz.implementations.ways import WAYS
from attnviz.implementations.weights import Attention, SiteWeights

LENGTHS = (16, 32, 64, 128, 256, 512, 1024)
TIME_METHOD = (
    "median of up to five runs of self-attention on random input after one to warm up, one sentence, one thread"
)


@dataclass(frozen=True)
class WayCost:
    """Cost of one implementation at one length: seconds of a pass, bytes at its peak."""

    way: str
    length: int
    seconds: float
    nbytes: int


def implementation_cost(
    weights: SiteWeights, lengths: tuple[int, ...] = LENGTHS, *, enough: float = 0.3, seed: int = 0
) -> Iterator[WayCost]:
    """One result after another, the shortest length first, so that a page can show how far it is.

    `enough` is the time in seconds after which a pass is not repeated any more. A way that cannot have these sizes is
    left out.
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
