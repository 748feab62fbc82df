"""Is it really self-attention? A head compares tokens through a learned bilinear form, not directly (seed 002)."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.implementations.weights import SiteWeights
from attnviz.transformer.attention import masked_softmax


@dataclass(frozen=True, eq=False)
class Modulation:
    """A head's map compared with plain self-attention on the same input, and the bilinear form of the head.

    `plain` is softmax(x xᵀ / √d_model), and `own` the head's map with the model's norms, positions and scale; both are
    `(length, length)`. `form` is W_Q W_Kᵀ `(d_model, d_model)`, of rank at most d_k, without the head's biases.
    `spectrum` has the d_k largest singular values of `form`, in falling order. `linear_sums` are the sums of each row's
    visible scores, which would be the sums of weights without softmax.
    """

    plain: Float[Tensor, "q_len k_len"]
    own: Float[Tensor, "q_len k_len"]
    form: Float[Tensor, "d_model d_model"]
    spectrum: Float[Tensor, " d_k"]
    linear_sums: Float[Tensor, " q_len"]

    @property
    def difference(self) -> Float[Tensor, "q_len k_len"]:
        """The head's map minus the plain map."""
        return self.own - self.plain

    @property
    def moved_share(self) -> Float[Tensor, " q_len"]:
        """Share of each row's weight that the two maps put on different keys, 0 to 1 (total variation)."""
        return self.difference.abs().sum(dim=-1) / 2

    @property
    def asymmetry(self) -> float:
        """|F - Fᵀ| / 2|F| of the form F, from 0 (symmetric) to 1; a random form has about 0.71."""
        return float((self.form - self.form.T).norm() / (2 * self.form.norm()))

    @property
    def from_identity(self) -> float:
        """The smallest |F - c I| / |F| over all c, from 0 (a multiple of the identity) to 1."""
        alignment = float(self.form.diagonal().sum() / (self.form.norm() * math.sqrt(len(self.form))))
        return math.sqrt(max(0.0, 1 - alignment**2))


def modulation(
    weights: SiteWeights,
    x: Float[Tensor, "length d_model"],
    head: int,
    mask: Tensor | None = None,
) -> Modulation:
    """Compute the head's map of `x`, and softmax(x xᵀ / √d_model), under the same mask.

    `mask` is `(length, length)`, True = may attend. Raise ValueError for a head that does not exist.
    """
    if not 0 <= head < weights.n_heads:
        raise ValueError(f"There is no head {head}: this site has heads 0 to {weights.n_heads - 1}.")
    rows = weights.rows(head, weights.d_k)
    W_Q, W_K = weights.W_q[rows].T, weights.W_k[rows].T  # noqa: N806 - the paper's names
    query, key = x @ W_Q + weights.b_q[rows], x @ W_K + weights.b_k[rows]
    plain = masked_softmax(x @ x.T / math.sqrt(x.shape[-1]), mask)
    scoring = weights.scoring.head_scoring(head)
    query, key = scoring.transform(query.unsqueeze(0), key.unsqueeze(0))
    scores = scoring.add_bias(query @ key.mT / math.sqrt(weights.d_k)).squeeze(0)
    own = masked_softmax(scores, mask)
    sums = (scores if mask is None else scores.masked_fill(~mask, 0)).sum(dim=-1)
    # Singular values of W_Q W_Kᵀ, computed from the small triangular factors of both matrices.
    triangle = torch.linalg.qr(W_Q)[1] @ torch.linalg.qr(W_K)[1].T
    return Modulation(plain, own, W_Q @ W_K.T, torch.linalg.svdvals(triangle), sums)
