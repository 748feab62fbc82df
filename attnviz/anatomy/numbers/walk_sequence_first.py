"""The shape walk with the length dimension first: (length, batch, heads, d_k), using einsum."""

import math

import torch

from attnviz.anatomy.numbers.walk_lines import Walk, WalkStep, output_lines
from attnviz.anatomy.numbers.walk_scoring import scale_code, scale_why, scored_lines, turned_lines


class SequenceFirstWalk(Walk):
    """Shape walk with `view`, products by einsum, `contiguous`, `view`."""

    def steps(self) -> list[WalkStep]:
        """Run every line, and return the lines in order."""
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
            "einsum may leave its result in another memory order; where it did, this copies.",
            context,
        )
        output_lines(self, block, "q_len, batch", "q_len batch")
        return self.done

    def split(self, step: WalkStep) -> WalkStep:
        """Append `view` of one projection; einsum needs no transpose."""
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
        """Append the lines from scores to context."""
        axes = "q_len k_len batch heads"
        scores = self.line(
            f'scores = einsum("ibhd,jbhd->ijbh", query, key){scale_code(self)}',
            torch.einsum("ibhd,jbhd->ijbh", query.tensor, key.tensor) * self.weights.scale,
            axes,
            "Both lengths in front, batch and heads behind: the letters say what is multiplied and summed."
            + scale_why(self),
            query,
        )
        scores = scored_lines(self, scores)
        product = scores.tensor
        mask = self.line(
            f"{self.mask_code}.permute(1, 2, 0)",
            self.mask.permute(1, 2, 0),
            "q_len k_len batch",
            "True where a key may be seen, sequence first as well." + self.no_mask(),
        )
        wide = self.line(
            "mask = mask.unsqueeze(-1)",
            mask.tensor.unsqueeze(-1),
            axes,
            "Here the heads come last, and so does the axis of size 1.",
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
