"""One-line tests, one for each kind of bug: True for a right attention; a bug makes one of them False, or makes it
raise. `inputs` holds sizes, input and mask; `attend` is the attention that is tested.
"""

# ruff: noqa: D103 - the name of a one-line test describes it.

import torch
import torch.nn.functional as F
from torch import Tensor

from attnviz.implementations.bugs.kept_map import two_visitors
from attnviz.implementations.site_inputs import SiteInputs
from attnviz.implementations.weights import Attention


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
    """Call an attention for its weights. Raises ValueError if it returns none."""
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
