"""The weights of one attention site, from which every implementation is made.

A weight has the layout of `nn.Linear`, `(out, in)`. Head h owns rows `h * d_k : (h + 1) * d_k` of `W_q` and `W_k`, rows
`h * d_v : (h + 1) * d_v` of `W_v`, and the columns with the same indices of `W_o`. Each implementation's constructor
rearranges them for its own layout.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor, nn

from attnviz.implementations.scoring import PLAIN, DistanceBias, Scoring
from attnviz.transformer.attention import MultiHeadAttention

Attention = Callable[[Tensor, Tensor, Tensor | None], tuple[Tensor, Tensor | None]]
"""`(input_, memory, mask) -> (output, attn or None)`: input_ `(batch, q_len, d_model)`, memory `(batch, k_len,
d_model)`, mask bool, True = may attend, `(batch or 1, q_len or 1, k_len)`; output `(batch, q_len, d_model)`, attn
`(batch, heads, q_len, k_len)` before dropout."""


@dataclass(frozen=True, eq=False)
class SiteWeights:
    """Weights `(out, in)` and biases of the four projections, the number of heads, and the scoring of queries and keys.

    A bias is zeros if the model has none, and `has_bias` is then False.
    """

    n_heads: int
    W_q: Tensor
    b_q: Tensor
    W_k: Tensor
    b_k: Tensor
    W_v: Tensor
    b_v: Tensor
    W_o: Tensor
    b_o: Tensor
    scoring: Scoring = field(default=PLAIN, kw_only=True)
    has_bias: tuple[bool, ...] = field(default=(True, True, True, True), kw_only=True)

    @classmethod
    def from_module(cls, module: MultiHeadAttention) -> "SiteWeights":
        """Take the weights of an attention module in the running model, without copying them."""
        projections = (module.W_q, module.W_k, module.W_v, module.W_o)
        return cls(module.n_heads, *(part.detach() for linear in projections for part in (linear.weight, linear.bias)))

    @classmethod
    def random(cls, n_heads: int, d_model: int, *, d_k: int, d_v: int | None = None, seed: int = 0) -> "SiteWeights":
        """Draw random weights of the usual scale and nonzero biases, for tests and for sizes that no model has."""
        generator = torch.Generator().manual_seed(seed)
        d_v = d_k if d_v is None else d_v
        sizes = ((n_heads * d_k, d_model), (n_heads * d_k, d_model), (n_heads * d_v, d_model), (d_model, n_heads * d_v))
        parts = ((torch.randn(out, in_, generator=generator) / in_**0.5, out) for out, in_ in sizes)
        return cls(n_heads, *(t for weight, out in parts for t in (weight, torch.randn(out, generator=generator) / 4)))

    @property
    def d_model(self) -> int:
        """Size of inputs and outputs."""
        return self.W_q.shape[1]

    @property
    def d_k(self) -> int:
        """Size of one head's queries and keys."""
        return self.W_q.shape[0] // self.n_heads

    @property
    def d_v(self) -> int:
        """Size of one head's values."""
        return self.W_v.shape[0] // self.n_heads

    @property
    def n_groups(self) -> int:
        """Number of groups of heads that share keys and values; without sharing, the number of heads."""
        parts = [part.unflatten(0, (self.n_heads, -1)) for part in (self.W_k, self.b_k, self.W_v, self.b_v)]
        return 1 + sum(
            not all(torch.equal(part[head], part[head - 1]) for part in parts) for head in range(1, self.n_heads)
        )

    @property
    def n_learned(self) -> int:
        """Number of trainable parameters: weights (shared ones once), biases if the model has them, and gains
        of norms.
        """
        once = (1, self.n_groups / self.n_heads, self.n_groups / self.n_heads, 1)
        maps = sum(
            round(share * (weight.numel() + (bias.numel() if biased else 0)))
            for share, (weight, bias), biased in zip(once, self.pairs, self.has_bias, strict=True)
        )
        return maps + sum(norm.gain.numel() for norm in (self.scoring.q_norm, self.scoring.k_norm) if norm is not None)

    @property
    def scale(self) -> float:
        """The factor applied to query · key: 1 / √d_k unless the model has its own scale."""
        return self.d_k**-0.5 if self.scoring.scale is None else self.scoring.scale

    @property
    def is_transformed(self) -> bool:
        """Whether queries and keys change between their projections and their product."""
        return self.scoring.transforms or self.scoring.scale is not None

    @property
    def is_unscaled(self) -> bool:
        """Whether the model does not scale query · key (T5)."""
        return self.scoring.scale is not None and abs(self.scoring.scale - 1) < 1e-6

    @property
    def pairs(self) -> tuple[tuple[Tensor, Tensor], ...]:
        """Weight and bias of `W_q`, `W_k`, `W_v` and `W_o`."""
        return (self.W_q, self.b_q), (self.W_k, self.b_k), (self.W_v, self.b_v), (self.W_o, self.b_o)

    def replace_bias(self, bias: Tensor | None) -> "SiteWeights":
        """Return the site with the relative position bias of a run, `(batch or 1, heads, q_len, k_len)`.

        Raise ValueError for a bias that depends on more than head and distance.
        """
        if bias is None:
            return self if self.scoring.bias is None else replace(self, scoring=replace(self.scoring, bias=None))
        if (table := DistanceBias.from_cells(bias)) is None:
            raise ValueError(
                "The bias that the model adds to the scores does not depend on the distance between query "
                "and key alone."
            )
        return replace(self, scoring=replace(self.scoring, bias=table))

    def rows(self, head: int, size: int) -> slice:
        """Return the slice of a projection's rows that belong to one head, with `size` rows per head."""
        return slice(head * size, (head + 1) * size)

    def to(self, dtype: torch.dtype) -> "SiteWeights":
        """Convert the weights to another dtype."""
        return self.replace_parts(part.to(dtype) for pair in self.pairs for part in pair)

    def replace_parts(self, parts: Iterable[Tensor]) -> "SiteWeights":
        """Return the site with other weights and biases, in the order of the fields."""
        names = (f"{what}_{role}" for role in "qkvo" for what in "Wb")
        return replace(self, **dict(zip(names, parts, strict=True)))  # type: ignore[arg-type]


def linear(weight: Tensor, bias: Tensor) -> nn.Linear:
    """Make an `nn.Linear` that shares these tensors."""
    module = nn.Linear(weight.shape[1], weight.shape[0], device="meta")
    module.weight = nn.Parameter(weight, requires_grad=False)
    module.bias = nn.Parameter(bias, requires_grad=False)
    return module
