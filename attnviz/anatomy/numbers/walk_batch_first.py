"""The shape walk with the batch dimension first: (batch, heads, length, d_k)."""

import math

from attnviz.anatomy.numbers.walk_lines import Walk, WalkStep, output_lines
from attnviz.anatomy.numbers.walk_scoring import scale_code, scale_why, scored_lines, turned_lines


class BatchFirstWalk(Walk):
    """Shape walk with `view`, `transpose`, batched products, `transpose`, `contiguous`, `view`."""

    def steps(self) -> list[WalkStep]:
        """Run every line, and return the lines in order."""
        inputs = self.inputs
        input_ = self.line(
            "input_ = norm(x)" if inputs.norm_first else "input_ = x",
            inputs.input_,
            "batch q_len d_model",
            "The layer's input to attention: two sentences, the shorter one padded.",
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
        """Append `view` and `transpose` of one projection."""
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
        """Append the lines from scores to context."""
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
            "An axis of size 1 where the scores have heads: one mask for every head.",
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
        """Append the lines from the heads' contexts to the output."""
        back = self.line(
            "context = context.transpose(1, 2)",
            context.tensor.transpose(1, 2),
            "batch q_len heads d_v",
            "Heads go back behind the length, so that a token's parts from all heads are neighbours again: as axes.",
            context,
        )
        block = self.line(
            "context = context.contiguous()",
            back.tensor.contiguous(),
            "batch q_len heads d_v",
            "Now in memory too: the only line that copies. The fused kernel's output follows the query's strides and "
            "needs no such copy; an explicit product does.",
            back,
        )
        output_lines(self, block, "batch, q_len", "batch q_len")
