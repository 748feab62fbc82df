"""Probes that change a forward pass: replace a mask, or chain several probes. `causes` has the other interventions.

Like a `Recorder`, each object is made for one run and must not be shared between threads. The model itself is not
changed.
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
    """Replace a site's mask, for every head or for one head.

    `mask(q_len, k_len)` returns the new mask, bool `(batch or 1, q_len, k_len)`, True = may attend. It takes any
    lengths, so that the mask can grow with a target during decoding. Keys that a model's indexer did not choose stay
    hidden. `start` is the position of the run's first query if earlier queries are in a cache. `weigh` computes the
    weights `(batch, heads, q_len, k_len)` of a call in a different way; without it, the weights are attnviz's masked
    softmax, and the fused kernel runs.
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
        assert wanted is not None  # the mask is not None
        wanted = wanted if call.chosen is None else wanted & call.chosen
        if self.head is None:
            return wanted
        shape = (*call.query.shape[:3], k_len)
        own = torch.ones((), dtype=torch.bool, device=wanted.device) if call.mask is None else call.mask
        mixed = own.expand(shape).clone()
        mixed[:, self.head] = wanted.expand(shape)[:, self.head]
        return mixed

    def _edit_weights(self, call: AttentionCall, weights: Tensor) -> EditedWeights:
        """Merge the new weights of every head, or of the one head, with weights that were edited before."""
        rows = torch.zeros(call.query.shape[:3], dtype=torch.bool, device=call.query.device)
        rows[:, slice(None) if self.head is None else self.head] = True
        return EditedWeights(weights.expand(*rows.shape, call.key.shape[2]), rows).merge_with(call.edited)


@dataclass(frozen=True, eq=False)
class UnseenKeys(Probe):
    """Hide keys from every query, in every head of every layer: −∞ is added to their scores, before the softmax.

    `seen` `(tokens,)` is True for keys that stay visible. What the model's own mask hides, such as padding behind the
    tokens, stays hidden.
    """

    seen: Tensor

    def on_call(self, site: Site, call: AttentionCall) -> AttentionCall:
        k_len = call.key.shape[2]
        allowed = torch.ones(k_len, dtype=torch.bool, device=call.key.device)
        allowed[: len(self.seen)] = self.seen.to(call.key.device)
        mask = allowed.view(1, 1, 1, k_len)
        return replace(call, mask=mask if call.mask is None else call.mask & mask)


@dataclass(frozen=True)
class Chain(Probe):
    """Several probes as one: each sees the run as the probe before it changed it. A recorder comes last."""

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
