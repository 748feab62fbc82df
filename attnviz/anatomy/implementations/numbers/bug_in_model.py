"""Put a bug into the running model for one run: the text that the model then writes, and the change of its logits."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from attnviz.analysis.cancellable import TO_THE_END, Cancellable
from attnviz.analysis.outcome import Raised, largest_change
from attnviz.analysis.rerun import write_again
from attnviz.implementations.steps import RIGHT, AttentionSteps, SteppedAttention
from attnviz.implementations.weights import SiteWeights
from attnviz.models.protocol import Model
from attnviz.models.translator.generate import decoding_limit
from attnviz.models.translator.translator import Translator
from attnviz.tracing.trace import Trace
from attnviz.transformer.decoding import Stepper, decode
from attnviz.transformer.device import is_out_of_memory
from attnviz.transformer.layers import ForwardContext
from attnviz.transformer.probe import AttentionCall, Probe, Site


@dataclass
class BuggySites(Probe):
    """Probe that makes some attention sites compute with `steps`, and without the head `off`, if given.

    Decoding must run without a cache, because a wrong step may need all of `input_`. Use each probe for one run only,
    and do not share it between threads.
    """

    weights: Mapping[Site, SiteWeights]
    steps: AttentionSteps
    off: int | None = None
    _calls: dict[Site, AttentionCall] = field(default_factory=dict, repr=False)

    def start_at(self, start: int) -> "BuggySites":
        """Return a probe for one decoding step, which must run the whole prefix again."""
        return replace(self, _calls={})

    def on_call(self, site: Site, call: AttentionCall) -> AttentionCall:
        """Remember the attention call."""
        self._calls[site] = call
        return call

    def on_context(self, site: Site, context: Tensor) -> Tensor:
        """Return the wrong context, split into heads so that the model's own merge gives the result of the buggy merge.

        It is computed in float32 on the CPU, like the weights, for every dtype and device of the model. Raise torch's
        error at the wrong step, or ValueError if no context gives the required output.
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


@dataclass(frozen=True)
class BugEffect:
    """Effect of a bug on a model.

    `logits_change` is max |Δ| of the logits on the traced tokens, or of the last layer's output if there are no logits.
    `before` and `after` are the texts written without and with the bug, "" if the model writes none. `cut` is the
    number of tokens after which a text was truncated (0: both ended by themselves).
    """

    logits_change: float
    before: str
    after: str
    cut: int = 0


MOST = 64  # maximum tokens, because with a bug every step runs the whole prefix


@torch.inference_mode()
def bug_in_model(
    model: Model, trace: Trace, steps: AttentionSteps, sites: Mapping[Site, SiteWeights], *, off: int | None = None,
    work: Cancellable = TO_THE_END,
) -> BugEffect | Raised:  # fmt: skip
    """Run the first sentence of `trace` with the bug's `steps` at `sites`, and let the model write with and without
    them.

    A head that is `off` is off in both runs; the run without the bug switches the head off correctly. `work` receives
    the progress of the passes, and caches finished texts.
    """
    written = _write_with_translator if isinstance(model, Translator) else _write_with_checkpoint
    fine, wrong = (None if off is None else BuggySites(sites, RIGHT, off)), BuggySites(sites, steps, off)

    def write(name: str, probe: BuggySites | None) -> tuple[str, int]:
        return work.keep(name, lambda: written(model, trace, probe, work))  # type: ignore[arg-type]

    try:
        before, before_cut = write("without the bug", fine)
        outputs = [_scores_or_output(model.rerun(trace, probe)) for probe in work.iterate((wrong, fine), 2)]
        after, after_cut = write("with the bug", wrong)
        return BugEffect(largest_change(*outputs), before, after, max(before_cut, after_cut))
    except (RuntimeError, TypeError, ValueError) as error:
        if is_out_of_memory(error):
            raise
        return Raised.from_error(error)


def _scores_or_output(trace: Trace) -> Tensor:
    """Return the logits, or the last layer's output if there are none."""
    return trace.logits if trace.logits is not None else trace.layers[max(trace.layers, key=lambda at: at[1])]


def _write_with_checkpoint(model: Model, trace: Trace, probe: BuggySites | None, work: Cancellable) -> tuple[str, int]:
    if not model.writes:
        return "", 0
    first = replace(trace, sentences=trace.sentences[:1])
    found = write_again(model, first, probe, cached=False, work=work)[0]
    return found.text, len(found.tokens) if found.note else 0


@dataclass
class _ProbedStepper:
    stepper: Stepper
    probe: Probe | None
    work: Cancellable
    most: int
    done: int = 0

    def step(self, ids: Tensor) -> Tensor:
        """Run one decoding step with the probe attached. NaN logits choose the first id, as argmax does."""
        logits = self.stepper.step(ids, probe=self.probe)
        self.done += 1
        self.work.tell(self.done, self.most)
        return logits

    def select_rows(self, rows: Tensor) -> None:
        """Select rows of the stepper's batch."""
        self.stepper.select_rows(rows)


def _write_with_translator(model: Translator, trace: Trace, probe: Probe | None, work: Cancellable) -> tuple[str, int]:
    src = torch.tensor([[token.id for token in trace.tokens("src")]], device=model.device)
    memory = model.model.encode(src, None, ForwardContext(probe))
    limit = min(decoding_limit(src.shape[1]), MOST)
    plain = Stepper(model.model, memory, None, capacity=limit, cached=False)
    stepper = _ProbedStepper(plain, probe, work, limit)
    first = torch.full((1,), model.codec.bos_id(trace.to), device=model.device)
    ids = decode(stepper, first, model.vocabulary, max_tokens=limit)[0]
    return model.codec.text(ids), 0 if ids[-1] == model.codec.eos_id else limit


def _invert_output(output: Tensor, weights: SiteWeights) -> Tensor:
    """Return the joined contexts that `W_o` maps to an output. Raise ValueError if there are none."""
    wanted, weight = (output - weights.b_o).double(), weights.W_o.double()
    found = wanted @ torch.linalg.pinv(weight).T
    if not torch.allclose(found @ weight.T, wanted, atol=1e-5):
        raise ValueError(
            "This bug cannot be run in this model, because its W_o cannot produce every output: no "
            "input of W_o gives the output with the head's slice set to zero."
        )
    return found.to(output.dtype)
