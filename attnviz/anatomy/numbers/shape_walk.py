"""One attention site line by line, with explicit matrix products: every tensor with its dimensions, strides and
bytes.
"""

import math
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from attnviz.implementations.scoring import Rotation
from attnviz.implementations.site_inputs import SiteInputs

Layout = Literal["batch_first", "sequence_first"]
LAYOUTS: tuple[Layout, ...] = ("batch_first", "sequence_first")
_NORM = (
    "Each head's numbers are divided by their root mean square and multiplied by a learned gain, the same for all "
    "heads ({role}, {size} numbers), so a vector's length no longer matters."
)
_ROTATION = (
    "Rotary positions (RoFormer, Su et al. 2021, equation 34): {turned} are rotated, in pairs of {pair}, by position × "
    "frequency, from {fast:.3g} to {slow:.2g} radians a token; cos and sin are ({length}, {size}), "
    "and partner makes (−b, a) of a pair (a, b). {both}{factor}"
)
_BOTH = {
    "query": "The product of a query at i and a key at j then depends only on the distance i − j.",
    "key": "Rotated like the queries, each by its own position. Values are not rotated.",
}
_BIAS = (
    "A learned number for each head and distance, key − query, the same wherever the two stand (T5, Raffel et al. "
    "2020, section 2.1): from {low:.3g} to {high:.3g} here. The model has no other positions."
)
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


@torch.inference_mode()
def shape_walk(inputs: SiteInputs, layout: str = "batch_first") -> tuple[WalkStep, ...]:
    """Run one site on its inputs, and return every line in order. Raise ValueError for an unknown layout."""
    if layout not in LAYOUTS:
        raise ValueError(f"layout must be one of {', '.join(LAYOUTS)}, not {layout!r}.")
    return tuple((BatchFirstWalk(inputs) if layout == "batch_first" else SequenceFirstWalk(inputs)).steps())


class Walk:
    """Runs the lines of attention code one after another, and records the tensor that each line makes.

    Each dimension has a name, and its size is checked.
    """

    def __init__(self, inputs: SiteInputs) -> None:
        self.inputs, self.weights, self.done = inputs, inputs.weights, list[WalkStep]()
        mask = torch.ones(1, 1, inputs.memory.shape[1], dtype=torch.bool) if inputs.mask is None else inputs.mask
        self.mask, self.open = mask, inputs.mask is None

    def line(self, code: str, tensor: Tensor, axes: str, why: str, of: WalkStep | None = None) -> WalkStep:
        """Record a line of code that made `tensor` from the result of the step `of`."""
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
        """Return a message that the site has no mask, or "" if it has one."""
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


def turned_lines(walk: Walk, step: WalkStep, *, length_at: int) -> WalkStep:
    """Record the model's norm and rotation of a query or key, if any. `length_at` is the dimension of positions."""
    scoring, name = walk.weights.scoring, step.name
    norm = scoring.q_norm if name == "query" else scoring.k_norm
    axes = " ".join(axis for axis, _ in step.after)
    if norm is not None:
        role = f"{name[0]}_norm"
        why = _NORM.format(role=role, size=len(norm.gain))
        step = walk.line(f"{name} = {role}({name})", norm(step.tensor), axes, why, step)
    if scoring.rotation is not None:
        made = scoring.rotation(step.tensor, length_at=length_at)
        step = walk.line(_rotation_code(name, scoring.rotation, walk), made, axes, _rotation_why(step, walk), step)
    return step


def scored_lines(walk: Walk, scores: WalkStep) -> WalkStep:
    """Record the line that adds the model's relative position bias to the scores, if any; return the last recorded
    step.
    """
    if (bias := walk.weights.scoring.bias) is None:
        return scores
    names = [axis for axis, _ in scores.after]
    sizes = dict(scores.after)
    cells = bias.cells(sizes["q_len"], sizes["k_len"])
    if names[0] == "batch":
        code = "scores = scores + bias  # bias (heads, q_len, k_len)"
    else:
        cells, code = cells.permute(1, 2, 0).unsqueeze(2), "scores = scores + bias  # bias (q_len, k_len, 1, heads)"
    why = _BIAS.format(low=float(cells.min()), high=float(cells.max()))
    return walk.line(code, scores.tensor + cells, " ".join(names), why, scores)


def scale_code(walk: Walk) -> str:
    """Return the code of the scale that follows the product of query and key."""
    weights = walk.weights
    return " / √d_k" if weights.scoring.scale is None else "" if weights.is_unscaled else f" * {weights.scale:.4g}"


def scale_why(walk: Walk) -> str:
    """Return a sentence for a model that does not divide by √d_k, or ""."""
    weights = walk.weights
    if weights.scoring.scale is None:
        return ""
    own = "does not scale its scores" if weights.is_unscaled else "has a scale of its own"
    return f" This model {own}: 1 / √d_k would be {weights.d_k**-0.5:.4g}."


def _rotation_code(name: str, rotation: Rotation, walk: Walk) -> str:
    if rotation.size == walk.weights.d_k:
        return f"{name} = {name} * cos + partner({name}) * sin"
    some = f"{name}[..., :{rotation.size}]"
    return f"{some} = {some} * cos + partner({some}) * sin"


def _rotation_why(step: WalkStep, walk: Walk) -> str:
    rotation, d_k = walk.weights.scoring.rotation, walk.weights.d_k
    assert rotation is not None  # checked by the caller
    every = "a head's numbers" if rotation.size == d_k else f"the first {rotation.size} of a head's {d_k} numbers"
    turning = rotation.frequencies.abs()
    return _ROTATION.format(
        turned=every,
        pair="neighbours" if rotation.interleaved else f"i and i + {len(rotation.frequencies)}",
        fast=float(turning.max()),
        slow=float(turning.min()),
        length="q_len" if step.name == "query" else "k_len",
        size=rotation.size,
        both=_BOTH[step.name],
        factor="" if rotation.factor == 1 else f" Both are also scaled by {rotation.factor:.4g} (YaRN).",
    )


class BatchFirstWalk(Walk):
    """Shape walk with `view`, `transpose`, batched products, `transpose`, `contiguous`, `view`."""

    def steps(self) -> list[WalkStep]:
        """Run the attention of the site line by line, and return the recorded lines in order."""
        inputs = self.inputs
        input_ = self.line(
            "input_ = norm(x)" if inputs.norm_first else "input_ = x",
            inputs.input_,
            "batch q_len d_model",
            "The layer's input to attention: a batch of two, the shorter one padded if their lengths differ.",
        )
        memory = self.line(
            "memory = input_" if inputs.memory is inputs.input_ else "memory = encoder(src)",
            inputs.memory,
            "batch k_len d_model",
            "Where keys and values come from.",
            input_ if inputs.memory is inputs.input_ else None,
        )
        query, key, value = self.projection_lines(input_, memory, "batch {length} heads·d_k")
        query, key, value = (self.split(step) for step in (query, key, value))
        query, key = (turned_lines(self, step, length_at=2) for step in (query, key))
        context = self.context_lines(query, key, value)
        self.output_lines(context)
        return self.done

    def split(self, step: WalkStep) -> WalkStep:
        """Record the lines that split a projection into heads: `view` and `transpose`."""
        name, heads, length = step.name, self.weights.n_heads, step.after[1][0]
        size = "d_v" if name == "value" else "d_k"
        cut = step.tensor.view(*step.tensor.shape[:2], heads, -1)
        viewed = self.line(
            f"{name} = {name}.view(batch, {length}, heads, {size})",
            cut,
            f"batch {length} heads {size}",
            f"The last axis is cut into heads. No number moves: {size} neighbours in memory become one head's.",
            step,
        )
        return self.line(
            f"{name} = {name}.transpose(1, 2)",
            cut.transpose(1, 2),
            f"batch heads {length} {size}",
            "The head axis goes before the length, since a batched product works on the last two axes. Only strides "
            "change; the tensor is no longer contiguous.",
            viewed,
        )

    def context_lines(self, query: WalkStep, key: WalkStep, value: WalkStep) -> WalkStep:
        """Record the lines that compute the scores, the masked softmax, and the heads' contexts."""
        scores = self.line(
            f"scores = query @ key.transpose(-2, -1){scale_code(self)}",
            query.tensor @ key.tensor.transpose(-2, -1) * self.weights.scale,
            "batch heads q_len k_len",
            "Every query times every key. The batch and head axes in front replace two loops." + scale_why(self),
            query,
        )
        scores = scored_lines(self, scores)
        product = scores.tensor
        mask = self.line(
            self.mask_code,
            self.mask,
            "batch q_len k_len",
            "True where a key may be seen; an axis of size 1 means: the same for all." + self.no_mask(),
        )
        wide = self.line(
            "mask = mask.unsqueeze(1)",
            self.mask.unsqueeze(1),
            "batch heads q_len k_len",
            "The new axis of size 1 stands where the scores have their head axis, so that every head "
            "uses the same mask.",
            mask,
        )
        spread = self.line(
            "mask = mask.expand_as(scores)",
            wide.tensor.expand_as(product),
            "batch heads q_len k_len",
            "What broadcasting does automatically: axes of size 1 get stride 0, so the same numbers are read again and "
            "again.",
            wide,
        )
        masked = self.line(
            "masked_scores = scores.masked_fill(~mask, -inf)",
            product.masked_fill(~spread.tensor, -math.inf),
            "batch heads q_len k_len",
            "This comes before the softmax, so that the weight of hidden keys goes to the other keys.",
            scores,
        )
        attn = self.line(
            "attn = masked_scores.softmax(dim=-1)",
            masked.tensor.softmax(dim=-1),
            "batch heads q_len k_len",
            "Softmax over the keys, the last axis: each row of a head sums to 1.",
            masked,
        )
        return self.line(
            "context = attn @ value",
            attn.tensor @ value.tensor,
            "batch heads q_len d_v",
            "The mean of the values, weighted by attn; still one result for each head.",
            attn,
        )

    def output_lines(self, context: WalkStep) -> None:
        """Record the lines that merge the heads' contexts and apply `W_o`."""
        back = self.line(
            "context = context.transpose(1, 2)",
            context.tensor.transpose(1, 2),
            "batch q_len heads d_v",
            "The head axis moves behind the length axis again, so that the results of all heads for "
            "one token are neighbours in the last two axes.",
            context,
        )
        block = self.line(
            "context = context.contiguous()",
            back.tensor.contiguous(),
            "batch q_len heads d_v",
            "This line copies the tensor, so that those results are also neighbours in memory. It is "
            "the only line that copies. The fused kernel's output follows the query's strides and "
            "needs no such copy; an explicit product does.",
            back,
        )
        output_lines(self, block, "batch, q_len", "batch q_len")


class SequenceFirstWalk(Walk):
    """Shape walk with `view`, products by einsum, `contiguous`, `view`."""

    def steps(self) -> list[WalkStep]:
        """Run the attention of the site line by line, and return the recorded lines in order."""
        inputs = self.inputs
        input_ = self.line(
            "input_ = norm(x)" if inputs.norm_first else "input_ = x",
            inputs.input_.transpose(0, 1).contiguous(),
            "q_len batch d_model",
            "The same numbers with the length in front, as recurrent networks had it.",
        )
        same = inputs.memory is inputs.input_
        memory = self.line(
            "memory = input_" if same else "memory = encoder(src)",
            input_.tensor if same else inputs.memory.transpose(0, 1).contiguous(),
            "k_len batch d_model",
            "Where keys and values come from.",
            input_ if same else None,
        )
        query, key, value = (
            self.split(step) for step in self.projection_lines(input_, memory, "{length} batch heads·d_k")
        )
        query, key = (turned_lines(self, step, length_at=0) for step in (query, key))
        context = self.context_lines(query, key, value)
        block = self.line(
            "context = context.contiguous()",
            context.tensor.contiguous(),
            "q_len batch heads d_v",
            "einsum may leave its result in another memory order; if so, this line copies it.",
            context,
        )
        output_lines(self, block, "q_len, batch", "q_len batch")
        return self.done

    def split(self, step: WalkStep) -> WalkStep:
        """Record the line that splits a projection into heads: `view`. einsum needs no transpose."""
        name, length = step.name, step.after[0][0]
        size = "d_v" if name == "value" else "d_k"
        return self.line(
            f"{name} = {name}.view({length}, batch, heads, {size})",
            step.tensor.view(*step.tensor.shape[:2], self.weights.n_heads, -1),
            f"{length} batch heads {size}",
            "The last axis is cut into heads. No transpose follows: the letters of einsum name the axes to multiply.",
            step,
        )

    def context_lines(self, query: WalkStep, key: WalkStep, value: WalkStep) -> WalkStep:
        """Record the lines that compute the scores, the masked softmax, and the heads' contexts."""
        axes = "q_len k_len batch heads"
        scores = self.line(
            f'scores = einsum("ibhd,jbhd->ijbh", query, key){scale_code(self)}',
            torch.einsum("ibhd,jbhd->ijbh", query.tensor, key.tensor) * self.weights.scale,
            axes,
            "The result has the two lengths first, then batch and heads. The letters of einsum say "
            "which axes are multiplied and summed." + scale_why(self),
            query,
        )
        scores = scored_lines(self, scores)
        product = scores.tensor
        mask = self.line(
            f"{self.mask_code}.permute(1, 2, 0)",
            self.mask.permute(1, 2, 0),
            "q_len k_len batch",
            "True where a key is visible. The sequence axis comes first here too." + self.no_mask(),
        )
        wide = self.line(
            "mask = mask.unsqueeze(-1)",
            mask.tensor.unsqueeze(-1),
            axes,
            "In this layout heads are the last axis, so the new axis of size 1, for the heads, is last too.",
            mask,
        )
        spread = self.line(
            "mask = mask.expand_as(scores)",
            wide.tensor.expand_as(product),
            axes,
            "What broadcasting does automatically: axes of size 1 get stride 0.",
            wide,
        )
        masked = self.line(
            "masked_scores = scores.masked_fill(~mask, -inf)",
            product.masked_fill(~spread.tensor, -math.inf),
            axes,
            "This comes before the softmax, so that the weight of hidden keys goes to the other keys.",
            scores,
        )
        attn = self.line(
            "attn = masked_scores.softmax(dim=1)",
            masked.tensor.softmax(dim=1),
            axes,
            "Softmax over the keys: axis 1 in this layout, the last axis in the other layout.",
            masked,
        )
        return self.line(
            'context = einsum("ijbh,jbhd->ibhd", attn, value)',
            torch.einsum("ijbh,jbhd->ibhd", attn.tensor, value.tensor),
            "q_len batch heads d_v",
            "The weighted mean of the values, with the heads already in their place.",
            attn,
        )
