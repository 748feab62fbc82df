"""Fill values for masked scores, in several dtypes, and the rows of attention that result.

Everything runs in torch in the requested dtype, as it would in a model, and no result is corrected. These fills are
meant for comparison (architecture decision 5); the package itself uses `attention.masked_softmax`.
"""

import math
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz.transformer.attention import masked_softmax, soft_capped
from attnviz.transformer.attention import scores as scaled_scores
from attnviz.transformer.probe import AttentionCall

FILLS = (
    "-inf", "-1e9", "-1e9 by where", "finfo.min", "number", "zero before", "zero after", "zero after, renormalised",
    "fused",
)  # fmt: skip
DTYPES = ("float32", "float16", "bfloat16")
AFTER = ("zero after", "zero after, renormalised")

Map = Float[Tensor, "*batch q_len k_len"]


@dataclass(frozen=True)
class FillChoice:
    """A fill and a dtype.

    `number` is used only with the fill "number". "fused" is what PyTorch's fused kernel and this package do: −inf, and
    zeros for a row without any visible key.
    """

    fill: str = "-inf"
    dtype: str = "float32"
    number: int | float = -10.0

    def __post_init__(self) -> None:
        if self.fill not in FILLS or self.dtype not in DTYPES:
            raise ValueError(
                f"The fill must be one of {', '.join(FILLS)}, and the dtype one of "
                f"{', '.join(DTYPES)}, but they are {self.fill!r} in {self.dtype!r}."
            )
        if not math.isfinite(self.number):
            raise ValueError(
                f"The number of a fill must be finite, not {self.number}. For −∞, please use the fill -inf."
            )

    @property
    def torch_dtype(self) -> torch.dtype:
        """The dtype of all computations."""
        return getattr(torch, self.dtype)

    @property
    def value(self) -> float | None:
        """The value that replaces a masked score; None if the mask is applied after the softmax."""
        if self.fill in AFTER:
            return None
        least = torch.finfo(self.torch_dtype).min
        named = {
            "-inf": -math.inf,
            "fused": -math.inf,
            "-1e9": -1e9,
            "-1e9 by where": -1e9,
            "finfo.min": least,
            "number": self.number,
        }
        return named.get(self.fill, 0.0)


@dataclass(frozen=True, eq=False)
class FilledScores:
    """One site's pipeline with a fill.

    All maps were computed in the chosen dtype and are stored as float32. `scores`, `masked_scores` and `attn` are `(…,
    q_len, k_len)`; `context` is `(…, q_len, d_k)`. If torch refused, `error` is its message, `attn` and `context` are
    None, and `masked_scores` are the unmasked scores. `sink` is the score of the head's sink, if there is one: rows
    then sum to less than 1.
    """

    choice: FillChoice
    mask: Bool[Tensor, "..."]
    scores: Tensor
    masked_scores: Tensor
    attn: Tensor | None = None
    context: Tensor | None = None
    error: str = ""
    sink: float | None = None


def masked_scores(scores: Map, mask: Bool[Tensor, "..."], choice: FillChoice) -> Map:
    """Replace the scores by the fill value where `mask` is False. Raise RuntimeError if torch refuses the value."""
    value = choice.value
    if value is None:
        return scores
    if choice.fill == "-1e9 by where":
        return torch.where(mask, scores, value)
    return scores.masked_fill(~mask, value)


def weights(masked: Map, mask: Bool[Tensor, "..."], choice: FillChoice, sinks: Tensor | None = None) -> Map:
    """Apply softmax over keys (and `sinks`). The mask is applied here only for fills that come after the softmax."""
    attn = masked_softmax(masked, sinks=sinks)
    sunk = 0.0 if sinks is None else (sinks - masked.logsumexp(dim=-1, keepdim=True)).sigmoid()
    if choice.fill == "fused":
        return attn.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)
    if choice.fill not in AFTER:
        return attn
    attn = attn.masked_fill(~mask, 0.0)
    return attn if choice.fill == "zero after" else attn / (attn.sum(dim=-1, keepdim=True) + sunk)


def fill_scores(call: AttentionCall, mask: Bool[Tensor, "..."], choice: FillChoice) -> FilledScores:
    """Compute one head's attention with `mask` instead of the mask of `call`. `mask` must broadcast to the scores."""
    raw = _scores(call, choice.torch_dtype)
    mask = mask.to(raw.device).expand(raw.shape)
    sink = None if call.sinks is None else float(call.sinks.flatten()[0])
    try:
        masked = masked_scores(raw, mask, choice)
        attn = weights(masked, mask, choice, call.sinks)
        context = attn @ call.value.to(choice.torch_dtype)
    except RuntimeError as refusal:
        return FilledScores(choice, mask.cpu(), _to_float(raw), _to_float(raw), error=_own_words(refusal), sink=sink)
    return FilledScores(
        choice, mask.cpu(), _to_float(raw), _to_float(masked), _to_float(attn), _to_float(context), sink=sink
    )


@dataclass(frozen=True)
class Weighing:
    """Function that computes a run's attention weights with a fill, for `MaskOverride(weigh=…)`.

    Raise RuntimeError if torch refuses the fill.
    """

    choice: FillChoice

    def __call__(self, call: AttentionCall) -> Tensor:
        """Return the weights `(batch, heads, q_len, k_len)` of an attention call."""
        raw = _scores(call, self.choice.torch_dtype)
        mask = torch.ones((), dtype=torch.bool, device=raw.device) if call.mask is None else call.mask
        mask = mask.expand(raw.shape)
        return weights(masked_scores(raw, mask, self.choice), mask, self.choice, call.sinks)


def _scores(call: AttentionCall, dtype: torch.dtype) -> Tensor:
    raw = soft_capped(scaled_scores(call.query.to(dtype), call.key.to(dtype), call.scale), call.softcap)
    return raw if call.bias is None else raw + call.bias.to(dtype)


def one_head(call: AttentionCall, head: int, item: int = 0) -> AttentionCall:
    """Reduce a call to one head and one batch item.

    Both dimensions stay, with size 1, and the call's own mask is removed. The scores of the result are computed whole,
    because a reader may paint any cell of the head's mask.
    """
    items, heads = slice(item, item + 1), slice(head, head + 1)
    query, key, value = (part[items, heads] for part in (call.query, call.key, call.value))
    bias = None if call.bias is None else call.bias.expand(len(call.query), call.query.shape[1], -1, -1)[items, heads]
    sinks = None if call.sinks is None else call.sinks[:, heads]
    shape = (*call.query.shape[:3], call.key.shape[2])
    chosen = None if call.chosen is None else call.chosen.expand(shape)[items, heads]
    return replace(call, query=query, key=key, value=value, bias=bias, mask=None, sinks=sinks, chosen=chosen)


def _to_float(tensor: Tensor) -> Tensor:
    return tensor.float().cpu()


def _own_words(error: RuntimeError) -> str:
    return str(error).strip().splitlines()[0]
