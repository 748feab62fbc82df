"""One row through a linear map, as fast as memory hands the weights over.

A step of decoding multiplies a single row with every weight that there is: it waits for memory, not for arithmetic.
`x @ W^T` is also a sum of the columns of W, each weighted by an entry of x. PyTorch's embedding bag computes that sum,
and reads columns that lie one after another (as `checkpoint.load` lays them) about twice as fast as its matrix product.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import embedding_bag, linear


@dataclass(frozen=True, slots=True, eq=False)
class MatVec:
    """`x @ weight^T + bias`, whatever the number of rows; a sum of columns where there is one and they lie so."""

    weight: Float[Tensor, "out in"]
    bias: Float[Tensor, " out"] | None
    every_column: Tensor | None
    first: Tensor | None

    @classmethod
    def of(cls, weight: Tensor, bias: Tensor | None = None) -> "MatVec":
        """The product with a weight, which stays where it is."""
        if not _by_column(weight):
            return cls(weight, bias, None, None)
        return cls(weight, bias, torch.arange(weight.shape[1]), torch.zeros(1, dtype=torch.long))

    @classmethod
    def like(cls, module: nn.Linear) -> "MatVec":
        """What the module computes, with the weights that it has now."""
        return cls.of(module.weight, module.bias)

    def __call__(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """One row or many, to as many rows."""
        if self.every_column is None or x.numel() != x.shape[-1]:
            return linear(x, self.weight, self.bias)
        out = embedding_bag(
            self.every_column, self.weight.t(), self.first, mode="sum", per_sample_weights=x.reshape(-1)
        )
        out = out if self.bias is None else out + self.bias
        return out.view(*x.shape[:-1], -1)


def _by_column(weight: Tensor) -> bool:
    """Whether the sum of columns is the faster way: on a CPU, in the type that it was measured in."""
    return weight.device.type == "cpu" and weight.dtype == torch.float32 and weight.t().is_contiguous()
