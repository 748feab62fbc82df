"""How far two correct computations of the same numbers may part, in a given floating-point type."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

# In units of the type's machine epsilon: what a trained three-layer model needs at 100 tokens, with room to spare.
ATTN_EPSILONS, HIDDEN_EPSILONS = 16.8, 84.0  # float32: 2e-6 and 1e-5
USUAL_SCORE = 16  # a score is rounded in proportion to its size, and softmax hands that on to the weights


@dataclass(frozen=True)
class Tolerance:
    """How far two correct computations may part: weights by `attn * (1 + max|score| / USUAL_SCORE)`, anything else by
    `hidden * (1 + max|x|)`.
    """

    attn: float
    hidden: float

    @classmethod
    def of(cls, dtype: str) -> "Tolerance":
        """The tolerance of a dtype's name, such as "float32"; it follows the type's machine epsilon."""
        epsilon = torch.finfo(getattr(torch, dtype)).eps
        return cls(ATTN_EPSILONS * epsilon, HIDDEN_EPSILONS * epsilon)

    def of_weights(self, scores: Float[Tensor, "q_len k_len"]) -> float:
        """What the weights of one head may part by."""
        return self.attn * (1 + _largest(scores) / USUAL_SCORE)

    def of_numbers(self, expected: Tensor) -> float:
        """What hidden states or logits may part by."""
        return self.hidden * (1 + _largest(expected))


def _largest(numbers: Tensor) -> float:
    """max|x| of those that are numbers: what is infinitely far must not allow itself to be."""
    return float(numbers.abs().nan_to_num(nan=0.0, posinf=0.0).max())
