"""Scaled dot-product attention (Vaswani et al. 2017, equation 1) and its multi-head form (section 3.2.2).

`attend` is the only attention on the main path of every model. The small functions beside it compute the steps of the
fused kernel one by one; traces and laboratories use them to get scores and weights on demand.
"""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from attnviz.transformer.cache import LayerCache
from attnviz.transformer.dropout import Dropout, apply_dropout
from attnviz.transformer.masks import add_head_axis, any_along, is_known_causal
from attnviz.transformer.probe import AttentionCall, EditedWeights, Probe, Site, tell_listener

Query = Float[Tensor, "batch heads q_len d_k"]
Key = Float[Tensor, "batch heads k_len d_k"]
Value = Float[Tensor, "batch heads k_len d_v"]
Map = Float[Tensor, "*batch q_len k_len"]
_ROWS = 64  # queries in a block: with fewer, the kernel is called too often; with more, each reads too many keys


def scores(
    query: Float[Tensor, "*batch q_len d_k"], key: Float[Tensor, "*batch k_len d_k"], scale: float | None = None
) -> Map:
    """Compute `scale * query @ key^T`, before any mask; the scale is 1 / sqrt(d_k) unless given."""
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    return (query * scale) @ key.transpose(-2, -1)


def soft_capped(scores: Map, softcap: float | None) -> Map:
    """Cap scores softly at ±softcap, as Gemma 2 does; None leaves them as they are."""
    return scores if softcap is None else softcap * (scores / softcap).tanh()


def masked_softmax(scores: Map, mask: Bool[Tensor, "..."] | None = None, sinks: Tensor | None = None) -> Map:
    """Apply the softmax over keys that may be attended to (True in `mask`). A row with no visible key is all zeros.

    `sinks` are scores, broadcastable to a column `(…, q_len, 1)`, of an attention sink: they take part in the softmax
    but are left out of the returned weights, so that rows sum to less than 1.
    """
    if sinks is not None:
        return _softmax_with_sinks(scores if mask is None else scores.masked_fill(~mask, -math.inf), sinks)
    if mask is None:
        return scores.softmax(dim=-1)
    weights = scores.masked_fill(~mask, -math.inf).softmax(dim=-1)
    return weights.masked_fill(no_keys(mask).unsqueeze(-1), 0.0)


def _softmax_with_sinks(scores: Map, sinks: Tensor) -> Map:
    """Apply the softmax with an extra column for the sinks, and drop that column."""
    column = sinks.to(scores.dtype).expand(*scores.shape[:-1], 1)
    return torch.cat((scores, column), dim=-1).softmax(dim=-1)[..., :-1]


def no_keys(mask: Bool[Tensor, "*batch q_len k_len"]) -> Bool[Tensor, "*batch q_len"]:
    """Return True for the rows that see no key at all; their weights are zeros and do not sum to 1."""
    return ~mask.any(dim=-1)


def context(attn: Map, value: Float[Tensor, "*batch k_len d_v"]) -> Float[Tensor, "*batch q_len d_v"]:
    """Return the mean of the values, weighted by `attn`."""
    return attn @ value


def call_scores(call: AttentionCall) -> Float[Tensor, "batch heads q_len k_len"]:
    """Compute the scores of a recorded call before the mask, including its bias, in float32."""
    raw = soft_capped(scores(call.query.float(), call.key.float(), call.scale), call.softcap)
    return raw if call.bias is None else raw + call.bias.float()


def call_attn(call: AttentionCall) -> Float[Tensor, "batch heads q_len k_len"]:
    """Compute the attention weights of a recorded call before dropout, including edited weights, in float32.

    This gives the same as `masked_softmax`, but reuses the memory of the scores: at 512 tokens, new memory costs more
    than the arithmetic.
    """
    own = _own_attn(call)
    return own if call.edited is None else call.edited.apply_to(own)


def _own_attn(call: AttentionCall) -> Tensor:
    """Compute the weights from a call's query and key, without edits."""
    attn = call_scores(call).detach()
    if call.sinks is not None:
        return masked_softmax(attn, call.mask, call.sinks)
    if call.mask is not None:
        _hide_in_place(attn, call.mask)
    torch.softmax(attn, dim=-1, out=attn)
    if call.mask is not None and bool((empty := no_keys(call.mask)).any()):
        attn.masked_fill_(empty.unsqueeze(-1), 0.0)
    return attn


def call_sink_weights(call: AttentionCall) -> Float[Tensor, "batch heads q_len"]:
    """Compute each row's weight on its head's attention sink in a recorded call, in float32. Without sinks, it is 0."""
    if call.sinks is None:
        return torch.zeros(call.query.shape[:3], device=call.query.device)
    raw = call_scores(call).detach()
    seen = raw if call.mask is None else raw.masked_fill(~call.mask, -math.inf)
    sunk = (call.sinks.squeeze(-1).float() - seen.logsumexp(dim=-1)).sigmoid()
    return sunk if call.edited is None else torch.where(call.edited.rows, 1 - call.edited.attn.sum(dim=-1), sunk)


def _hide_in_place(scores: Map, mask: Bool[Tensor, "..."]) -> None:
    """Set the scores that `mask` hides to -inf.

    A mask that all heads share is added to each head: `masked_fill` is 3 to 10 times slower here, at 512 tokens.
    """
    if mask.numel() == scores.numel():
        scores.masked_fill_(~mask, -math.inf)
    else:
        scores.add_(scores.new_zeros(mask.shape).masked_fill_(~mask, -math.inf))


def attend(
    call: AttentionCall, site: Site | None = None, *, probe: Probe | None = None, dropout: Dropout | None = None
) -> Float[Tensor, "batch heads q_len d_v"]:
    """Compute the context of one call with PyTorch's fused kernel.

    Rows are computed without the kernel if they are edited, if scores are capped or share the softmax with a sink, if
    only the scores of a call are known, and if the kernel's gradients would be NaN. A row with no visible key gives
    zeros in both cases.
    """
    if site is not None:
        tell_listener(site)
    if probe is not None and site is not None:
        call = probe.on_call(site, call)
    drops = dropout is not None and dropout.attention and dropout.rate > 0
    by_hand = drops or not call.has_queries or call.softcap is not None or call.sinks is not None or _would_poison(call)
    if by_hand:
        out = _explicit_attention(call, dropout if drops else None)
    else:
        out = _fused_attention(call) if call.edited is None else _attend_edited(call, call.edited)
    return out if probe is None or site is None else probe.on_context(site, out)


def _would_poison(call: AttentionCall) -> bool:
    """Check whether the fused kernel's gradients would be NaN in a whole head.

    On a GPU they are divided by the sum of a row; if the row sees no key, 0 · NaN reaches all keys in the backward
    pass.
    """
    if not torch.is_grad_enabled() or call.mask is None or call.query.device.type == "cpu":
        return False
    return bool(no_keys(call.mask).any())


def _attend_edited(call: AttentionCall, edited: EditedWeights) -> Tensor:
    """Compute edited rows explicitly; all other rows are exactly what the kernel computes."""
    out = context(edited.attn.to(call.value.dtype), call.value)
    return out if bool(edited.rows.all()) else torch.where(edited.rows.unsqueeze(-1), out, _fused_attention(call))


def _explicit_attention(call: AttentionCall, dropout: Dropout | None) -> Tensor:
    raw = soft_capped(scores(call.query, call.key, call.scale), call.softcap)
    attn = masked_softmax(raw if call.bias is None else raw + call.bias, call.mask, call.sinks)
    attn = attn if call.edited is None else call.edited.apply_to(attn)
    return context(apply_dropout(attn, dropout).to(call.value.dtype), call.value)


def _fused_attention(call: AttentionCall) -> Tensor:
    mask = call.mask
    if call.bias is None and is_known_causal(mask):
        # With a mask written out, PyTorch takes a slower kernel, or also multiplies what the mask hides.
        return F.scaled_dot_product_attention(call.query, call.key, call.value, is_causal=True, scale=call.scale)
    if call.bias is not None:
        bias = call.bias if mask is None else call.bias.masked_fill(~mask, -math.inf)
        mask = bias.to(call.query.dtype)
    out = attend_visible_keys(call, mask)
    if call.mask is None or (call.bias is None and out.device.type == "cpu"):
        return out  # with a bool mask the CPU kernel itself gives zeros where a row sees no key
    return out.masked_fill(no_keys(call.mask).unsqueeze(-1), 0.0)


class MultiHeadAttention(nn.Module):
    """Multi-head attention of `input_` over `memory` (section 3.2.2).

    `input_` and `memory` are the same tensor in self-attention and differ in cross-attention. `W_q`, `W_k` and `W_v`
    project to all heads at once; head h owns rows `h * d_k : (h + 1) * d_k` of their weights.
    """

    def __init__(self, d_model: int, n_heads: int, d_k: int) -> None:
        super().__init__()
        self.n_heads, self.d_k = n_heads, d_k
        self.scale = 1 / math.sqrt(d_k)
        self.W_q = nn.Linear(d_model, n_heads * d_k)
        self.W_k = nn.Linear(d_model, n_heads * d_k)
        self.W_v = nn.Linear(d_model, n_heads * d_k)
        self.W_o = nn.Linear(n_heads * d_k, d_model)

    def split_heads(self, x: Float[Tensor, "batch length d_heads"]) -> Float[Tensor, "batch heads length d_k"]:
        """Split the last axis into heads and move the head axis before the length."""
        return x.unflatten(-1, (self.n_heads, self.d_k)).transpose(1, 2)

    def merge_heads(self, x: Float[Tensor, "batch heads length d_k"]) -> Float[Tensor, "batch length d_heads"]:
        """Undo `split_heads`: concatenate the heads' contexts, as in the paper's Concat."""
        return x.transpose(1, 2).flatten(start_dim=2)

    def forward(
        self,
        input_: Float[Tensor, "batch q_len d_model"],
        memory: Float[Tensor, "batch m_len d_model"],
        mask: Bool[Tensor, "..."] | None = None,
        *,
        site: Site | None = None,
        probe: Probe | None = None,
        dropout: Dropout | None = None,
        cache: LayerCache | None = None,
    ) -> Float[Tensor, "batch q_len d_model"]:
        """Attend from each position of `input_` to the positions of `memory` that `mask` lets it see.

        `mask` is bool, True = may attend: `(batch, 1, k_len)` or `(1, q_len, k_len)`, the same for every head, or
        `(batch, heads, q_len, k_len)`. With a cache, `memory` is only what the cache does not hold yet.
        """
        call = AttentionCall(
            query=self.split_heads(self.W_q(input_)),
            key=(projected := self.project_memory(memory, cache))[0],
            value=projected[1],
            scale=self.scale,
            mask=add_head_axis(mask),
            input_=input_,
            memory=memory,
        )
        return self.W_o(self.merge_heads(attend(call, site, probe=probe, dropout=dropout)))

    def project_memory(self, memory: Tensor, cache: LayerCache | None) -> tuple[Tensor, Tensor]:
        """Return keys and values `(batch, heads, k_len, d_k)`: those in the cache, followed by those of `memory`."""
        if cache is not None and cache.frozen:
            return cache.read()
        key, value = self.split_heads(self.W_k(memory)), self.split_heads(self.W_v(memory))
        return (key, value) if cache is None else cache.append(torch.stack((key, value)))


def attend_visible_keys(call: AttentionCall, mask: Tensor | None) -> Float[Tensor, "batch heads q_len d_v"]:
    """Compute the context of a call in blocks of rows, each over only the keys that its rows may see.

    `mask` is the call's mask or, with a bias, the masked bias as floats. PyTorch's CPU kernel also multiplies what a
    causal mask hides: at 512 tokens, nearly half of all products.
    """
    query, key, value = call.query, call.key, call.value
    is_worth_it = query.shape[2] >= 2 * _ROWS and query.device.type == "cpu" and not torch.is_grad_enabled()
    ends = _visible_ends(call) if is_worth_it else None
    if mask is None or ends is None:
        return F.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=call.scale)
    mask = mask.expand(*mask.shape[:-2], query.shape[2], -1)
    batch, heads, q_len, _ = query.shape
    out = query.new_empty(batch, q_len, heads, value.shape[-1]).transpose(1, 2)  # laid out like the kernel's output
    for block, end in enumerate(ends):
        rows = slice(block * _ROWS, (block + 1) * _ROWS)
        out[:, :, rows] = F.scaled_dot_product_attention(
            query[:, :, rows], key[:, :, :end], value[:, :, :end], attn_mask=mask[..., rows, :end], scale=call.scale
        )
    return out


def _visible_ends(call: AttentionCall) -> list[int] | None:
    """Return, for each block of rows, the number of keys up to the last visible one; None if every block sees
    all keys.
    """
    if call.mask is None or call.mask.shape[-2] == 1:
        return None
    masks = call.mask.reshape(-1, *call.mask.shape[-2:])
    seen = masks[0] if len(masks) == 1 else any_along(masks, 0)
    seen = torch.stack([any_along(rows, 0) for rows in seen.split(_ROWS)])
    ends = (seen * torch.arange(1, seen.shape[-1] + 1)).amax(dim=-1).clamp(min=1)
    return None if int(ends.min()) == seen.shape[-1] else ends.tolist()
