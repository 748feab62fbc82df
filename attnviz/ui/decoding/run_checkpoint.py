"""The Decoding page's run of somebody else's checkpoint: its own stepping, on transformers' cache, against one pass."""

from dataclasses import replace

import torch

from attnviz.analysis.decoding.comparison import Decoded, compared, token_text
from attnviz.analysis.decoding.loss_table import loss_table
from attnviz.analysis.decoding.next_tokens import next_tokens
from attnviz.models.decoding_record import DecodingRecord, decoding_record
from attnviz.tracing.trace import Trace
from attnviz.transformer.decoding import Choose, Sampling, likeliest
from attnviz.ui.cache import traces
from attnviz.ui.decoding.state import DecodingState
from attnviz.ui.request import Request

NO_WRITER = (
    "This model writes no text: an encoder reads a sentence all at once, and without a head over the vocabulary "
    "nothing comes out. There is no decoding to follow; Heads and Masks show its attention."
)
_NO_PADDING = -1  # no token has this id: a checkpoint may end its texts with the id that it pads with


def decoded(request: Request, view: DecodingState) -> Decoded:
    """Training, steps and verdict of a checkpoint. Raises ValueError with one sentence for one that does not write."""
    model, trace, choose = traces.model(request.entry.name), traces.trace(request), _choose(request, view)
    if not model.writes:
        raise ValueError(NO_WRITER)
    made = decoding_record(_steps(request, trace, view, choose))
    taught = tuple(token.id for token in trace.tokens("tgt"))
    chosen = tuple(token.id for token in made.chosen)
    losses = loss_table(
        model.rerun(trace), pad_id=_NO_PADDING, smoothing=view.smoothing, name=lambda id_: token_text(model, id_)
    )
    candidates = next_tokens(
        made.logits,
        model.vocabulary,
        sampling=choose if isinstance(choose, Sampling) else None,
        with_ids=lambda step: (chosen[step], *taught[step + 1 : step + 2]),
    )
    stepped_through = _stepped_through(trace, made)
    return compared(losses, made, candidates, lambda probe: model.rerun(stepped_through, probe))


def _steps(request: Request, trace: Trace, view: DecodingState, choose: Choose):
    """Step by step: a prompt is fed and continued, a target is written; or all that training read is fed."""
    model = traces.model(request.entry.name)
    how = {"cached": view.way != "recomputed", "choose": choose}
    if view.way == "teacher":
        how["tgt_in"] = tuple(token.id for token in trace.sentences[0].tgt_in)
    elif not model.inputs.takes_target:
        how["new_tokens"] = max(1, request.new)
    return model.stepwise(request.src, **how)


def _stepped_through(trace: Trace, made: DecodingRecord) -> Trace:
    """The trace with the tokens that were stepped through in the place of its own."""
    sentence = replace(trace.sentences[0], tgt=(*made.fed, made.chosen[-1]), cut=False)
    return replace(trace, sentences=(sentence,))


def _choose(request: Request, view: DecodingState) -> Choose:

    if view.choose != "sampled":
        return likeliest
    generator = torch.Generator(traces.model(request.entry.name).device).manual_seed(view.seed)
    return Sampling(generator, view.temperature, view.top_k or None, view.top_p if view.top_p < 1 else None)
