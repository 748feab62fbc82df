"""The lines of a shape walk: a line with its resulting tensor, and the lines that both layouts share."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from attnviz.implementations.site_inputs import SiteInputs

Axes = tuple[tuple[str, int], ...]


@dataclass(frozen=True, eq=False)
class WalkStep:
    """One line: its code, the dimensions before and after with their sizes, the resulting tensor, and an explanation.

    `shares` is True if the result is a view of the input's memory.
    """

    name: str
    code: str
    before: Axes
    after: Axes
    tensor: Tensor
    why: str
    shares: bool = False

    @property
    def strides(self) -> tuple[int, ...]:
        """Number of elements to skip in memory for one step along each dimension."""
        return self.tensor.stride()

    @property
    def is_contiguous(self) -> bool:
        """Whether the memory order is the order of the dimensions."""
        return self.tensor.is_contiguous()

    @property
    def nbytes(self) -> int:
        """Bytes of the tensor's elements."""
        return self.tensor.numel() * self.tensor.element_size()

    @property
    def memory_bytes(self) -> int:
        """Bytes of the underlying memory, which are fewer than `nbytes` if a dimension is broadcast."""
        return self.tensor.untyped_storage().nbytes()


class Walk:
    """Runs lines one after another and records each. Dimension names are checked against the sizes."""

    def __init__(self, inputs: SiteInputs) -> None:
        self.inputs, self.weights, self.done = inputs, inputs.weights, list[WalkStep]()
        mask = torch.ones(1, 1, inputs.memory.shape[1], dtype=torch.bool) if inputs.mask is None else inputs.mask
        self.mask, self.open = mask, inputs.mask is None

    def line(self, code: str, tensor: Tensor, axes: str, why: str, of: WalkStep | None = None) -> WalkStep:
        """Record a line: `code`, applied to the result of the step `of`."""
        after = tuple(zip(axes.split(), tensor.shape, strict=True))
        shares = of is not None and of.tensor.untyped_storage().data_ptr() == tensor.untyped_storage().data_ptr()
        name = code.split(" = ")[0].split("[")[0]
        step = WalkStep(name, code, () if of is None else of.after, after, tensor, why, shares)
        self.done.append(step)
        return step

    def projection_lines(self, input_: WalkStep, memory: WalkStep, axes: str) -> list[WalkStep]:
        """Record the projections to query, key and value, each one matrix product for all heads."""
        weights, made = self.weights, []
        why = (
            "One product makes the queries of every head: head h will own columns h · d_k to (h + 1) · d_k.",
            "Keys come from memory: in self-attention it is input_ itself, in cross-attention the encoder's output.",
            "Values come from memory too; nothing forces their size to be that of the keys.",
        )
        sources = (input_, memory, memory)
        for name, of, (weight, bias), reason in zip(("q", "k", "v"), sources, weights.pairs[:3], why, strict=True):
            long = {"q": "query", "k": "key", "v": "value"}[name]
            tensor = F.linear(of.tensor, weight, bias)
            names = axes.format(length="q_len" if name == "q" else "k_len")
            made.append(self.line(f"{long} = W_{name}({of.name})", tensor, names, reason, of))
        return made

    @property
    def mask_code(self) -> str:
        """Code that makes a mask like this site's, batch first."""
        if self.open:
            return "mask = torch.ones(1, 1, k_len, dtype=torch.bool)"
        padding, causal = "(ids != pad_id).unsqueeze(1)", "torch.ones(1, q_len, k_len, dtype=torch.bool).tril()"
        if self.mask.shape[1] == 1:
            return f"mask = {padding}"
        lower = torch.ones(self.mask.shape[1:], dtype=torch.bool).tril()
        seen = self.mask.any(dim=1, keepdim=True)  # keys that some query sees
        if torch.equal(self.mask, lower.expand_as(self.mask)):
            return f"mask = {causal}"
        if torch.equal(self.mask, lower & seen):
            return f"mask = causal & {padding}"
        return "mask = mask_of_the_model  # (batch, q_len, k_len)"

    def no_mask(self) -> str:
        """Return a sentence for a site without a mask, or ""."""
        return " This site has no mask: every cell is True." if self.open else ""


def output_lines(walk: Walk, block: WalkStep, sizes: str, axes: str) -> None:
    """Record the last two lines, which are the same in both layouts."""
    joined = walk.line(
        f"context = context.view({sizes}, heads · d_v)",
        block.tensor.view(*block.tensor.shape[:2], -1),
        f"{axes} heads·d_v",
        "Heads one after another: the paper's Concat, without moving a number.",
        block,
    )
    walk.line(
        "output = W_o(context)",
        F.linear(joined.tensor, walk.weights.W_o, walk.weights.b_o),
        f"{axes} d_model",
        "Mixes the heads' results and gives them the size of the residual stream.",
        joined,
    )
