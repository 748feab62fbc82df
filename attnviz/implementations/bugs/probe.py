"""A bug put into the running model: a probe that makes some sites' contexts with a wrong step among right ones."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from torch import Tensor

from attnviz.implementations.steps import AttentionSteps, SteppedAttention
from attnviz.implementations.weights import SiteWeights
from attnviz.transformer.probe import AttentionCall, Probe, Site


@dataclass
class BuggySites(Probe):
    """Sites of one run that compute with `steps`. Decoding must run without a cache: a wrong step may need all of
    `input_`. Made for one run; must not be shared between threads.
    """

    weights: Mapping[Site, SiteWeights]
    steps: AttentionSteps
    _calls: dict[Site, AttentionCall] = field(default_factory=dict, repr=False)

    def at(self, start: int) -> "BuggySites":
        """The same for one step of a decoding, which must run its whole prefix again."""
        return replace(self, _calls={})

    def on_call(self, site: Site, call: AttentionCall) -> AttentionCall:
        """Remember what goes in."""
        self._calls[site] = call
        return call

    def on_context(self, site: Site, context: Tensor) -> Tensor:
        """The wrong context, cut into heads so that the model's own merge gives what the bug's merge gave.

        Raises whatever torch raises at the wrong step.
        """
        weights = self.weights.get(site)
        call = self._calls.pop(site)
        if weights is None or call.input_ is None or call.memory is None:
            return context
        joined, _ = SteppedAttention(weights.biased_as(call.bias), self.steps).joined(
            call.input_, call.memory, call.mask
        )
        return joined.unflatten(-1, (weights.n_heads, -1)).transpose(1, 2)
