"""The probe that records what a forward pass computes. It keeps references, copies nothing and changes nothing."""

from dataclasses import dataclass, field

from torch import Tensor

from attnviz.transformer.probe import AttentionCall, Probe, Site, Stack


@dataclass
class Recorder(Probe):
    """The record of one run: a call and a context for each site, an output for each layer (-1 is the embedding).

    If `keeps_hidden` is False, only the calls are kept. Create a new recorder for every run; it must not be shared
    between threads.
    """

    calls: dict[Site, AttentionCall] = field(default_factory=dict)
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
