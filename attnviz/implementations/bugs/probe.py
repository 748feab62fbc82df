"""A bug in the running model: a probe that computes some sites' contexts with a wrong step among right ones."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from attnviz.implementations.steps import AttentionSteps, SteppedAttention
from attnviz.implementations.weights import SiteWeights
from attnviz.transformer.probe import AttentionCall, Probe, Site


@dataclass
class BuggySites(Probe):
    """Sites of one run that compute with `steps`, and without the head `off`, if any. Decoding must run without a
    cache: a wrong step may need all of `input_`. Made for one run; must not be shared between threads.
    """

    weights: Mapping[Site, SiteWeights]
    steps: AttentionSteps
    off: int | None = None
    _calls: dict[Site, AttentionCall] = field(default_factory=dict, repr=False)

    def start_at(self, start: int) -> "BuggySites":
        """Make a probe for one step of a decoding, which must run its whole prefix again."""
        return replace(self, _calls={})

    def on_call(self, site: Site, call: AttentionCall) -> AttentionCall:
        """Remember the call."""
        self._calls[site] = call
        return call

    def on_context(self, site: Site, context: Tensor) -> Tensor:
        """Compute the wrong context, cut into heads so that the model's own merge gives the result of the bug's merge.

        It is made in float32 on the CPU, as the weights are, for every dtype and device of the model.

        Raises torch's error at the wrong step, and ValueError if no context gives its output.
        """
        weights = self.weights.get(site)
        call = self._calls.pop(site)
        if weights is None or call.input_ is None or call.memory is None:
            return context
        attention = SteppedAttention(weights.replace_bias(call.bias), self.steps, off=self.off)
        mask = None if call.mask is None else call.mask.cpu()
        made, _ = attention.context(call.input_.cpu().float(), call.memory.cpu().float(), mask)
        joined = self.steps.merge(made) if self.off is None else _invert_output(attention.output(made), weights)
        return joined.unflatten(-1, (weights.n_heads, -1)).transpose(1, 2).to(context)


def _invert_output(output: Tensor, weights: SiteWeights) -> Tensor:
    """Find the joined contexts that `W_o` maps to an output. Raises ValueError if there are none."""
    wanted, weight = (output - weights.b_o).double(), weights.W_o.double()
    found = wanted @ torch.linalg.pinv(weight).T
    if not torch.allclose(found @ weight.T, wanted, atol=1e-5):
        raise ValueError(
            "This model's W_o does not reach every output, so zeroing its output has no equivalent before it."
        )
    return found.to(output.dtype)
