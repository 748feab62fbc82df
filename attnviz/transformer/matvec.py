"""Multiply a single row with a weight matrix, as fast as memory delivers the weights.

A decoding step multiplies one row with every weight of the model, so it waits for memory and not for arithmetic. `x @
W^T` is also a sum of the columns of W, each weighted by an entry of x. PyTorch's embedding bag computes that sum, and
if each column is contiguous (as `checkpoint.load` stores them) it reads about twice as fast as the matrix product.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import embedding_bag, linear


@dataclass(frozen=True, slots=True, eq=False)
class MatVec:
    """Compute `x @ weight^T + bias` for any number of rows.

    A single row is computed as a sum of columns if the weight's columns are contiguous.
    """

    weight: Float[Tensor, "out in"]
    bias: Float[Tensor, " out"] | None
    every_column: Tensor | None
    first: Tensor | None

    @classmethod
    def from_weight(cls, weight: Tensor, bias: Tensor | None = None) -> "MatVec":
        """Return the product with a weight, which is not copied."""
        if not _sums_columns(weight):
            return cls(weight, bias, None, None)
        return cls(weight, bias, torch.arange(weight.shape[1]), torch.zeros(1, dtype=torch.long))

    @classmethod
    def from_module(cls, module: nn.Linear) -> "MatVec":
        """Return the product with a module's current weight and bias."""
        return cls.from_weight(module.weight, module.bias)

    def __call__(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Multiply one row or many rows."""
        if self.every_column is None or x.numel() != x.shape[-1]:
            return linear(x, self.weight, self.bias)
        out = embedding_bag(
            self.every_column, self.weight.t(), self.first, mode="sum", per_sample_weights=x.reshape(-1)
        )
        out = out if self.bias is None else out + self.bias
        return out.view(*x.shape[:-1], -1)


def _sums_columns(weight: Tensor) -> bool:
    """Check whether a sum of columns is faster: on a CPU, in float32 (which was measured), with contiguous columns."""
    return weight.device.type == "cpu" and weight.dtype == torch.float32 and weight.t().is_contiguous()


@dataclass(frozen=True, slots=True, eq=False)
class ByteMatVec:
    """Approximate `x @ weight^T + bias` for a single row: each column of the weight is rounded to 256 levels.

    This is the sum of columns of `MatVec`, with bytes.
    """

    columns: Tensor
    bias: Float[Tensor, " out"] | None
    first: Tensor

    @classmethod
    def from_weight(cls, weight: Float[Tensor, "out in"], bias: Float[Tensor, " out"] | None = None) -> "ByteMatVec":
        """Return the product with a rounded copy of a weight."""
        columns = torch.ops.quantized.embedding_bag_byte_prepack(weight.t().contiguous())
        return cls(columns, bias, torch.zeros(1, dtype=torch.long))

    @classmethod
    def from_module(cls, module: nn.Linear) -> "ByteMatVec":
        """Return the product with a rounded copy of a module's weight."""
        return cls.from_weight(module.weight, module.bias)

    def __call__(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Multiply one row. Columns whose entry of `x` is zero, as most are after a ReLU, are not read."""
        row = x.reshape(-1)
        some = row.nonzero().squeeze(1)
        out = _sum_of_columns(self.columns, some, self.first, False, 0, False, row.index_select(0, some))[0]
        out = out if self.bias is None else out.add_(self.bias)
        return out.view(*x.shape[:-1], -1)


_sum_of_columns = torch.ops.quantized.embedding_bag_byte_rowwise_offsets.default  # .default skips choosing an overload

Product = type[MatVec] | type[ByteMatVec]
