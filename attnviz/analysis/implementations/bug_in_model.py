"""A bug put into the running model for one run: what it then writes, and how far its logits move."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attnviz.analysis.rerun import run_again
from attnviz.analysis.site.case import site_module
from attnviz.analysis.site.outcome import Raised, largest_change
from attnviz.implementations.bugs.probe import BuggySites
from attnviz.implementations.steps import AttentionSteps
from attnviz.implementations.weights import SiteWeights
from attnviz.models.translator.generate import decoding_limit
from attnviz.models.translator.translator import Translator
from attnviz.tracing.trace import Trace
from attnviz.transformer.decoding import Stepper, decode
from attnviz.transformer.layers import ForwardContext
from attnviz.transformer.probe import Probe, Site


@dataclass(frozen=True)
class BugEffect:
    """max |Δ| of the logits on the target that was traced, and the translation with and without the bug; `cut` tokens
    of it where one did not end by then (0: both did).
    """

    logits_change: float
    before: str
    after: str
    cut: int = 0


MOST = 64  # tokens: with a bug in force the whole prefix runs again at every step


@torch.inference_mode()
def bug_in_model(model: Translator, trace: Trace, steps: AttentionSteps, sites: Sequence[Site]) -> BugEffect | Raised:
    """Run `trace`'s first sentence with `steps` at `sites`, and let the model translate it with and without them."""

    def probe() -> BuggySites:
        return BuggySites({site: SiteWeights.of(site_module(model, site)) for site in sites}, steps)

    before, before_cut = _written(model, trace, None)
    try:
        logits = run_again(model, trace, probe()).logits
        change = largest_change(logits, run_again(model, trace).logits)
        after, after_cut = _written(model, trace, probe())
        return BugEffect(change, before, after, max(before_cut, after_cut))
    except (RuntimeError, TypeError, ValueError) as error:
        return Raised.by(error)


@dataclass
class _Probed:
    stepper: Stepper
    probe: Probe | None

    def step(self, ids: Tensor) -> Tensor:
        """The stepper's step, with the probe in force; NaN logits choose the first id, as argmax does."""
        return self.stepper.step(ids, probe=self.probe)

    def keep(self, rows: Tensor) -> None:
        """As the stepper has it."""
        self.stepper.keep(rows)


def _written(model: Translator, trace: Trace, probe: Probe | None) -> tuple[str, int]:
    src = torch.tensor([[token.id for token in trace.tokens("src")]], device=model.device)
    memory = model.model.encode(src, None, ForwardContext(probe))
    limit = min(decoding_limit(src.shape[1]), MOST)
    stepper = _Probed(Stepper(model.model, memory, None, capacity=limit, cached=False), probe)
    first = torch.full((1,), model.codec.bos_id(trace.to), device=model.device)
    ids = decode(stepper, first, model.vocabulary, max_tokens=limit)[0]
    return model.codec.text(ids), 0 if ids[-1] == model.codec.eos_id else limit
