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


@dataclass(frozen=True, slots=True, eq=False)
class ByteMatVec:
    """`x @ weight^T + bias` of a single row, nearly: each column of the weight is 256 levels between its extremes.

    The sum of columns of `MatVec`, over bytes.
    """

    columns: Tensor
    bias: Float[Tensor, " out"] | None
    first: Tensor

    @classmethod
    def of(cls, weight: Float[Tensor, "out in"], bias: Float[Tensor, " out"] | None = None) -> "ByteMatVec":
        """The product with a rounded copy of a weight."""
        columns = torch.ops.quantized.embedding_bag_byte_prepack(weight.t().contiguous())
        return cls(columns, bias, torch.zeros(1, dtype=torch.long))

    @classmethod
    def like(cls, module: nn.Linear) -> "ByteMatVec":
        """What the module computes, with the weights that it has now, rounded."""
        return cls.of(module.weight, module.bias)

    def __call__(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """One row; columns that weigh nothing, as most do after a ReLU, are not read."""
        row = x.reshape(-1)
        some = row.nonzero().squeeze(1)
        out = _sum_of_columns(self.columns, some, self.first, False, 0, False, row.index_select(0, some))[0]
        out = out if self.bias is None else out.add_(self.bias)
        return out.view(*x.shape[:-1], -1)


_sum_of_columns = torch.ops.quantized.embedding_bag_byte_rowwise_offsets.default  # one overload: nothing to look up

Product = type[MatVec] | type[ByteMatVec]
