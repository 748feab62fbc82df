"""Plain attention with one head and no output map, and multi-head attention as a sum of such heads."""

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from attnviz.implementations.scoring import PLAIN, Scoring
from attnviz.implementations.weights import SiteWeights


@dataclass(frozen=True, eq=False)
class SingleAttention:
    """One head without `W_o`: `W_Q` and `W_K` `(d_model, d_k)`, `W_V` `(d_model, size of the output)`."""

    W_Q: Tensor
    b_Q: Tensor  # noqa: N815 - beside the paper's W_Q
    W_K: Tensor
    b_K: Tensor  # noqa: N815 - beside the paper's W_K
    W_V: Tensor
    b_V: Tensor  # noqa: N815 - beside the paper's W_V
    scoring: Scoring = PLAIN  # norms and rotation of queries and keys, if the model has them

    @classmethod
    def from_site(cls, weights: SiteWeights, head: int) -> "SingleAttention":
        """Return one head of a site. Its output is the head's context before `W_o`."""
        keys, values = weights.rows(head, weights.d_k), weights.rows(head, weights.d_v)
        return cls(
            weights.W_q[keys].T,
            weights.b_q[keys],
            weights.W_k[keys].T,
            weights.b_k[keys],
            weights.W_v[values].T,
            weights.b_v[values],
            weights.scoring.head_scoring(head),
        )

    def __call__(self, input_: Tensor, memory: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Compute output and weights, with shapes as in `Attention`."""
        query, key = input_ @ self.W_Q + self.b_Q, memory @ self.W_K + self.b_K
        value = memory @ self.W_V + self.b_V
        query, key = self.scoring.transform(query, key)
        scores = self._add_bias(query @ key.mT / math.sqrt(query.shape[-1]))
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        attn = scores.softmax(dim=-1)
        return attn @ value, attn

    def _add_bias(self, scores: Tensor) -> Tensor:
        return self.scoring.add_bias(scores.unsqueeze(1)).squeeze(1)  # a single head has no head dimension


class SumOfSingles:
    """Multi-head attention as a sum of single attentions, without `W_o`.

    The part of `W_o` for head h is multiplied into its `W_V`, which then maps `d_model` to `d_model`.
    """

    def __init__(self, weights: SiteWeights) -> None:
        self.heads = [self._fold(weights, head) for head in range(weights.n_heads)]
        self.b_o = weights.b_o

    def _fold(self, weights: SiteWeights, head: int) -> SingleAttention:
        plain = SingleAttention.from_site(weights, head)
        W_O = weights.W_o[:, weights.rows(head, weights.d_v)].T  # noqa: N806 - the paper's name
        return replace(plain, W_V=plain.W_V @ W_O, b_V=plain.b_V @ W_O)

    def __call__(self, input_: Tensor, memory: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Compute output and weights, with shapes as in `Attention`."""
        outputs, maps = zip(*(head(input_, memory, mask) for head in self.heads), strict=True)
        return torch.stack(outputs).sum(dim=0) + self.b_o, torch.stack(maps, dim=1)
