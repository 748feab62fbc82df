"""Self-attention? Not really: a head compares tokens through a learned bilinear form, not as they are (seed 002)."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.implementations.weights import SiteWeights
from attnviz.transformer.attention import masked_softmax


@dataclass(frozen=True, eq=False)
class Modulation:
    """Two maps of the same input, and the form between them.

    `plain` is softmax(x xᵀ / √d_model), `own` the head's map, with whatever norms, positions and scale the model has;
    both `(length, length)`. `form` is W_Q W_Kᵀ
    `(d_model, d_model)`, of rank d_k at most; the head's biases are in `own` and not in `form`. `spectrum` holds the
    d_k largest singular values of `form`, falling. `linear_sums` are the sums of the visible scores of each row: what
    the weights would sum to without softmax.
    """

    plain: Float[Tensor, "q_len k_len"]
    own: Float[Tensor, "q_len k_len"]
    form: Float[Tensor, "d_model d_model"]
    spectrum: Float[Tensor, " d_k"]
    linear_sums: Float[Tensor, " q_len"]

    @property
    def difference(self) -> Float[Tensor, "q_len k_len"]:
        """The head's map less the plain one."""
        return self.own - self.plain

    @property
    def moved_share(self) -> Float[Tensor, " q_len"]:
        """Share of each row's weight that the two maps place on different keys, 0 to 1 (total variation)."""
        return self.difference.abs().sum(dim=-1) / 2

    @property
    def asymmetry(self) -> float:
        """|F - Fᵀ| / 2|F|, from 0 (symmetric: i looks at j as j at i) to 1; a random form has about 0.71."""
        return float((self.form - self.form.T).norm() / (2 * self.form.norm()))

    @property
    def from_identity(self) -> float:
        """The smallest |F - c I| / |F| over all c, from 0 (a multiple of the identity) to 1 (no part of it)."""
        alignment = float(self.form.diagonal().sum() / (self.form.norm() * math.sqrt(len(self.form))))
        return math.sqrt(max(0.0, 1 - alignment**2))


def modulation(
    weights: SiteWeights,
    x: Float[Tensor, "length d_model"],
    head: int,
    mask: Tensor | None = None,
) -> Modulation:
    """Compute the head's map of `x` beside softmax(x xᵀ / √d_model), under the same mask.

    `mask` is `(length, length)`, True = may attend.
    Raises ValueError for a head that there is not.
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
    # The singular values of a tall matrix times a wide one, from two small triangles instead of the whole form.
    triangle = torch.linalg.qr(W_Q)[1] @ torch.linalg.qr(W_K)[1].T
    return Modulation(plain, own, W_Q @ W_K.T, torch.linalg.svdvals(triangle), sums)
