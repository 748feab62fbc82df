"""A toy that writes: fed token by token, on a cache where that computes the same."""

from collections.abc import Sequence

import torch
from torch import Tensor

from attnviz.learning.network import ToyNetwork
from attnviz.tracing.causes.edits import Edits
from attnviz.tracing.causes.stepping import apply_edits
from attnviz.transformer.cache import KVCache
from attnviz.transformer.decoding import Choose, Vocabulary, decode, likeliest
from attnviz.transformer.layers import ForwardContext
from attnviz.transformer.probe import Probe


class ToyStepper:
    """A toy's decoder that is fed tokens and answers with the logits of the next. It belongs to one run.

    A network whose causal mask is missing or leaks always runs the whole prefix again, as it was trained: with a cache
    earlier positions would not see later ones.
    """

    def __init__(
        self, network: ToyNetwork, memory: Tensor, src_mask: Tensor | None, *, capacity: int, cached: bool = True
    ):
        self.network, self.memory, self.src_mask = network, memory, src_mask
        cached = cached and network.habits.mask == "causal"
        self.cache = KVCache.allocate(network.config, capacity) if cached else None
        self.prefix = torch.empty(len(memory), 0, dtype=torch.long)

    def step(self, ids: Tensor, *, probe: Probe | None = None) -> Tensor:
        """Feed the next ids `(batch,)`, or several at once `(batch, length)`; the logits `(batch, vocab_size)`."""
        new = ids.unsqueeze(1) if ids.dim() == 1 else ids
        self.prefix = torch.cat((self.prefix, new), dim=1)
        tgt_in = self.prefix if self.cache is None else new
        run = ForwardContext(probe, cache=self.cache)
        return self.network.logits(self.network.decode(tgt_in, self.memory, self.src_mask, run)[:, -1])

    def select_rows(self, rows: Tensor, /) -> None:
        """Go on with these rows of the batch only, in this order."""
        self.prefix, self.memory = self.prefix[rows], self.memory[rows]
        self.src_mask = None if self.src_mask is None else self.src_mask[rows]
        if self.cache is not None:
            self.cache.reorder(rows)


@torch.inference_mode()
def written(
    network: ToyNetwork, src: Tensor, begun: Tensor, rules: Vocabulary, *, limit: int, choose: Choose = likeliest,
    edits: Edits | None = None,
) -> list[tuple[int, ...]]:  # fmt: skip
    """What the network writes for each source `(batch, k_len)` after `begun (batch, length)`, its end included."""
    src_mask = network.src_mask(src)
    memory = network.encode(src, src_mask, ForwardContext(edits))
    stepper = apply_edits(ToyStepper(network, memory, src_mask, capacity=limit + begun.shape[1]), edits)
    if begun.shape[1] > 1:
        stepper.step(begun[:, :-1])
    rows: Sequence[list[int]] = decode(stepper, begun[:, -1], rules, max_tokens=limit, choose=choose)
    return [tuple(row) for row in rows]
