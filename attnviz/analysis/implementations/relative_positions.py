"""An overridden `get_scores`, and its effect on a head: relative positions on a site that was trained without them."""

from dataclasses import dataclass

import torch
from torch import Tensor

from attnviz.analysis.site.inputs import query_key_value
from attnviz.implementations.sequence_first import RelativeAttention, SequenceFirst, SequenceFirstAttention
from attnviz.implementations.site_inputs import SiteInputs


@dataclass(frozen=True, eq=False)
class RelativePositions:
    """Weights `(batch, heads, q_len, k_len)` without and with the override, and max |Δ| of the output."""

    plain: Tensor
    relative: Tensor
    output_change: float


@torch.inference_mode()
def relative_positions(inputs: SiteInputs, *, reach: int, strength: float) -> RelativePositions:
    """Run a site with and without an offset's vector on its keys.

    A trained table does not exist for this model, so each vector points along the mean query of its head: offsets near
    0 get `strength`, falling evenly to -`strength` at `reach`. Positive strength favours neighbours, negative ones what
    is far away. Raises ValueError for a reach below 1.
    """
    if reach < 1:
        raise ValueError(f"reach must be at least 1, not {reach}.")
    query = query_key_value(inputs)[0].mean(dim=(0, 2))  # (heads, d_k)
    direction = query / query.square().sum(dim=-1, keepdim=True).clamp_min(1e-9) * inputs.weights.d_k**0.5
    offsets = torch.arange(-reach, reach + 1).abs() / reach
    table = (strength * (1 - 2 * offsets)).view(-1, 1, 1) * direction
    output, plain = SequenceFirst(SequenceFirstAttention(inputs.weights))(*inputs.call)
    changed, relative = SequenceFirst(RelativeAttention(inputs.weights, table))(*inputs.call)
    return RelativePositions(plain, relative, float((output - changed).abs().max()))
