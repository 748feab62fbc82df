"""Result of an attention implementation on a site's inputs, with the correct result, or the error that torch raised."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from attnviz.implementations.bugs.bug import right_attention
from attnviz.implementations.site_inputs import SiteInputs
from attnviz.implementations.weights import Attention

SEEN = 1e-3  # smallest change of a weight that is visible on a map


@dataclass(frozen=True)
class Raised:
    """An exception instead of a result: its type and message."""

    error: str

    @classmethod
    def from_error(cls, error: Exception) -> "Raised":
        """Return an exception in the form in which the interpreter prints it."""
        return cls(f"{type(error).__name__}: {error}")


@dataclass(frozen=True, eq=False)
class SiteResult:
    """Output `(batch, q_len, d_model)` and weights `(batch, heads, q_len, k_len)`, with the correct ones."""

    output: Tensor
    attn: Tensor
    right_output: Tensor
    right_attn: Tensor

    @property
    def same_shape(self) -> bool:
        """Whether the output has the correct shape."""
        return self.output.shape == self.right_output.shape

    @property
    def output_change(self) -> float:
        """max |Δ| of the output; NaN if the shapes differ or there is a NaN."""
        return largest_change(self.output, self.right_output)

    @property
    def attn_change(self) -> float:
        """max |Δ| of the weights; NaN if the shapes differ or there is a NaN."""
        return largest_change(self.attn, self.right_attn)

    @property
    def row_sums(self) -> tuple[float, float]:
        """Smallest and largest row sum of the weights, ignoring rows with NaN; NaN if there are no other rows."""
        sums = self.attn.sum(dim=-1)
        sums = sums[~sums.isnan()]
        return (float(sums.min()), float(sums.max())) if sums.numel() else (float("nan"), float("nan"))

    @property
    def has_maps(self) -> bool:
        """Whether the maps can be compared with the correct ones."""
        return self.attn.shape == self.right_attn.shape

    def shows_at(self, head: int) -> int:
        """Return the index of the batch item to show for a head: the first item if its map visibly differs from the
        correct one.

        Otherwise return the item that differs most.
        """
        if not self.has_maps:
            return 0
        change = (self.attn - self.right_attn)[:, head].nan_to_num(torch.inf).abs().flatten(start_dim=1).amax(dim=1)
        return 0 if float(change[0]) > SEEN or float(change.max()) <= SEEN else int(change.argmax())


def largest_change(one: Tensor | None, other: Tensor | None) -> float:
    """Return max |one - other|; NaN if one is missing, the shapes differ, or a difference is NaN."""
    if one is None or other is None or one.shape != other.shape:
        return float("nan")
    return float((one - other).abs().max())


def describe_outcome(outcome: SiteResult | Raised) -> str:
    """Describe the result of an attention implementation in a few words, such as its error or largest difference."""
    if isinstance(outcome, Raised):
        return "raises " + outcome.error.split(":")[0]
    if math.isnan(outcome.output_change):
        return "silent: NaN"
    if outcome.output_change < 1e-5 and outcome.attn_change < 1e-5:
        return "right here by chance"
    return f"silent: output off by {outcome.output_change:.2g}"


@torch.inference_mode()
def outcome(attention: Attention, inputs: SiteInputs) -> SiteResult | Raised:
    """Run an attention implementation, and the correct one, on a site's inputs."""
    right_output, right_attn = right_attention(inputs)(*inputs.call)
    assert right_attn is not None  # the stepped attention always has its weights
    try:
        output, attn = attention(*inputs.call)
    except (RuntimeError, TypeError, ValueError) as error:
        return Raised.from_error(error)
    assert attn is not None  # compared implementations always return weights
    return SiteResult(output, attn, right_output, right_attn)
