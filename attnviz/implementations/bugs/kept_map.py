"""A bug that needs two visitors: weights stored on a module that they share, shown with two real threads."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier

import torch
from torch import Tensor

from attnviz.implementations.steps import SteppedAttention
from attnviz.implementations.weights import Attention, SiteWeights

DRAWING = 2e-3  # seconds between running a module and reading its map, as when a page draws its frame first


class KeptMap:
    """A module that stores its weights as an attribute, as seeds 000, 002 and 003 do."""

    def __init__(self, weights: SiteWeights) -> None:
        self.attention = SteppedAttention(weights)
        self.attn: Tensor | None = None

    def forward(self, input_: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return only the output; the weights are stored in `attn`."""
        output, self.attn = self.attention(input_, memory, mask)
        return output


def kept_map(weights: SiteWeights) -> Attention:
    """Return an attention function of a shared module whose weights are read after the call."""
    module = KeptMap(weights)

    def attend(input_: Tensor, memory: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        output = module.forward(input_, memory, mask)
        time.sleep(DRAWING)
        return output, module.attn

    return attend


@dataclass(frozen=True, eq=False)
class Visits:
    """The maps that two visitors saw: how many, how many of them belonged to the other visitor, and an example
    of such a pair `(own, shown)`, or None.
    """

    maps: int
    wrong: int
    example: tuple[Tensor, Tensor] | None


def two_visitors(attend: Attention, inputs: Sequence[Tensor], *, rounds: int = 20) -> Visits:
    """Run the `inputs` `(1, length, d_model)` at the same moment in one thread each, `rounds` times."""
    alone = [_map_of(attend, x) for x in inputs]
    together = Barrier(len(inputs), timeout=30)
    with ThreadPoolExecutor(len(inputs)) as threads:
        jobs = [threads.submit(_visits, attend, x, together=together, rounds=rounds) for x in inputs]
        seen = [job.result() for job in jobs]
    pairs = [(own, shown) for own, maps in zip(alone, seen, strict=True) for shown in maps]
    wrong = [pair for pair in pairs if pair[0].shape != pair[1].shape or not torch.allclose(*pair, atol=1e-5)]
    return Visits(len(pairs), len(wrong), wrong[0] if wrong else None)


def _visits(attend: Callable, x: Tensor, *, together: Barrier, rounds: int) -> list[Tensor]:
    maps = []
    for _ in range(rounds):
        together.wait()
        maps.append(_map_of(attend, x))
    return maps


def _map_of(attend: Attention, x: Tensor) -> Tensor:
    with torch.inference_mode():  # grad mode is set per thread
        output, attn = attend(x, x, None)
    return output if attn is None else attn
