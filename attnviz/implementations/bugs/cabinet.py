"""The cabinet of bugs: each bug's description, whether it raises an error or stays silent, and the test that
catches it.
"""

from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import Tensor

from attnviz.implementations.bugs import wrong_steps
from attnviz.implementations.bugs.bug import Bug, right_attention
from attnviz.implementations.bugs.wrong_steps import kept_map, two_visitors
from attnviz.implementations.site_inputs import SiteInputs, odd_sized_inputs
from attnviz.implementations.weights import Attention, SiteWeights

__all__ = ["BUGS", "Bug", "right_attention"]

# One-line tests, each for one kind of bug. They return True for correct attention; a bug makes one return False or
# raise. `inputs` has sizes, input and mask; `attend` is the tested attention function.


def rows_sum_to_one(attend: Attention, inputs: SiteInputs) -> bool:
    return torch.allclose(inputs.visible_rows(map_of(attend, inputs)).sum(-1), torch.ones(()), atol=1e-3)


def hidden_keys_weigh_nothing(attend: Attention, inputs: SiteInputs) -> bool:
    return bool((map_of(attend, inputs).masked_select(~inputs.cells) == 0).all())


def no_row_but_the_last_sees_the_last_token(attend: Attention, inputs: SiteInputs) -> bool:
    other = inputs.with_other_last_token()
    return torch.allclose(attend(*inputs.call)[0][:, :-1], attend(*other.call)[0][:, :-1], atol=1e-5)


def steps_equal_one_pass(attend: Attention, inputs: SiteInputs) -> bool:
    step, whole = inputs.last_step(), inputs.one_pass()
    return torch.allclose(attend(*step.call)[0], attend(*whole.call)[0][:, -1:], atol=1e-5)


def equals_pytorch(attend: Attention, inputs: SiteInputs) -> bool:
    return torch.allclose(attend(*inputs.call)[0], pytorch_output(inputs), atol=1e-4)


def equals_pytorch_where_W_o_reads_nothing_of_the_head(attend: Attention, inputs: SiteInputs) -> bool:  # noqa: N802 - W_o
    return torch.allclose(attend(*inputs.call)[0], pytorch_output(inputs.with_head_ignored()), atol=1e-4)


def is_finite(attend: Attention, inputs: SiteInputs) -> bool:
    return bool(attend(*inputs.call)[0].isfinite().all())


def has_the_shape_of_its_input(attend: Attention, inputs: SiteInputs) -> bool:
    return attend(*inputs.call)[0].shape == inputs.input_.shape


def two_visitors_see_their_own(attend: Attention, inputs: SiteInputs) -> bool:
    return two_visitors(attend, (inputs.input_[:1], inputs.input_[:1, :2])).wrong == 0


def map_of(attend: Attention, inputs: SiteInputs) -> Tensor:
    """Return the weights of an attention function. Raise ValueError if it returns none."""
    attn = attend(*inputs.call)[1]
    if attn is None:
        raise ValueError("This attention returns no weights.")
    return attn


def pytorch_output(inputs: SiteInputs) -> Tensor:
    """Compute the output of PyTorch's own kernel on the same weights."""
    weights, mask = inputs.weights, inputs.mask
    query, key, value = (
        F.linear(x, weight, bias).unflatten(-1, (weights.n_heads, -1)).transpose(1, 2)
        for x, (weight, bias) in zip((inputs.input_, inputs.memory, inputs.memory), weights.pairs[:3], strict=True)
    )
    context = F.scaled_dot_product_attention(
        query, key, value, attn_mask=None if mask is None else mask.unsqueeze(1).expand(-1, -1, query.shape[2], -1)
    )
    return F.linear(context.transpose(1, 2).flatten(2), weights.W_o, weights.b_o)


def _scale(weights: SiteWeights) -> str:
    if weights.scoring.scale is None:
        return ""
    instead = "leaves them as they are" if weights.is_unscaled else f"multiplies them by {weights.scale:.4g}"
    return f"This model does not divide its scores by √d_k: it {instead}."


def _output_bias(weights: SiteWeights) -> str:
    return "" if weights.has_bias[3] else "This model has no bias behind W_o."


BUGS: Mapping[str, Bug] = {
    "softmax_over_heads": Bug(
        "Softmax over the heads (dim=0)",
        "silent",
        "weigh",
        wrong_steps.softmax_over_heads,
        "Softmax over dim=0 of a tensor (heads, q_len, k_len): heads compete for a cell instead of keys for a query.",
        "Every shape stays the same, and all weights lie between 0 and 1. For a key that the mask "
        "hides, every head gets the weight 1 / heads instead of 0.",
        rows_sum_to_one,
    ),
    "softmax_over_queries": Bug(
        "Softmax over the queries (dim=1)",
        "silent",
        "weigh",
        wrong_steps.softmax_over_queries,
        "In a sequence-first tensor (q_len, k_len, batch, heads), dim=1 is the key axis. If the batch "
        "is moved to the front, as in (batch, q_len, k_len, heads), dim=1 is the query axis.",
        "The map is square in self-attention and its columns sum to 1, so it looks like a transposed map.",
        rows_sum_to_one,
    ),
    "no_scale": Bug(
        "No scale",
        "silent",
        "scores",
        wrong_steps.no_scale,
        "Scores are not divided by √d_k: their variance grows with d_k, and softmax puts nearly all weight on one key.",
        "Rows sum to 1 and the largest weight is on the same key; the maps only look sharper.",
        equals_pytorch,
        lacks=_scale,
    ),
    "scale_by_d_model": Bug(
        "Scaled by √d_model",
        "silent",
        "scores",
        wrong_steps.scale_by_d_model,
        "The scores are divided by the size of the model instead of the size of a head.",
        "With a single head, d_model and d_k are equal, so nothing changes. With more heads, rows still sum to 1 and "
        "the order of the keys is right, but the weights are more uniform.",
        equals_pytorch,
        lacks=_scale,
    ),
    "merge_by_reshape": Bug(
        "Heads merged by reshape",
        "silent",
        "merge",
        wrong_steps.merge_by_reshape,
        "The head axis is not moved back before the last two axes are joined: one output row then holds several "
        "positions of one head.",
        "reshape copies the tensor where view would raise an error. The size of the output is right, "
        "and the attention maps do not change.",
        no_row_but_the_last_sees_the_last_token,
    ),
    "split_by_view": Bug(
        "Heads split in the wrong order",
        "silent",
        "split",
        wrong_steps.split_by_view,
        "view(batch, heads, length, d_k) is used instead of view(batch, length, heads, d_k) and a "
        "transpose. No number moves, so each head gets some positions completely, instead of a part "
        "of every position.",
        "The shape is exactly right. With one head, or one token, even the numbers are right.",
        no_row_but_the_last_sees_the_last_token,
    ),
    "ablation_after_output": Bug(
        "Head switched off after W_o",
        "silent",
        "switch_off_head",
        wrong_steps.switch_off_after_output,
        "The head's slice is set to zero in the output of attention instead of in the context. But "
        "W_o has already mixed the heads, so every column of the output contains a part of each head.",
        "The slice has the head's size, the map is untouched and the text changes, as with a real "
        "ablation. But a part of every head is removed, and most of the intended head remains.",
        equals_pytorch_where_W_o_reads_nothing_of_the_head,
        ablates=True,
    ),
    "float_head_size": Bug(
        "Float head size",
        "raises",
        "head_size",
        wrong_steps.float_head_size,
        "In Python 3, d_model / n_heads is a float, even if the division has no remainder. But the "
        "size of a tensor must be an int.",
        "The bug is noticed at the first call that creates a tensor of this size, because torch then raises an error.",
        has_the_shape_of_its_input,
    ),
    "mask_inverted": Bug(
        "Mask inverted",
        "silent",
        "weigh",
        wrong_steps.mask_inverted,
        "True means “may attend” here and “hidden” in nn.MultiheadAttention, so a mask copied from one to the other "
        "hides what it should show.",
        "Rows sum to 1. With an inverted causal mask, the training loss even falls faster, because "
        "the model sees the answer.",
        hidden_keys_weigh_nothing,
    ),
    "mask_transposed": Bug(
        "Mask transposed",
        "silent",
        "weigh",
        wrong_steps.mask_transposed,
        "The axes of the mask are swapped: queries see later keys instead of earlier ones.",
        "In self-attention the mask is square, so the transposed mask fits, too. If the two lengths "
        "differed, torch would raise an error.",
        hidden_keys_weigh_nothing,
    ),
    "causal_at_top_left": Bug(
        "Causal mask at the top left",
        "silent",
        "weigh",
        wrong_steps.causal_at_top_left,
        "scaled_dot_product_attention(is_causal=True) aligns the causal triangle with the top left "
        "corner, so that row 0 sees only key 0. With a cache, the only row is the newest token, so "
        "the newest token sees only the first key.",
        "Training, its loss, and every pass over a whole text are right, and rows sum to 1. Only a "
        "test that decodes step by step with a cache, and compares the result with one pass, finds "
        "the bug.",
        steps_equal_one_pass,
        lambda: odd_sized_inputs().last_step(),
        needs_cache=True,
    ),
    "padding_on_queries": Bug(
        "Padding mask on the queries, −1e9",
        "silent",
        "weigh",
        wrong_steps.padding_on_queries,
        "The new axis of the padding mask is inserted at the wrong place, [:, None, :, None] instead "
        "of [:, None, None, :]. The mask then hides the rows of padding tokens instead of their keys.",
        "In self-attention both shapes fit. A row whose scores are all −1e9 becomes uniform, so every "
        "row sums to 1. A batch without padding is computed correctly, so results depend on the other "
        "sentences of the batch.",
        hidden_keys_weigh_nothing,
        lambda: odd_sized_inputs(padded=True),
    ),
    "padding_on_queries_infinite": Bug(
        "Padding mask on the queries, −∞",
        "silent",
        "weigh",
        wrong_steps.padding_on_queries_infinite,
        "The same mistake as in “Padding mask on the queries, −1e9”, but with −∞ as the fill. Rows of "
        "padding tokens then have no visible key, so their softmax is NaN.",
        "There is no error, and at first NaN stands only in the rows of padding tokens, which nobody "
        "reads. The next layer multiplies NaN by a weight and adds it to every row. A batch without "
        "padding is computed correctly.",
        is_finite,
        lambda: odd_sized_inputs(padded=True),
    ),
    "softmax_twice": Bug(
        "Softmax taken twice",
        "silent",
        "weigh",
        wrong_steps.softmax_twice,
        "Softmax is applied to weights that are already the result of a softmax, for example because "
        "two functions both normalise. Weights lie between 0 and 1, so the largest becomes at most e "
        "times the smallest.",
        "Rows sum to 1 and the order of the keys is right. But the maps are nearly uniform, and "
        "hidden keys get about as much weight as the others.",
        equals_pytorch,
    ),
    "mask_after_softmax": Bug(
        "Mask applied after softmax",
        "silent",
        "weigh",
        wrong_steps.mask_after_softmax,
        "Hidden keys are set to 0 only after the softmax has distributed the weight. Their share is "
        "then lost, instead of going to the visible keys.",
        "Hidden cells are exactly 0, as they should be. Only the row sums, which are below 1, show the bug.",
        rows_sum_to_one,
    ),
    "mask_added_after_softmax": Bug(
        "−1e9 added after softmax",
        "silent",
        "weigh",
        wrong_steps.mask_added_after_softmax,
        "An additive mask is correct before the softmax. If it is added after the softmax, −1e9 "
        "itself becomes a weight.",
        "No shape changes, and torch raises no error. A colour scale that is fixed from 0 to 1 draws "
        "−1e9 in the same colour as 0.",
        rows_sum_to_one,
    ),
    "half_filled": Bug(
        "−1e9 in float16 by masked_fill",
        "raises",
        "weigh",
        wrong_steps.half_filled,
        "The largest number in float16 is 65,504, and masked_fill raises an error for a number outside this range.",
        "In float32 the same line works. You notice the bug only when you switch the model to half precision.",
        is_finite,
    ),
    "half_by_where": Bug(
        "−1e9 in float16 by where",
        "silent",
        "weigh",
        wrong_steps.half_by_where,
        "torch.tensor(-1e9, dtype=float16) silently becomes −∞. A row without any visible key then "
        "becomes NaN, and the next layers spread the NaN.",
        "As long as every row sees at least one key, the result is right to the precision of float16. "
        "The first row without a visible key becomes NaN.",
        is_finite,
        lambda: odd_sized_inputs(blind_row=True),
    ),
    "reported_after_dropout": Bug(
        "Weights taken after dropout",
        "silent",
        "returned_weights",
        wrong_steps.reported_after_dropout,
        "The returned weights have been through dropout: some are 0, the others too large by 1 / (1 - rate).",
        "The output is right. During evaluation dropout is off, so the map is right as well.",
        rows_sum_to_one,
        lambda: odd_sized_inputs(drop=0.3),
    ),
    "bias_of_the_heads": Bug(
        "Output bias of size heads · d_v",
        "raises",
        "output_bias",
        wrong_steps.bias_of_the_heads,
        "The bias is added after W_o, where the size is d_model and not heads · d_v.",
        "With the sizes of the paper, heads · d_v equals d_model, so there is no error. The example "
        "here has d_v 13, 3 heads and d_model 17.",
        has_the_shape_of_its_input,
        odd_sized_inputs,
    ),
    "bias_by_xavier": Bug(
        "Xavier on a bias",
        "raises",
        "output_bias",
        wrong_steps.bias_by_xavier,
        "Xavier's rule needs the number of inputs and of outputs; a 1-D tensor has only one size.",
        "The bug is noticed when the module is created, because torch then raises an error.",
        has_the_shape_of_its_input,
        lacks=_output_bias,
    ),
    "kept_map": Bug(
        "self.attn, shared by two visitors",
        "silent",
        "",
        kept_map,
        "The weights are stored on the module, and two visitors share the module. Code that reads "
        "self.attn a moment later may get the map of the other visitor.",
        "With one visitor, or in a test with one thread, the map is always right.",
        two_visitors_see_their_own,
    ),
}
