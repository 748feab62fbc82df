"""Probes that change a forward pass: another mask, or several probes one after another. `causes` has the others.

Each is made for one run, like a `Recorder`, and must not be shared between threads. The model itself stays as it is.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from attnviz.transformer.masks import add_head_axis
from attnviz.transformer.probe import AttentionCall, EditedWeights, Probe, Site, Stack

MakeMask = Callable[[int, int], Tensor]
Weigh = Callable[[AttentionCall], Tensor]


@dataclass
class MaskOverride(Probe):
    """Put another mask in the place of a site's own, for every head or for one.

    `mask(q_len, k_len)` returns the mask: bool, True = may attend, `(batch or 1, q_len, k_len)`, for any lengths, so
    that the mask can follow a target while it is written. Keys that a model's indexer did not choose stay hidden.
    `start` is the position of the run's first query if earlier queries are in a cache. `weigh` computes the weights
    `(batch, heads, q_len, k_len)` of such a call in its own way; without it, they are the package's own masked softmax,
    and the fused kernel runs.
    """

    sites: Collection[Site]
    mask: MakeMask
    head: int | None = None
    start: int = 0
    weigh: Weigh | None = None
    _made: dict[tuple[int, int, torch.device], Tensor] = field(default_factory=dict, init=False, repr=False)  # of a run

    def start_at(self, start: int) -> "MaskOverride":
        """Return the same intervention for a run whose first query is at position `start`."""
        return replace(self, start=start)

    def on_call(self, site: Site, call: AttentionCall) -> AttentionCall:
        if site not in self.sites:
            return call
        changed = replace(call, mask=self._mask_for(call))
        return (
            changed if self.weigh is None else replace(changed, edited=self._edit_weights(changed, self.weigh(changed)))
        )

    def _mask_for(self, call: AttentionCall) -> Tensor:
        q_len, k_len, device = call.query.shape[2], call.key.shape[2], call.query.device
        if (q_len, k_len, device) not in self._made:
            made = self.mask(self.start + q_len, k_len)[..., self.start :, :]
            self._made[q_len, k_len, device] = made.to(device)
        wanted = add_head_axis(self._made[q_len, k_len, device])
        assert wanted is not None  # a mask went in
        wanted = wanted if call.chosen is None else wanted & call.chosen
        if self.head is None:
            return wanted
        shape = (*call.query.shape[:3], k_len)
        own = torch.ones((), dtype=torch.bool, device=wanted.device) if call.mask is None else call.mask
        mixed = own.expand(shape).clone()
        mixed[:, self.head] = wanted.expand(shape)[:, self.head]
        return mixed

    def _edit_weights(self, call: AttentionCall, weights: Tensor) -> EditedWeights:
        """Merge the weights of every head, or of the one, with what was edited before."""
        rows = torch.zeros(call.query.shape[:3], dtype=torch.bool, device=call.query.device)
        rows[:, slice(None) if self.head is None else self.head] = True
        return EditedWeights(weights.expand(*rows.shape, call.key.shape[2]), rows).merge_with(call.edited)


@dataclass(frozen=True)
class Chain(Probe):
    """Several probes as one: each sees what the one before it has made of the run. A recorder comes last."""

    probes: Sequence[Probe]

    def on_call(self, site: Site, call: AttentionCall) -> AttentionCall:
        for probe in self.probes:
            call = probe.on_call(site, call)
        return call

    def on_context(self, site: Site, context: Tensor) -> Tensor:
        for probe in self.probes:
            context = probe.on_context(site, context)
        return context

    def on_layer(self, stack: Stack, layer: int, output: Tensor) -> Tensor:
        for probe in self.probes:
            output = probe.on_layer(stack, layer, output)
        return output

    def start_at(self, start: int) -> "Chain":
        return Chain([probe.start_at(start) for probe in self.probes])
