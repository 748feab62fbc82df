"""The probe that writes down what a forward pass computes. It keeps references, copies nothing and changes nothing."""

from dataclasses import dataclass, field

from torch import Tensor

from attnviz.transformer.probe import AttentionCall, Probe, Site, Stack


@dataclass
class Recorder(Probe):
    """One run's record: a call and a context per site, an output per layer (layer -1 is the embedding).

    Make a new one for every run; it must not be shared between threads.
    """

    calls: dict[Site, AttentionCall] = field(default_factory=dict)
    contexts: dict[Site, Tensor] = field(default_factory=dict)
    layers: dict[tuple[Stack, int], Tensor] = field(default_factory=dict)

    def on_call(self, site: Site, call: AttentionCall) -> AttentionCall:
        self.calls[site] = call
        return call

    def on_context(self, site: Site, context: Tensor) -> Tensor:
        self.contexts[site] = context
        return context

    def on_layer(self, stack: Stack, layer: int, output: Tensor) -> Tensor:
        self.layers[stack, layer] = output
        return output
