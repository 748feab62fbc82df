"""Multi-head attention as eight steps that can be replaced one by one: a bug is one wrong step among correct ones."""

# ruff: noqa: D103 - its name describes a step; the cabinet shows it beside a wrong one.

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch.nn.functional as F
from torch import Tensor

from attnviz.implementations.weights import SiteWeights
from attnviz.transformer.attention import masked_softmax
from attnviz.transformer.dropout import Dropout, apply_dropout


def head_size(d_heads: int, n_heads: int) -> int:
    return d_heads // n_heads


def split(x: Tensor, n_heads: int, size: int) -> Tensor:
    return x.view(x.shape[0], x.shape[1], n_heads, size).transpose(1, 2)


def scores(query: Tensor, key: Tensor, d_model: int) -> Tensor:
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])


def weigh(scores: Tensor, mask: Tensor | None) -> Tensor:
    return masked_softmax(scores, mask)


def returned_weights(attn: Tensor, dropped: Tensor) -> Tensor:
    return attn


def merge(context: Tensor) -> Tensor:
    return context.transpose(1, 2).contiguous().view(context.shape[0], context.shape[2], -1)


def output_bias(weights: SiteWeights) -> Tensor:
    return weights.b_o


def switch_off_head(context: Tensor, head: int, project: Callable[[Tensor], Tensor]) -> Tensor:
    kept = context.clone()
    kept[:, head] = 0
    return project(kept)


@dataclass(frozen=True)
class AttentionSteps:
    """The function for each step.

    Heads are `(batch, heads, length, size)` between `split` and `merge`. `switch_off_head` is called if a head is
    switched off; its `project` merges heads and applies `W_o`.
    """

    head_size: Callable = head_size
    split: Callable = split
    scores: Callable = scores
    weigh: Callable = weigh
    returned_weights: Callable = returned_weights
    merge: Callable = merge
    output_bias: Callable = output_bias
    switch_off_head: Callable = switch_off_head


RIGHT = AttentionSteps()


@dataclass(frozen=True, eq=False)
class SteppedAttention:
    """An attention function made of `steps`, for one site's weights.

    `dropout` applies to the attention weights, as in training. `off` is a head that is switched off, or None.
    """

    weights: SiteWeights
    steps: AttentionSteps = RIGHT
    dropout: Dropout | None = None
    off: int | None = None

    def __call__(self, input_: Tensor, memory: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Compute output and weights, with shapes as in `Attention`."""
        context, attn = self.context(input_, memory, None if mask is None else mask.unsqueeze(1))
        return self.output(context), attn

    def output(self, context: Tensor) -> Tensor:
        """Merge and project the heads' contexts, `(batch, q_len, d_model)`."""
        if self.off is None:
            return self._project(context)
        return self.steps.switch_off_head(context, self.off, self._project)

    def context(self, input_: Tensor, memory: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        """Compute each head's context, `(batch, heads, q_len, d_v)`, and the weights.

        `mask` is 4-D here, `(batch or 1, heads or 1, q_len or 1, k_len)`.
        """
        weights, steps = self.weights, self.steps
        query, key, value = (
            steps.split(F.linear(x, weight, bias), weights.n_heads, steps.head_size(len(weight), weights.n_heads))
            for x, (weight, bias) in zip((input_, memory, memory), weights.pairs[:3], strict=True)
        )
        query, key = weights.scoring.transform(query, key, (input_.shape[1], memory.shape[1]))
        attn = steps.weigh(weights.scoring.add_bias(steps.scores(query, key, weights.d_model)), mask)
        after = apply_dropout(attn, self.dropout)
        return after @ value, steps.returned_weights(attn, after)

    def _project(self, context: Tensor) -> Tensor:
        return self.steps.merge(context) @ self.weights.W_o.T + self.steps.output_bias(self.weights)
