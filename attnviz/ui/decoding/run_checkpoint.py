"""Decoding with somebody else's checkpoint: its own stepping, on transformers' cache, against one pass."""

from collections.abc import Iterator
from dataclasses import replace

import torch

from attnviz.analysis.decoding.comparison import Decoding
from attnviz.models.decoding_record import DecodingRecord
from attnviz.models.protocol import Model, Step
from attnviz.tracing.trace import Trace
from attnviz.transformer.decoding import Choose, Sampling, likeliest
from attnviz.ui.decoding.state import DecodingState
from attnviz.ui.request import Request

NO_WRITER = "This model writes no text, so there is no decoding to follow. Heads and Masks show its attention."


def decoding(model: Model, request: Request, trace: Trace, view: DecodingState) -> Decoding:
    """Its steps and passes. Raises ValueError with one sentence for a model that does not write.

    No token counts as padding: a checkpoint may end its texts with the id that it pads with.
    """
    if not model.writes:
        raise ValueError(NO_WRITER)
    choose = _choose(model, view)
    return Decoding(
        model,
        _steps(model, request, trace, view, choose),
        model.rerun(trace),
        one_pass=lambda made: lambda probe: model.rerun(_stepped_through(trace, made), probe),
        sampling=choose if isinstance(choose, Sampling) else None,
        smoothing=view.smoothing,
    )


def _steps(model: Model, request: Request, trace: Trace, view: DecodingState, choose: Choose) -> Iterator[Step]:
    """Step by step: a prompt is fed and continued, a target is written; or all that training read is fed."""
    how = {"cached": view.way != "recomputed", "choose": choose, "interventions": trace.interventions}
    if view.way == "teacher":
        how["tgt_in"] = tuple(token.id for token in trace.sentences[0].tgt_in)
    elif not model.inputs.takes_target:
        how["new_tokens"] = max(1, request.new)
    if request.to:
        how["to"] = request.to
    return model.stepwise(request.src, **how)


def _stepped_through(trace: Trace, made: DecodingRecord) -> Trace:
    """The trace with the tokens that were stepped through in the place of its own."""
    sentence = replace(trace.sentences[0], tgt=(*made.fed, made.chosen[-1]), cut=False)
    return replace(trace, sentences=(sentence,))


def _choose(model: Model, view: DecodingState) -> Choose:

    if view.choose != "sampled":
        return likeliest
    generator = torch.Generator(model.device).manual_seed(view.seed)
    return Sampling(generator, view.temperature, view.top_k or None, view.top_p if view.top_p < 1 else None)
