"""The wrong steps, as they occur in practice. The cabinet says which function of `steps` each replaces.

One bug needs two visitors: weights kept on a module that two threads share. It runs with two real threads.
"""

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier

import torch
from torch import Tensor, nn

from attnviz.implementations.steps import SteppedAttention
from attnviz.implementations.weights import Attention, SiteWeights
from attnviz.transformer.attention import masked_softmax

DRAWING = 2e-3  # seconds between running a module and reading its map, as when a page draws its frame first


# ruff: noqa: D103 - the cabinet describes each and shows it beside the right step.


def softmax_over_heads(scores: Tensor, mask: Tensor | None) -> Tensor:
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return torch.stack([item.softmax(dim=0) for item in scores])  # an item is (heads, q_len, k_len)


def softmax_over_queries(scores: Tensor, mask: Tensor | None) -> Tensor:
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    scores = scores.permute(0, 2, 3, 1)  # (batch, q_len, k_len, heads), as einsum would have made it
    return scores.softmax(dim=1).permute(0, 3, 1, 2)


def no_scale(query: Tensor, key: Tensor, d_model: int) -> Tensor:
    return query @ key.transpose(-2, -1)


def scale_by_d_model(query: Tensor, key: Tensor, d_model: int) -> Tensor:
    return query @ key.transpose(-2, -1) / math.sqrt(d_model)


def merge_by_reshape(context: Tensor) -> Tensor:
    return context.reshape(context.shape[0], context.shape[2], -1)


def split_by_view(x: Tensor, n_heads: int, size: int) -> Tensor:
    return x.view(x.shape[0], n_heads, x.shape[1], size)


def float_head_size(d_heads: int, n_heads: int) -> float:
    return d_heads / n_heads


def mask_inverted(scores: Tensor, mask: Tensor | None) -> Tensor:
    if mask is not None:
        scores = scores.masked_fill(mask, -1e9)
    return scores.softmax(dim=-1)


def mask_transposed(scores: Tensor, mask: Tensor | None) -> Tensor:
    if mask is not None:
        scores = scores.masked_fill(~mask.transpose(-2, -1), -1e9)
    return scores.softmax(dim=-1)


def causal_at_top_left(scores: Tensor, mask: Tensor | None) -> Tensor:
    if mask is not None and mask.shape[-2] == scores.shape[-2]:  # the mask has a row for each query
        # As with is_causal=True: row i sees keys 0 to i, whatever the rows' positions in the text.
        mask = mask & torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    return masked_softmax(scores, mask)


def padding_on_queries(scores: Tensor, mask: Tensor | None) -> Tensor:
    if mask is not None and mask.shape[-2] == 1:  # padding: (batch, 1, 1, k_len)
        mask = mask.transpose(-2, -1)  # as (tokens != pad)[:, None, :, None], which hides rows instead of keys
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return scores.softmax(dim=-1)


def padding_on_queries_infinite(scores: Tensor, mask: Tensor | None) -> Tensor:
    if mask is not None and mask.shape[-2] == 1:  # padding: (batch, 1, 1, k_len)
        mask = mask.transpose(-2, -1)  # as (tokens != pad)[:, None, :, None], which hides rows instead of keys
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return scores.softmax(dim=-1)


def softmax_twice(scores: Tensor, mask: Tensor | None) -> Tensor:
    return masked_softmax(scores, mask).softmax(dim=-1)


def mask_after_softmax(scores: Tensor, mask: Tensor | None) -> Tensor:
    attn = scores.softmax(dim=-1)
    return attn if mask is None else attn * mask


def mask_added_after_softmax(scores: Tensor, mask: Tensor | None) -> Tensor:
    attn = scores.softmax(dim=-1)
    return attn if mask is None else attn + (~mask) * -1e9


def half_filled(scores: Tensor, mask: Tensor | None) -> Tensor:
    scores = scores.half()
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return scores.softmax(dim=-1).float()


def half_by_where(scores: Tensor, mask: Tensor | None) -> Tensor:
    scores = scores.half()
    if mask is not None:
        scores = torch.where(mask, scores, torch.tensor(-1e9, dtype=torch.float16))
    return scores.softmax(dim=-1).float()


def reported_after_dropout(attn: Tensor, dropped: Tensor) -> Tensor:
    return dropped


def switch_off_after_output(context: Tensor, head: int, project: Callable[[Tensor], Tensor]) -> Tensor:
    output, d_v = project(context), context.shape[-1]
    output[..., head * d_v : (head + 1) * d_v] = 0  # as if these columns belonged to the head
    return output


def bias_of_the_heads(weights: SiteWeights) -> Tensor:
    return torch.zeros(weights.n_heads * weights.d_v)


def bias_by_xavier(weights: SiteWeights) -> Tensor:
    return nn.init.xavier_normal_(torch.empty(weights.d_model))


class KeptMap:
    """A module that stores its attention weights as an attribute, as much published code does."""

    def __init__(self, weights: SiteWeights) -> None:
        self.attention = SteppedAttention(weights)
        self.attn: Tensor | None = None

    def forward(self, input_: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return only the output; the weights are stored in `attn`."""
        output, self.attn = self.attention(input_, memory, mask)
        return output


def kept_map(weights: SiteWeights) -> Attention:
    """Return an attention function that reads the weights from a module's attribute some time after the call.

    If threads share the module, another thread may have replaced the weights meanwhile: this is the bug.
    """
    module = KeptMap(weights)

    def attend(input_: Tensor, memory: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        output = module.forward(input_, memory, mask)
        time.sleep(DRAWING)
        return output, module.attn

    return attend


@dataclass(frozen=True, eq=False)
class Visits:
    """The maps that two visitors saw: how many, how many of them belonged to the other visitor, and an example
    of such a pair `(own, shown)`, or None.
    """

    maps: int
    wrong: int
    example: tuple[Tensor, Tensor] | None


def two_visitors(attend: Attention, inputs: Sequence[Tensor], *, rounds: int = 20) -> Visits:
    """Run the `inputs` `(1, length, d_model)` at the same moment in one thread each, `rounds` times."""
    alone = [_map_of(attend, x) for x in inputs]
    together = Barrier(len(inputs), timeout=30)
    with ThreadPoolExecutor(len(inputs)) as threads:
        jobs = [threads.submit(_visits, attend, x, together=together, rounds=rounds) for x in inputs]
        seen = [job.result() for job in jobs]
    pairs = [(own, shown) for own, maps in zip(alone, seen, strict=True) for shown in maps]
    wrong = [pair for pair in pairs if pair[0].shape != pair[1].shape or not torch.allclose(*pair, atol=1e-5)]
    return Visits(len(pairs), len(wrong), wrong[0] if wrong else None)


def _visits(attend: Callable, x: Tensor, *, together: Barrier, rounds: int) -> list[Tensor]:
    maps = []
    for _ in range(rounds):
        together.wait()
        maps.append(_map_of(attend, x))
    return maps


def _map_of(attend: Attention, x: Tensor) -> Tensor:
    with torch.inference_mode():  # grad mode is set per thread
        output, attn = attend(x, x, None)
    return output if attn is None else attn
