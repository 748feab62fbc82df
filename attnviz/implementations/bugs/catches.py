"""One-line tests, one for each kind of bug: True for a right attention; a bug makes one of them False, or makes it
raise. `case` holds sizes, input and mask; `attend` is the attention that is tested.
"""

# ruff: noqa: D103 - the name of a one-line test describes it.

import torch
import torch.nn.functional as F
from torch import Tensor

from attnviz.implementations.bugs.kept_map import two_visitors
from attnviz.implementations.case import Case
from attnviz.implementations.weights import Attention


def rows_sum_to_one(attend: Attention, case: Case) -> bool:
    return torch.allclose(case.visible_rows(map_of(attend, case)).sum(-1), torch.ones(()), atol=1e-3)


def hidden_keys_weigh_nothing(attend: Attention, case: Case) -> bool:
    return bool((map_of(attend, case).masked_select(~case.cells) == 0).all())


def no_row_but_the_last_sees_the_last_token(attend: Attention, case: Case) -> bool:
    other = case.with_other_last_token()
    return torch.allclose(attend(*case.call)[0][:, :-1], attend(*other.call)[0][:, :-1], atol=1e-5)


def equals_pytorch(attend: Attention, case: Case) -> bool:
    return torch.allclose(attend(*case.call)[0], pytorch_output(case), atol=1e-4)


def equals_pytorch_where_W_o_reads_nothing_of_the_head(attend: Attention, case: Case) -> bool:  # noqa: N802 - W_o
    return torch.allclose(attend(*case.call)[0], pytorch_output(case.with_head_ignored()), atol=1e-4)


def is_finite(attend: Attention, case: Case) -> bool:
    return bool(attend(*case.call)[0].isfinite().all())


def has_the_shape_of_its_input(attend: Attention, case: Case) -> bool:
    return attend(*case.call)[0].shape == case.input_.shape


def two_visitors_see_their_own(attend: Attention, case: Case) -> bool:
    return two_visitors(attend, (case.input_[:1], case.input_[:1, :2])).wrong == 0


def map_of(attend: Attention, case: Case) -> Tensor:
    """Call an attention for its weights. Raises ValueError if it returns none."""
    attn = attend(*case.call)[1]
    if attn is None:
        raise ValueError("This attention returns no weights.")
    return attn


def pytorch_output(case: Case) -> Tensor:
    """Compute the output of PyTorch's own kernel on the same weights."""
    weights, mask = case.weights, case.mask
    query, key, value = (
        F.linear(x, weight, bias).unflatten(-1, (weights.n_heads, -1)).transpose(1, 2)
        for x, (weight, bias) in zip((case.input_, case.memory, case.memory), weights.pairs[:3], strict=True)
    )
    context = F.scaled_dot_product_attention(
        query, key, value, attn_mask=None if mask is None else mask.unsqueeze(1).expand(-1, -1, query.shape[2], -1)
    )
    return F.linear(context.transpose(1, 2).flatten(2), weights.W_o, weights.b_o)
