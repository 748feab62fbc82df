"""Rounding tolerance between two correct computations of the same pass, measured at each place and position.

A constant would not do: a row of large values is rounded more coarsely than its neighbour, and errors grow from layer
to layer. So the pass is repeated a few times with every value perturbed by one unit in the last place
(`attnviz.tracing.rounding`), and the resulting changes are measured.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.analysis.cancellable import TO_THE_END, Cancellable
from attnviz.tracing.rounding import FACTOR, PASSES, Rounding, largest_magnitude, weights_within
from attnviz.tracing.trace import Trace
from attnviz.transformer.device import rounding_unit
from attnviz.transformer.probe import Probe, Site, Stack

Pass = Callable[[Probe | None], Trace]


@dataclass(frozen=True, eq=False)
class Tolerance:
    """Allowed differences: of scores by `scores` `(heads, q_len)`, hidden states by `hidden` `(length,)`, and
    logits by `logits` `(length,)`.

    `epsilon` is the relative rounding error of the dtype.
    """

    epsilon: float
    scores: Mapping[Site, Tensor]  # a mapping, because encoder and decoder differ in length
    hidden: Mapping[tuple[Stack, int], Tensor]
    logits: Float[Tensor, " length"]

    def weight_tolerance(self, site: Site, attn: Float[Tensor, "heads q_len k_len"]) -> Float[Tensor, "heads q_len"]:
        """Return by how much a row's weights may differ: the largest change that its scores' tolerance can cause."""
        return weights_within(attn, self.scores[site])


@torch.inference_mode()
def tolerance(whole: Trace, run: Pass, *, dtype: str = "", item: int = 0, work: Cancellable = TO_THE_END) -> Tolerance:
    """Measure how much the outputs of the pass `whole` may differ by rounding. `run(probe)` repeats it with a probe.

    `dtype` names the dtype whose rounding is assumed, by default that of the pass. `work` receives the progress, but
    cannot stop the passes.
    """
    epsilon = rounding_unit(getattr(torch, dtype or whole.info.dtype), whole.info.device)
    generator = torch.Generator().manual_seed(0)
    spread = _RoundingSpread.zeros(whole, item)
    for _ in work.part(0, PASSES, "rounding").iterate(range(PASSES), PASSES):
        spread.widen(whole, run(Rounding(epsilon, generator)), item)
    scores = {site: FACTOR * (moved + epsilon * _size(whole, site, item)) for site, moved in spread.scores.items()}
    hidden = {place: FACTOR * moved for place, moved in spread.hidden.items()}
    # The final norm may hide changes of the state before it, and is rounded itself.
    logits = FACTOR * (spread.logits + epsilon * largest_magnitude(_logits(whole, item)))
    return Tolerance(epsilon, scores, hidden, logits)


@dataclass
class _RoundingSpread:
    """How far each value of a pass has moved at most, in the repetitions with other roundings so far."""

    scores: dict[Site, Tensor]
    hidden: dict[tuple[Stack, int], Tensor]
    logits: Tensor

    @classmethod
    def zeros(cls, whole: Trace, item: int) -> "_RoundingSpread":
        scores = {site: torch.zeros(_visible_scores(whole, site, item).shape[:-1]) for site in whole.calls}
        hidden = {place: torch.zeros(len(whole.layer_output(*place, item))) for place in whole.layers}
        return cls(scores, hidden, torch.zeros(len(_logits(whole, item))))

    def widen(self, whole: Trace, moved: Trace, item: int) -> None:
        """Include one more repetition of the pass: `moved` is its trace, `whole` that of the unchanged pass."""
        for site, most in self.scores.items():
            delta = _visible_scores(moved, site, item) - _visible_scores(whole, site, item)
            self.scores[site] = torch.maximum(most, largest_magnitude(delta))
        for (stack, layer), most in self.hidden.items():
            delta = moved.layer_output(stack, layer, item) - whole.layer_output(stack, layer, item)
            self.hidden[stack, layer] = torch.maximum(most, largest_magnitude(delta))
        self.logits = torch.maximum(self.logits, largest_magnitude(_logits(moved, item) - _logits(whole, item)))


def _visible_scores(trace: Trace, site: Site, item: int) -> Float[Tensor, "heads q_len k_len"]:
    """Return the scores of the keys that a row may attend to, and 0 for other keys."""
    scores = trace.scores(site.kind, layer=site.layer, item=item)
    return scores.masked_fill(~trace.layer_mask(site.kind, site.layer, item).cpu(), 0.0)


def _logits(trace: Trace, item: int) -> Float[Tensor, "length vocab_size"]:
    assert trace.logits is not None  # only models that write are compared
    return trace.logits[item].float().cpu()


def _size(trace: Trace, site: Site, item: int) -> Float[Tensor, "heads q_len"]:
    return largest_magnitude(_visible_scores(trace, site, item))
