"""Attention weights in blocks of rows, so that no whole map of a long text is ever in memory.

A block holds some rows of some heads, and the keys from the first to the last that any of these rows may see. Keys to
the right of the causal mask or to the left of a sliding window are thus not computed. Weights are float32 on the device
of the call, whatever number format the call ran in.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attnviz.transformer.attention import soft_capped
from attnviz.transformer.masks import VisibleKeys, cut_shared, shared_once
from attnviz.transformer.probe import AttentionCall, EditedWeights

ROWS = VisibleKeys.ROWS
# Weights of a block: what stays in a processor's cache, and what keeps a GPU busy. A group of heads that share a key
# stays together in a block of up to eight times as many, because computing them at once is faster.
_CELLS_ON_CPU, _CELLS_ELSEWHERE = 1 << 18, 1 << 26
_LOWEST = torch.finfo(torch.float32).min / 2  # 0 times it is 0, and not NaN as 0 times -inf


@dataclass(frozen=True, eq=False)
class RowBlock:
    """The weights of the given heads, rows and keys. The weights on all other keys are 0.

    `information` is the sum of -a ln a over each row, if it was computed without the logarithms of the weights. The
    memory of `attn` is reused for the next block, so copy what you want to keep.
    """

    heads: slice
    rows: slice
    keys: slice
    attn: Float[Tensor, "heads rows keys"]
    information: Float[Tensor, "heads rows"] | None = None

    def move_heads(self, by: int) -> "RowBlock":
        """Return the same block with `by` added to the numbers of its heads."""
        return replace(self, heads=slice(self.heads.start + by, self.heads.stop + by)) if by else self

    def row_information(self) -> Float[Tensor, "heads rows"]:
        """Return the sum of -a ln a over each row."""
        return torch.special.entr(self.attn).sum(dim=-1) if self.information is None else self.information

    def gather(self, keys: Int[Tensor, "rows kinds"]) -> Float[Tensor, "heads rows kinds"]:
        """Return the weights of each row on its own choice of keys; 0 for a key outside of the block."""
        if self.keys.start == self.keys.stop:
            return self.attn.new_zeros(*self.attn.shape[:2], keys.shape[-1])
        at = keys - self.keys.start
        there = (at >= 0) & (at < self.attn.shape[-1])
        index = at.clamp(0, self.attn.shape[-1] - 1).expand(*self.attn.shape[:2], -1)
        return self.attn.gather(-1, index).where(there, 0.0)


def visible_keys(call: AttentionCall, before: VisibleKeys | None = None) -> VisibleKeys:
    """Return the keys that each row of a call with one batch item may see.

    If `before` was made from the same mask, return it instead of computing the keys again.
    """
    q_len, k_len = call.query.shape[2], call.key.shape[2]
    mask = None if call.mask is None else shared_once(call.mask[0].expand(-1, -1, k_len))
    return before if before is not None and before.is_of(mask, q_len, k_len) else VisibleKeys(mask, q_len, k_len)


def row_blocks(
    call: AttentionCall, visible: VisibleKeys | None = None, *, informs: bool = False, rows: range | None = None
) -> Iterator[RowBlock]:
    """Compute the weights of a call with one batch item in blocks: all heads of the first rows, then of the next rows.

    Pass `visible` if you have the result of `visible_keys` already. `rows` limits the rows, by default to all. With
    `informs`, each block holds the `information` of its rows.
    """
    visible = visible or visible_keys(call)
    work = _BlockWork(call, visible, informs)
    for block in _block_slices(range(visible.q_len) if rows is None else rows):
        for first in range(0, work.heads, work.step):
            yield work.block(slice(first, min(first + work.step, work.heads)), block)


def blocks_of_maps(attn: Float[Tensor, "maps q_len k_len"], rows: range | None = None) -> Iterator[RowBlock]:
    """Cut maps that are in memory into blocks, in the order of `row_blocks`."""
    maps, q_len, k_len = attn.shape
    step = _heads_at_once(maps, 1, k_len, attn.device)
    for block in _block_slices(range(q_len) if rows is None else rows):
        for first in range(0, maps, step):
            heads = slice(first, min(first + step, maps))
            yield RowBlock(heads, block, slice(0, k_len), attn[heads, block])


def _block_slices(rows: range) -> Iterator[slice]:
    """Yield slices of rows, cut at multiples of `ROWS`."""
    for start in range(rows.start - rows.start % ROWS, rows.stop, ROWS):
        yield slice(max(start, rows.start), min(start + ROWS, rows.stop))


def _heads_at_once(heads: int, group: int, k_len: int, device: torch.device) -> int:
    """Return how many heads to compute in one block, so that it fits in a CPU's cache, or keeps a GPU busy.

    They are whole groups of heads that share a key head, or equal parts of such a group.
    """
    cells = _CELLS_ON_CPU if device.type == "cpu" else _CELLS_ELSEWHERE
    of_a_head = ROWS * max(1, k_len)
    if (most := max(1, 8 * cells // of_a_head)) >= group:
        return min(heads, max(1, cells // (of_a_head * group)) * group)
    return next(part for part in range(most, 0, -1) if group % part == 0)


class _BlockWork:
    """The keys of a call in float32, and the memory that its blocks reuse."""

    def __init__(self, call: AttentionCall, visible: VisibleKeys, informs: bool) -> None:
        self.call, self.visible = call, visible
        self.query, self.key = call.query[0].detach(), call.key[0].detach().float()
        self.heads = self.query.shape[0]
        self.group = self.heads // self.key.shape[0]
        self.step = _heads_at_once(self.heads, self.group, visible.k_len, self.query.device)
        self.informs = informs and call.edited is None
        self.keeps_scores = self.informs or call.sinks is not None
        cells = self.step * min(ROWS, visible.q_len) * visible.k_len
        self.memory = [self.key.new_empty(cells) for _ in range(1 + self.keeps_scores)]

    def block(self, heads: slice, rows: slice) -> RowBlock:
        """Compute the weights of one block."""
        begin, end, hidden, shown = self.visible.bounds(rows.start)
        edited = self.call.edited
        if edited is not None:  # an intervention may put weights anywhere
            begin, end, hidden, shown = 0, self.visible.k_len, 0, self.visible.k_len
        keys = slice(begin, end)
        if begin == end:
            nothing = self.key.new_zeros(heads.stop - heads.start, rows.stop - rows.start, 0)
            return RowBlock(heads, rows, keys, nothing)
        scores, hides = self._scores(heads, rows, keys), None
        if self.visible.mask is not None and hidden < shown:
            hides = slice(hidden - begin, shown - begin)
            scores[..., hides].add_(self.visible.hiding(heads, rows, slice(hidden, shown)))
        empty = self.visible.rows_without_keys
        empty = None if empty is None else cut_shared(empty, heads, rows, slice(None))
        attn, log_sum = self._weights(scores, heads)
        if empty is not None:
            attn.masked_fill_(empty, 0.0)
        information = self._information(attn, scores, log_sum, hides) if self.informs else None
        if information is not None and empty is not None:
            information.masked_fill_(empty.squeeze(-1), 0.0)
        if edited is not None:
            put = EditedWeights(edited.attn[0, heads, rows, keys], edited.rows[0, heads, rows])
            attn = put.apply_to(attn)
        return RowBlock(heads, rows, keys, attn, information)

    def _scores(self, heads: slice, rows: slice, keys: slice) -> Tensor:
        """Compute scaled scores with bias for a block, in the memory that the previous block used."""
        count, length, n_keys = heads.stop - heads.start, rows.stop - rows.start, keys.stop - keys.start
        groups = slice(heads.start // self.group, -(-heads.stop // self.group))
        together = min(count, self.group) * length
        query = self.query[heads, rows].float().reshape(-1, together, self.query.shape[-1])
        scores = self.memory[0][: count * length * n_keys].view(-1, together, n_keys)
        key = self.key[groups, keys].transpose(1, 2)
        scores = torch.baddbmm(scores, query, key, beta=0, alpha=self.call.scale, out=scores)
        scores = scores.view(count, length, n_keys)
        if self.call.softcap is not None:
            scores.copy_(soft_capped(scores, self.call.softcap))
        if self.call.bias is not None:
            scores.add_(cut_shared(self.call.bias[0].detach(), heads, rows, keys).float())
        return scores

    def _weights(self, scores: Tensor, heads: slice) -> tuple[Tensor, Tensor]:
        """Apply the softmax. Return the weights and, for each row, the logarithm of the softmax's sum.

        The scores are shifted in place so that the largest of a row is 0, and the sum is that of the shifted scores. If
        scores are not needed afterwards, the weights overwrite them and the logarithms are returned as 0.
        """
        if not self.keeps_scores:
            return torch.softmax(scores, dim=-1, out=scores), scores.new_zeros(())
        attn = self.memory[1][: scores.numel()].view(scores.shape)
        highest = scores.amax(dim=-1, keepdim=True).clamp_(min=_LOWEST)
        torch.softmax(scores.sub_(highest), dim=-1, out=attn)
        log_sum = -attn.amax(dim=-1).log()
        if self.call.sinks is not None:
            sinks = cut_shared(self.call.sinks[0], heads, slice(None), slice(None)) - highest
            sinks = sinks.float().squeeze(-1)
            attn.mul_((log_sum - sinks).sigmoid().unsqueeze(-1))
            log_sum = torch.logaddexp(log_sum, sinks)
        return attn, log_sum

    def _information(self, attn: Tensor, scores: Tensor, log_sum: Tensor, hides: slice | None) -> Tensor:
        """Return the sum of -a ln a over each row, from scores s and the logarithm of their sum Z.

        Because ln a = s - log Z, it is W log Z minus the sum of a s, where W is the sum of the row's weights.
        """
        if self.call.bias is not None:  # which may be -inf
            scores.clamp_(min=_LOWEST)
        elif hides is not None:
            scores[..., hides].clamp_(min=_LOWEST)
        weight = 1.0 if self.call.sinks is None else attn.sum(dim=-1)
        return (log_sum * weight - scores.mul_(attn).sum(dim=-1)).clamp_(min=0)  # scores are not needed any more
