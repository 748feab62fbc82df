"""A linear map whose weights are also there as their checkpoint stores them: 16 bits a number.

A pass over a sentence waits for weights to come from memory, and half as many bytes come in less time. FBGEMM reads
them so, and multiplies and sums in 32 bits: where 16 hold a weight exactly, nothing is rounded but the sums, as ever.
"""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import linear
from torch.overrides import has_torch_function_unary

Versions = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PackedWeight:
    """A copy of a weight and its bias in 16 bits, and which versions of the two it is a copy of.

    What autograd counts as a change is noticed; who writes through `.data` has to pack anew.
    """

    weight: Float[Tensor, "out in"]
    bias: Float[Tensor, " out"] | None
    versions: Versions
    copy: Any  # torch's own object

    @classmethod
    def of(cls, weight: Tensor, bias: Tensor | None = None) -> "PackedWeight | None":
        """None where 16 bits would round, and where nothing reads them fast: elsewhere than on a CPU with FBGEMM."""
        is_float = weight.device.type == "cpu" and weight.dtype == torch.float32 and not weight.is_inference()
        if not is_float or "fbgemm" not in torch.backends.quantized.supported_engines:
            return None
        if not torch.equal(weight.half().float(), weight):
            return None
        copy = torch.ops.quantized.linear_prepack_fp16(weight.detach().contiguous(), bias)
        return cls(weight, bias, _versions(weight, bias), copy)

    def stands_for(self, weight: Tensor, bias: Tensor | None) -> bool:
        """Whether it is a copy of these two as they are now."""
        return self.weight is weight and self.bias is bias and self.versions == _versions(weight, bias)

    def __call__(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """`x @ weight^T + bias`, without gradients."""
        return torch.ops.quantized.linear_dynamic_fp16(x, self.copy)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy of a model, or a pickle, is not packed."""
        return type(None), ()


class Packable(nn.Module):
    """A module that multiplies with its weight, and can be given a packed copy of it."""

    weight: Any
    bias: Any
    packed: PackedWeight | None = None

    def pack(self) -> None:
        """Copy the weight as it is now, if it can be packed."""
        self.packed = PackedWeight.of(self.weight, self.bias)

    def product(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """`x @ weight^T + bias`, of the packed copy if it is still one: torch's own where gradients are asked for, and
        where somebody listens for torch's functions.
        """
        packed = self.packed
        if packed is None or torch.is_grad_enabled() or has_torch_function_unary(x):
            return linear(x, self.weight, self.bias)
        is_read = x.dtype == torch.float32 and x.dim() >= 2 and packed.stands_for(self.weight, self.bias)
        return packed(x) if is_read else linear(x, self.weight, self.bias)

    def _apply(self, *how: Any, **options: Any) -> "Packable":
        self.packed = None  # what goes to another device or type and back is the same parameter, perhaps rounded
        return super()._apply(*how, **options)


class Linear(Packable, nn.Linear):
    """`nn.Linear`, which can be packed."""

    def forward(self, input: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """As torch's own."""
        return self.product(input)


def _versions(*tensors: Tensor | None) -> Versions:
    return tuple(tensor._version for tensor in tensors if tensor is not None)
