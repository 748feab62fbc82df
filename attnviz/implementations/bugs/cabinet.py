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
        "Every shape stays the same and all weights lie between 0 and 1. Where a mask hides a key, every head gets "
        "1 / heads instead of 0.",
        rows_sum_to_one,
    ),
    "softmax_over_queries": Bug(
        "Softmax over the queries (dim=1)",
        "silent",
        "weigh",
        wrong_steps.softmax_over_queries,
        "dim=1 is the key axis of a sequence-first (q_len, k_len, batch, heads); after moving the batch to the front, "
        "(batch, q_len, k_len, heads), it is the query axis.",
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
        "With one head both are the same number. With more, rows sum to 1 and the order of the keys is right; the maps "
        "are only flatter.",
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
        "reshape copies where view would have refused, the size is right, and the attention maps are untouched.",
        no_row_but_the_last_sees_the_last_token,
    ),
    "split_by_view": Bug(
        "Heads split in the wrong order",
        "silent",
        "split",
        wrong_steps.split_by_view,
        "view(batch, heads, length, d_k) in place of view(batch, length, heads, d_k) and a transpose: the numbers stay "
        "where they are, so that a head gets some positions whole instead of a part of each.",
        "The shape is exactly the wanted one. With one head, or one token, even the numbers are right.",
        no_row_but_the_last_sees_the_last_token,
    ),
    "ablation_after_output": Bug(
        "Head switched off after W_o",
        "silent",
        "switch_off_head",
        wrong_steps.switch_off_after_output,
        "The head's slice is zeroed in the output of attention instead of the context: but W_o has mixed the heads by "
        "then, and every column holds something of each.",
        "The slice has the head's size, the map is untouched and the text changes, as with a real ablation. But a part "
        "of every head is gone, and most of the intended one is still there.",
        equals_pytorch_where_W_o_reads_nothing_of_the_head,
        ablates=True,
    ),
    "float_head_size": Bug(
        "Float head size",
        "raises",
        "head_size",
        wrong_steps.float_head_size,
        "d_model / n_heads is a float in Python 3, even where it divides evenly, and a size must be an int.",
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
        "Rows sum to 1, and with a causal mask a training loss even falls faster: the model sees the answer.",
        hidden_keys_weigh_nothing,
    ),
    "mask_transposed": Bug(
        "Mask transposed",
        "silent",
        "weigh",
        wrong_steps.mask_transposed,
        "The axes of the mask are swapped: queries see later keys instead of earlier ones.",
        "In self-attention the mask is square and fits either way; where lengths differ torch would refuse it.",
        hidden_keys_weigh_nothing,
    ),
    "causal_at_top_left": Bug(
        "Causal mask at the top left",
        "silent",
        "weigh",
        wrong_steps.causal_at_top_left,
        "scaled_dot_product_attention(is_causal=True) lays the triangle at the top left: its row 0 sees key 0. With a "
        "cache the only row is the newest token, so this token sees the first key alone.",
        "A pass over the whole text is right, and so are training, its loss, and every test without a cache. Rows sum "
        "to 1. Only a test that decodes step by step and compares with one pass notices it.",
        steps_equal_one_pass,
        lambda: odd_sized_inputs().last_step(),
        needs_cache=True,
    ),
    "padding_on_queries": Bug(
        "Padding mask on the queries, −1e9",
        "silent",
        "weigh",
        wrong_steps.padding_on_queries,
        "The padding mask gets its new axis at the wrong place, [:, None, :, None] instead of [:, None, None, :]: it "
        "hides the rows of padding tokens, and the keys stay visible.",
        "In self-attention both shapes fit. A row whose scores are all −1e9 becomes uniform, so every row sums to 1. "
        "Without padding nothing changes: results depend on the other sentences of a batch.",
        hidden_keys_weigh_nothing,
        lambda: odd_sized_inputs(padded=True),
    ),
    "padding_on_queries_infinite": Bug(
        "Padding mask on the queries, −∞",
        "silent",
        "weigh",
        wrong_steps.padding_on_queries_infinite,
        "The same mistake with −∞ as the fill: rows of padding tokens have no key left, and their softmax is NaN.",
        "Nothing raises, and the NaN stands in rows that nobody reads. The next layer multiplies it by a weight and "
        "adds it to every row. Without padding nothing changes.",
        is_finite,
        lambda: odd_sized_inputs(padded=True),
    ),
    "softmax_twice": Bug(
        "Softmax taken twice",
        "silent",
        "weigh",
        wrong_steps.softmax_twice,
        "A softmax is applied to weights that are a softmax already, for example by two functions that each mean to "
        "normalise. Weights lie between 0 and 1, so the largest becomes at most e times the smallest.",
        "Rows sum to 1 and the order of the keys is right; the maps are nearly uniform, and hidden keys weigh about as "
        "much as the others.",
        equals_pytorch,
    ),
    "mask_after_softmax": Bug(
        "Mask applied after softmax",
        "silent",
        "weigh",
        wrong_steps.mask_after_softmax,
        "Hidden keys get 0 after the softmax has shared the weight out: their share is lost instead of going to the "
        "others.",
        "Hidden cells are exactly 0, as they should be; only the row sums tell.",
        rows_sum_to_one,
    ),
    "mask_added_after_softmax": Bug(
        "−1e9 added after softmax",
        "silent",
        "weigh",
        wrong_steps.mask_added_after_softmax,
        "An additive mask is right before the softmax; after it, −1e9 becomes a weight.",
        "No shape changes and nothing raises; a colour scale that is fixed from 0 to 1 draws −1e9 like a 0.",
        rows_sum_to_one,
    ),
    "half_filled": Bug(
        "−1e9 in float16 by masked_fill",
        "raises",
        "weigh",
        wrong_steps.half_filled,
        "float16 ends at 65,504; masked_fill refuses a number that it cannot hold.",
        "In float32 the same line works. It is noticed only when the model is switched to half precision.",
        is_finite,
    ),
    "half_by_where": Bug(
        "−1e9 in float16 by where",
        "silent",
        "weigh",
        wrong_steps.half_by_where,
        "torch.tensor(-1e9, dtype=float16) silently becomes −∞. A row without any visible key then becomes NaN, and "
        "the next layer carries it on.",
        "While every row sees a key the result is right to float16's precision; the first fully padded row breaks it.",
        is_finite,
        lambda: odd_sized_inputs(blind_row=True),
    ),
    "reported_after_dropout": Bug(
        "Weights taken after dropout",
        "silent",
        "returned_weights",
        wrong_steps.reported_after_dropout,
        "The returned weights have been through dropout: some are 0, the others too large by 1 / (1 - rate).",
        "The output is the right one, and in evaluation dropout is off and the map is right as well.",
        rows_sum_to_one,
        lambda: odd_sized_inputs(drop=0.3),
    ),
    "bias_of_the_heads": Bug(
        "Output bias of size heads · d_v",
        "raises",
        "output_bias",
        wrong_steps.bias_of_the_heads,
        "The bias is added after W_o, where the size is d_model and not heads · d_v.",
        "In the paper's sizes heads · d_v = d_model and nothing happens; here d_v is 13, with 3 heads and d_model 17.",
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
        "The weights are left on the module, and the module serves two visitors: code that reads it a moment later may "
        "get the other visitor's map.",
        "With one visitor, or in a test with one thread, the map is always right.",
        two_visitors_see_their_own,
    ),
}
