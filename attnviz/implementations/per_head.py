"""A parameter tensor with a head dimension for each role (the idea of seed 001, corrected)."""

import math

from torch import Tensor

from attnviz.implementations.weights import SiteWeights


class PerHeadAttention:
    """`W_Q` and `W_K` `(heads, d_model, d_k)`, `W_V` `(heads, d_model, d_v)`, `W_O` `(heads, d_v, d_model)`.

    The code is the formula of one head, and the head dimension extends it to all heads. It needs no view and no
    transpose, because heads are never joined in one dimension: `Concat(head_1, …) W_O` is the sum of every head's
    context times its own `W_O`.
    """

    def __init__(self, weights: SiteWeights) -> None:
        heads, self.scoring = weights.n_heads, weights.scoring
        (W_q, b_q), (W_k, b_k), (W_v, b_v), (W_o, self.b_O) = weights.pairs  # noqa: N806 - the paper's names
        self.W_Q, self.b_Q = W_q.unflatten(0, (heads, -1)).mT, b_q.view(heads, 1, -1)
        self.W_K, self.b_K = W_k.unflatten(0, (heads, -1)).mT, b_k.view(heads, 1, -1)
        self.W_V, self.b_V = W_v.unflatten(0, (heads, -1)).mT, b_v.view(heads, 1, -1)
        self.W_O = W_o.T.unflatten(0, (heads, -1))

    def __call__(self, input_: Tensor, memory: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Compute output and weights, with shapes as in `Attention`."""
        input_, memory = input_.unsqueeze(1), memory.unsqueeze(1)  # (batch, 1, length, d_model), for every head
        query = input_ @ self.W_Q + self.b_Q
        key = memory @ self.W_K + self.b_K
        value = memory @ self.W_V + self.b_V
        query, key = self.scoring.transform(query, key)
        scores = self.scoring.add_bias(query @ key.mT / math.sqrt(query.shape[-1]))
        if mask is not None:
            scores = scores.masked_fill(~mask.unsqueeze(1), -math.inf)
        attn = scores.softmax(dim=-1)
        return (attn @ value @ self.W_O).sum(dim=1) + self.b_O, attn
