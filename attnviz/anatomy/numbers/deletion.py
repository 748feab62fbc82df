"""How much memory `del query, key, value` before the last line frees, measured with and without that line (seed
000).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.profiler import record_function

from attnviz.analysis.peak_memory import peak_memory
from attnviz.implementations.scoring import Scoring
from attnviz.implementations.weights import SiteWeights

LAST_LINE = "W_o"
HOLDERS = {
    "nobody": "nobody else",
    "recorder": "a recorder (attnviz's own traces)",
    "autograd": "autograd (training)",
}


@dataclass
class _Holder:
    kept: tuple[Tensor, ...] = ()


def deletion(weights: SiteWeights, length: int, *, seed: int = 0) -> pd.DataFrame:
    """Measure the memory of one site's pass over `length` tokens, in bytes.

    The columns are path, holder, deleted, peak (of the whole call), alive (when the last line starts) and late (peak
    from there on). The path "explicit" computes the weights, "fused" does not. Raise ValueError for a length below 1.
    """
    if length < 1:
        raise ValueError(f"The length must be at least 1, not {length}.")
    x = torch.randn(1, length, weights.d_model, generator=torch.Generator().manual_seed(seed))
    rows = []
    for path, attend in (("explicit", _explicit), ("fused", _fused_attention)):
        for holder in HOLDERS:
            for deleted in (False, True):
                memory = peak_memory(_call(attend, weights, x, (holder, deleted)), mark=LAST_LINE)
                rows.append((path, holder, deleted, memory.peak, memory.alive, memory.late))
    return pd.DataFrame(rows, columns=["path", "holder", "deleted", "peak", "alive", "late"])


def _call(attend: Callable, weights: SiteWeights, x: Tensor, what: tuple[str, bool]) -> Callable[[], Tensor]:
    holder_name, deleted = what

    def call() -> Tensor:
        holder = _Holder() if holder_name == "recorder" else None
        own = weights
        if holder_name == "autograd":
            with torch.inference_mode(False), torch.enable_grad():
                own = weights.replace_parts(part.clone().requires_grad_() for pair in weights.pairs for part in pair)
                return _forward(attend, own, x, holder=holder, deleted=deleted)
        with torch.inference_mode():
            return _forward(attend, own, x, holder=holder, deleted=deleted)

    return call


def _forward(attend: Callable, weights: SiteWeights, x: Tensor, *, holder: _Holder | None, deleted: bool) -> Tensor:
    query, key, value = (
        F.linear(x, weight, bias).unflatten(-1, (weights.n_heads, -1)).transpose(1, 2)
        for weight, bias in weights.pairs[:3]
    )
    query, key = weights.scoring.transform(query, key)
    if holder is not None:
        holder.kept = (query, key, value)
    context = attend(query, key, value, weights.scoring).transpose(1, 2).flatten(start_dim=2)
    if deleted:
        del query, key, value
    with record_function(LAST_LINE):
        return F.linear(context, weights.W_o, weights.b_o)


def _explicit(query: Tensor, key: Tensor, value: Tensor, scoring: Scoring) -> Tensor:
    return scoring.add_bias(query @ key.mT / math.sqrt(query.shape[-1])).softmax(dim=-1) @ value


def _fused_attention(query: Tensor, key: Tensor, value: Tensor, scoring: Scoring) -> Tensor:
    added = None if scoring.bias is None else scoring.bias.cells(query.shape[2], key.shape[2]).unsqueeze(0)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=added)
