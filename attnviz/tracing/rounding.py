"""Estimate rounding errors: a probe that changes each value of a pass by one unit in its last place, up or down.

The difference from the unchanged pass shows what rounding may do to this very pass, value by value. This is random
rounding as in J. Vignes, "A stochastic arithmetic for reliable scientific computation" (Mathematics and Computers in
Simulation 35, 1993).
"""

from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from attnviz.transformer.probe import AttentionCall, Probe, Site, Stack

PASSES = 4  # with eight passes, the largest difference is hardly larger
FACTOR = 16  # a sum of many values is rounded many times: correct models of 2 to 48 layers need up to 5
_OWN_ROUNDING = 4 * torch.finfo(torch.float32).eps  # weights are always computed in float32
_FARTHEST = 40.0  # for scores: beyond it, the exponential is practically infinite
_ROUNDED = frozenset({
    functional.linear, functional.softmax, functional.layer_norm, functional.scaled_dot_product_attention,
    functional.gelu, functional.silu, torch.matmul, torch.bmm, torch.addmm, torch.baddbmm, torch.softmax,
    torch.einsum, Tensor.matmul, Tensor.bmm, Tensor.__matmul__, Tensor.softmax,
})  # fmt: skip


def weights_within(
    attn: Float[Tensor, "*heads q_len k_len"], scores: Float[Tensor, "*heads q_len"]
) -> Float[Tensor, "*heads q_len"]:
    """Bound how far any weight of a row can move if the row's scores move by at most `scores`.

    If scores move by at most δ, a weight p stays between p / (p + (1 - p) e^2δ) and p e^2δ / (1 - p + p e^2δ).
    """
    weights = attn.double()
    odds = (2 * scores.double().clamp(max=_FARTHEST)).exp().unsqueeze(-1)
    risen = weights * odds / (1 - weights + weights * odds) - weights
    fallen = weights - weights / (weights + (1 - weights) * odds)
    return (torch.maximum(risen, fallen).nan_to_num(nan=0.0).amax(dim=-1) + _OWN_ROUNDING).float()


def largest_magnitude(numbers: Tensor) -> Tensor:
    """Return max|x| along the last axis over finite values only, so that an infinite difference does not count as
    allowed.
    """
    return numbers.abs().nan_to_num(nan=0.0, posinf=0.0).amax(dim=-1)


@dataclass
class Rounding(Probe):
    """Change the inputs and outputs of attention and the output of each layer by `epsilon` times each value, up or
    down.

    An object is made for one run. The generator draws the directions on the CPU, so that a seed gives the same result
    on every device.
    """

    epsilon: float
    generator: torch.Generator

    def on_call(self, site: Site, call: AttentionCall) -> AttentionCall:
        """Change queries, keys and values; change the scores instead if a call is known only by its scores."""
        names = ("query", "key", "value") if call.has_queries else ("bias", "value")
        return replace(call, **{name: self._perturb_values(getattr(call, name)) for name in names})

    def on_context(self, site: Site, context: Tensor) -> Tensor:
        """Change the heads' contexts."""
        return self._perturb_values(context)

    def on_layer(self, stack: Stack, layer: int, output: Tensor) -> Tensor:
        """Change a layer's output."""
        return self._perturb_values(output)

    def _perturb_values(self, numbers: Tensor) -> Tensor:
        return _perturb_values(numbers, self.epsilon, self.generator)


class RoundOtherwise(TorchFunctionMode):
    """Change each result of a matrix product, norm or softmax by `epsilon` of its size, in this thread only.

    This is for a pass whose attention no probe can hook.
    """

    def __init__(self, epsilon: float, generator: torch.Generator) -> None:
        super().__init__()
        self._epsilon, self._generator = epsilon, generator

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call a torch function, and perturb its result if the function rounds."""
        result = func(*args, **(kwargs or {}))
        if func not in _ROUNDED or not isinstance(result, Tensor) or not result.is_floating_point():
            return result
        return _perturb_values(result, self._epsilon, self._generator)


def _perturb_values(numbers: Tensor, epsilon: float, generator: torch.Generator) -> Tensor:
    ups = torch.randint(2, numbers.shape, generator=generator, dtype=torch.int8).to(numbers.device)
    return numbers * (1 + epsilon * (2 * ups - 1).to(numbers.dtype))
