"""Rounding, played once more: a probe that moves each number of a pass by a unit in its last place, up or down.

What differs afterwards is what rounding may do to this very pass, place by place: random rounding as in J. Vignes, "A
stochastic arithmetic for reliable scientific computation" (Mathematics and Computers in Simulation 35, 1993).
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from attnviz.transformer.probe import AttentionCall, Probe, Site, Stack


@dataclass
class Rounding(Probe):
    """Moves what goes into attention, what comes out of it and what leaves each layer, `epsilon` of each number's size.

    Made for one run: the generator draws the directions, on the CPU, so that a seed means the same everywhere.
    """

    epsilon: float
    generator: torch.Generator

    def on_call(self, site: Site, call: AttentionCall) -> AttentionCall:
        """Queries, keys and values, moved."""
        moved = (self._moved(part) for part in (call.query, call.key, call.value))
        return replace(call, **dict(zip(("query", "key", "value"), moved, strict=True)))

    def on_context(self, site: Site, context: Tensor) -> Tensor:
        """What the heads gathered, moved."""
        return self._moved(context)

    def on_layer(self, stack: Stack, layer: int, output: Tensor) -> Tensor:
        """What leaves a layer, moved."""
        return self._moved(output)

    def _moved(self, numbers: Tensor) -> Tensor:
        ups = torch.randint(2, numbers.shape, generator=self.generator, dtype=torch.int8).to(numbers.device)
        return numbers * (1 + self.epsilon * (2 * ups - 1).to(numbers.dtype))
