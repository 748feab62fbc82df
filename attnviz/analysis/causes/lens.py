"""What a model would say after each layer: the logit lens (nostalgebraist 2020), its last norm computed anew for each.

A layer's output is put in the place of the last one's, in a run of its own, so that norm and vocabulary are the model's
own and nothing need be known of them.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attnviz.models.protocol import Model
from attnviz.tracing.causes.edits import Edit, Edits
from attnviz.tracing.causes.in_force import InForce
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Stack


@dataclass(frozen=True, eq=False)
class LogitLens:
    """After each layer, the embedding first, and for each row: the likeliest ids `ids` and their probabilities, both
    `(1 + layers, rows, count)`, and of the id that the row puts out its `probability` and `rank` (0 the likeliest)
    `(1 + layers, rows)`; NaN and -1 where a row puts out nothing.
    """

    ids: Int[Tensor, "layers rows count"]
    probabilities: Float[Tensor, "layers rows count"]
    probability: Float[Tensor, "layers rows"]
    rank: Int[Tensor, "layers rows"]


@torch.inference_mode()
def logit_lens(model: Model, trace: Trace, *, count: int = 5) -> LogitLens:
    """Of the stack that puts tokens out: a decoder, or an encoder that has no decoder. The last layer is the run's own.

    Raises ValueError for a trace without logits or hidden states.
    """
    stack: Stack = "decoder" if "decoder_self" in model.kinds else "encoder"
    logits = lens_logits(model, trace, stack)
    sentence = trace.sentences[0]
    tokens = sentence.tgt_out if stack == "decoder" else ()
    wanted = torch.tensor([token.id for token in tokens] or [-1] * logits.shape[1])
    return _read(logits, wanted, count)


@torch.inference_mode()
def lens_logits(model: Model, trace: Trace, stack: Stack) -> Float[Tensor, "layers rows vocab_size"]:
    """The logits after each layer of a stack for the first sentence, the embedding first; float32 on the CPU."""
    if trace.logits is None:
        raise ValueError("This trace was recorded without logits: there is no vocabulary to look through.")
    layers = sorted(layer for of, layer in trace.layers if of == stack)
    if not layers:
        raise ValueError("This trace was recorded without hidden states.")
    before = InForce.of(trace.interventions, model.shapes, model.model_id).bound(trace.sentences[:1]).edits
    done = () if before is None else before.rows[0]
    rows = [(*done, _in_place_of_the_last(trace, stack, layer, layers[-1])) for layer in layers[:-1]]
    own = trace.logits[0].float().cpu()
    found = [model.answers(trace, Edits((row,)))[0].float().cpu() for row in rows]
    return torch.stack([*found, own])


def _in_place_of_the_last(trace: Trace, stack: Stack, layer: int, last: int) -> Edit:
    output = trace.layer_output(stack, layer)
    return Edit((stack, last), "layer", "values", positions=tuple(range(len(output))), put=output)


@torch.inference_mode()
def encoder_lens(
    model: Model, trace: Trace, weight: Float[Tensor, "vocab_size d_model"], *, count: int = 5
) -> LogitLens:
    """Of the encoder of an encoder-decoder, through its own last norm and the map `weight` to the vocabulary.

    The map is trained for the decoder: what it says of an encoder's states is a measurement, and no claim. `weight` is
    `ResidualMaps.weight`, or the model's own. `probability` and `rank` are those of the source token itself.
    """
    layers = sorted(layer for of, layer in trace.layers if of == "encoder")
    if not layers or "cross" not in model.kinds:
        raise ValueError("This trace has no hidden states of an encoder beside a decoder.")
    memories = []
    for layer in layers:
        edit = _in_place_of_the_last(trace, "encoder", layer, layers[-1])
        memory = model.rerun(trace, Edits(((edit,),))).memory
        assert memory is not None  # an encoder-decoder has one
        memories.append(memory[0].float().cpu())
    logits = torch.stack(memories) @ weight.float().T
    return _read(logits, torch.tensor([token.id for token in trace.sentences[0].src]), count)


def _read(logits: Tensor, wanted: Tensor, count: int) -> LogitLens:
    probabilities = logits.softmax(dim=-1)
    best = probabilities.topk(count)
    ids = wanted.clamp(min=0).expand(logits.shape[:2]).unsqueeze(-1)
    own = probabilities.gather(2, ids)
    ranks = (probabilities > own).sum(dim=-1)
    is_none = (wanted < 0).expand(ranks.shape)
    return LogitLens(
        best.indices, best.values, own.squeeze(-1).masked_fill(is_none, torch.nan), ranks.masked_fill(is_none, -1)
    )
