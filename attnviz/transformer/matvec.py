"""One row through a linear map, as fast as memory delivers the weights.

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
    """`x @ weight^T + bias` of any number of rows; of one row a sum of columns, where the weight's columns lie one
    after another.
    """

    weight: Float[Tensor, "out in"]
    bias: Float[Tensor, " out"] | None
    every_column: Tensor | None
    first: Tensor | None

    @classmethod
    def from_weight(cls, weight: Tensor, bias: Tensor | None = None) -> "MatVec":
        """Make the product with a weight, which is not copied."""
        if not _sums_columns(weight):
            return cls(weight, bias, None, None)
        return cls(weight, bias, torch.arange(weight.shape[1]), torch.zeros(1, dtype=torch.long))

    @classmethod
    def from_module(cls, module: nn.Linear) -> "MatVec":
        """Make the product with a module's weight and bias as they are now."""
        return cls.from_weight(module.weight, module.bias)

    def __call__(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Multiply one row or many."""
        if self.every_column is None or x.numel() != x.shape[-1]:
            return linear(x, self.weight, self.bias)
        out = embedding_bag(
            self.every_column, self.weight.t(), self.first, mode="sum", per_sample_weights=x.reshape(-1)
        )
        out = out if self.bias is None else out + self.bias
        return out.view(*x.shape[:-1], -1)


def _sums_columns(weight: Tensor) -> bool:
    """Check whether a sum of columns is faster: on a CPU, in the type that was measured."""
    return weight.device.type == "cpu" and weight.dtype == torch.float32 and weight.t().is_contiguous()


@dataclass(frozen=True, slots=True, eq=False)
class ByteMatVec:
    """`x @ weight^T + bias` of a single row, approximately: each column of the weight is 256 levels between its
    extremes.

    The sum of columns of `MatVec`, over bytes.
    """

    columns: Tensor
    bias: Float[Tensor, " out"] | None
    first: Tensor

    @classmethod
    def from_weight(cls, weight: Float[Tensor, "out in"], bias: Float[Tensor, " out"] | None = None) -> "ByteMatVec":
        """Make the product with a rounded copy of a weight."""
        columns = torch.ops.quantized.embedding_bag_byte_prepack(weight.t().contiguous())
        return cls(columns, bias, torch.zeros(1, dtype=torch.long))

    @classmethod
    def from_module(cls, module: nn.Linear) -> "ByteMatVec":
        """Make the product with a rounded copy of a module's weight."""
        return cls.from_weight(module.weight, module.bias)

    def __call__(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Multiply one row; columns of weight zero, as most have after a ReLU, are not read."""
        row = x.reshape(-1)
        some = row.nonzero().squeeze(1)
        out = _sum_of_columns(self.columns, some, self.first, False, 0, False, row.index_select(0, some))[0]
        out = out if self.bias is None else out.add_(self.bias)
        return out.view(*x.shape[:-1], -1)


_sum_of_columns = torch.ops.quantized.embedding_bag_byte_rowwise_offsets.default  # one overload: nothing to look up

Product = type[MatVec] | type[ByteMatVec]
