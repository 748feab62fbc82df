"""The leak test: replace one token of the target, and compare the outputs at the positions before it.

With the causal mask, all earlier outputs are bitwise unchanged. Without it, the output at every position changes.
"""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.analysis.cancellable import TO_THE_END, Cancellable
from attnviz.models.protocol import Model
from attnviz.text.tokens import Token
from attnviz.tracing.interventions import MaskOverride
from attnviz.tracing.record import Sentence
from attnviz.tracing.trace import Trace
from attnviz.transformer import masks


@dataclass(frozen=True, eq=False)
class Leak:
    """Decoder outputs before and after the replacement, `(layers + 1, length, d_model)`; index 0 is the embedding."""

    position: int
    original: Float[Tensor, "layers length d_model"]
    replaced: Float[Tensor, "layers length d_model"]

    @property
    def change(self) -> Float[Tensor, "layers length"]:
        """Maximum |Δ| of the output at every position, by layer."""
        return (self.original - self.replaced).abs().amax(dim=-1)

    @property
    def earlier_unchanged(self) -> bool:
        """Whether all outputs before the replaced token are bitwise unchanged."""
        return torch.equal(self.original[:, : self.position], self.replaced[:, : self.position])


def leak_test(
    model: Model, trace: Trace, position: int, replacement: Token, *, work: Cancellable = TO_THE_END
) -> tuple[Leak, Leak]:
    """Replace the token at `position` in the decoder's input; return the leaks with and without the causal mask.

    `work` receives the progress of the four passes. Raise ValueError for a position that the target does not have.
    """
    length = len(trace.sentences[0].tgt_in)
    if not 0 <= position < length:
        raise ValueError(f"There is no target position {position}: the decoder's input has 0 to {length - 1}.")
    changed = _replace_token(trace, position, replacement)
    cases = [(each, probe) for probe in (None, _no_mask(trace)) for each in (trace, changed)]
    whole = work.part(0, len(cases), "leak test")
    outputs = [_outputs(model.rerun(each, probe)) for each, probe in whole.iterate(cases, len(cases))]
    return Leak(position, *outputs[:2]), Leak(position, *outputs[2:])


def _no_mask(trace: Trace) -> MaskOverride:
    sites = [site for site in trace.calls if site.kind == "decoder_self"]
    return MaskOverride(sites, lambda q_len, k_len: masks.full(q_len, k_len))


def _outputs(trace: Trace) -> Tensor:
    layers = sorted(layer for stack, layer in trace.layers if stack == "decoder")
    return torch.stack([trace.layer_output("decoder", layer) for layer in layers])


def _replace_token(trace: Trace, position: int, token: Token) -> Trace:
    sentence = trace.sentences[0]
    tgt = (*sentence.tgt[:position], token, *sentence.tgt[position + 1 :])
    return replace(trace, sentences=(replace(sentence, tgt=tgt),))


def first_item(trace: Trace) -> Trace:
    """Return a trace reduced to its first sentence, for analyses of a single target."""
    sentence: Sentence = trace.sentences[0]
    return replace(trace, sentences=(sentence,))
