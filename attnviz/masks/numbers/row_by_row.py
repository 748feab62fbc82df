"""Why a decoder needs a mask, on real numbers: O = A' V while the target grows; with the mask o_1 stays when v_2
arrives.

Seed 004, section 3.2: with one value `o_1 = α_11 v_1`; a second value must not change it, and so α_21 is masked.
"""

from dataclasses import dataclass, replace

from jaxtyping import Float
from torch import Tensor

from attnviz.transformer import masks
from attnviz.transformer.attention import call_attn, context
from attnviz.transformer.probe import AttentionCall


@dataclass(frozen=True, eq=False)
class Stage:
    """The first n positions alone: attn `(n, n)`, value and context `(n, d_k)`, context being attn · value."""

    attn: Float[Tensor, "n n"]
    value: Float[Tensor, "n d_k"]
    context: Float[Tensor, "n d_k"]


def stage(call: AttentionCall, n: int, *, causal: bool) -> Stage:
    """One head's call (one item, one head) on its first `n` positions, with a causal mask or with none."""
    cut = replace(
        call,
        query=call.query[:, :, :n].float(),
        key=call.key[:, :, :n].float(),
        value=call.value[:, :, :n].float(),
        mask=masks.causal(n, device=call.query.device).unsqueeze(1) if causal else None,
        bias=None if call.bias is None else call.bias[..., :n, :n],
    )
    attn = call_attn(cut)
    return Stage(attn[0, 0].cpu(), cut.value[0, 0].cpu(), context(attn, cut.value)[0, 0].cpu())


def first_row_moved(earlier: Stage, later: Stage) -> float:
    """max |Δ| of the earlier stage's context rows when further positions arrive."""
    return float((later.context[: len(earlier.context)] - earlier.context).abs().amax())
