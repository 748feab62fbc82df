"""The probe that records what a forward pass computes. It keeps references to the tensors and changes nothing.

Keys and values that neighbouring heads share are stored only once.
"""

from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from attnviz.transformer.probe import AttentionCall, Probe, Site, Stack


class GroupedCalls(MutableMapping[Site, AttentionCall]):
    """Recorded calls by site. Keys and values that groups of neighbouring heads share, as in Llama, are kept once for
    each group and repeated for its heads when a call is read.
    """

    def __init__(self, calls: Mapping[Site, AttentionCall] | None = None) -> None:
        self._kept: dict[Site, AttentionCall] = {}
        self.update(calls or {})

    def __getitem__(self, site: Site) -> AttentionCall:
        call = self._kept[site]
        times = call.query.shape[1] // max(1, call.key.shape[1])
        if times == 1:
            return call
        key, value = (part.repeat_interleave(times, dim=1) for part in (call.key, call.value))
        return replace(call, key=key, value=value)

    def __setitem__(self, site: Site, call: AttentionCall) -> None:
        times = _heads_in_a_group(call)
        if times > 1:
            key, value = (part[:, ::times].contiguous() for part in (call.key, call.value))
            call = replace(call, key=key, value=value)
        self._kept[site] = call

    def __delitem__(self, site: Site) -> None:
        del self._kept[site]

    def __iter__(self) -> Iterator[Site]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)

    def __or__(self, others: Mapping[Site, AttentionCall]) -> "GroupedCalls":
        """Return a mapping with the calls of both recordings, like `|` for dictionaries."""
        made = GroupedCalls()
        made._kept = self._kept | (others._kept if isinstance(others, GroupedCalls) else GroupedCalls(others)._kept)
        return made

    def __ror__(self, others: Mapping[Site, AttentionCall]) -> "GroupedCalls":
        return GroupedCalls(others) | self

    def as_kept(self, site: Site) -> AttentionCall:
        """Return a site's call as stored, with keys and values only once for each group of heads that share them."""
        return self._kept[site]


def _heads_in_a_group(call: AttentionCall) -> int:
    """Return how many neighbouring heads have equal keys and values, the same number in each group; 1 on a GPU, where
    a comparison would wait for the device.
    """
    key, value = call.key, call.value
    heads = key.shape[1]
    if heads < 2 or key.device.type != "cpu" or not call.has_queries or key.shape[1] != call.query.shape[1]:
        return 1
    times = next((head for head in range(1, heads) if not _has_keys_of_first(head, key)), heads)
    if times == 1 or heads % times:
        return 1
    is_shared = all(torch.equal(part[:, ::times].repeat_interleave(times, dim=1), part) for part in (key, value))
    return times if is_shared else 1


def _has_keys_of_first(head: int, key: Tensor) -> bool:
    """Check whether a head has the keys of the first head. Most heads differ in the first key already, which saves
    comparing all of them in every layer.
    """
    return all(torch.equal(key[:, head, which], key[:, 0, which]) for which in (slice(1), slice(None)))


@dataclass
class Recorder(Probe):
    """The record of one run: a call and a context for each site, an output for each layer (-1 is the embedding).

    If `keeps_hidden` is False, only the calls are kept. Create a new recorder for every run; it must not be shared
    between threads.
    """

    calls: GroupedCalls = field(default_factory=GroupedCalls)
    contexts: dict[Site, Tensor] = field(default_factory=dict)
    layers: dict[tuple[Stack, int], Tensor] = field(default_factory=dict)
    keeps_hidden: bool = True

    def on_call(self, site: Site, call: AttentionCall) -> AttentionCall:
        self.calls[site] = call
        return call

    def on_context(self, site: Site, context: Tensor) -> Tensor:
        if self.keeps_hidden:  # contexts count as hidden states
            self.contexts[site] = context
        return context

    def on_layer(self, stack: Stack, layer: int, output: Tensor) -> Tensor:
        if self.keeps_hidden:
            self.layers[stack, layer] = output
        return output
