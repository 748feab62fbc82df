"""The logit lens: a model's output after each layer (nostalgebraist 2020), its last norm computed anew for each.

A layer's output is put in the place of the last one's, in a run of its own, so that norm and vocabulary are the model's
own and nothing need be known of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attnviz.analysis.cancellable import TO_THE_END, Cancellable
from attnviz.models.protocol import Model
from attnviz.tracing.causes.edits import Edit, Edits
from attnviz.tracing.causes.resolution import CheckedInterventions
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
def logit_lens(
    model: Model, trace: Trace, *, count: int = 5, wanted: Mapping[int, int] = MappingProxyType({}),
    work: Cancellable = TO_THE_END,
) -> LogitLens:  # fmt: skip
    """Of the stack that puts tokens out: a decoder, or an encoder that has no decoder. The last layer is the run's own.

    `wanted` gives the id to ask about in rows where it is not the id that comes out. `work` is told of each pass.
    Raises ValueError for a trace without logits or hidden states.
    """
    stack: Stack = "decoder" if "decoder_self" in model.kinds else "encoder"
    sentence = trace.sentences[0]
    tokens = sentence.tgt_out if stack == "decoder" else ()
    asked = [token.id for token in tokens] or [-1] * len(sentence.src or sentence.tgt)
    for row, id_ in wanted.items():
        asked[row] = id_
    ids = torch.tensor(asked)
    layers = _iterate_layers(model, trace, stack, work)
    return _join_layers([_read(logits.unsqueeze(0), ids, count) for logits in layers])


@torch.inference_mode()
def lens_logits(model: Model, trace: Trace, stack: Stack) -> Float[Tensor, "layers rows vocab_size"]:
    """Compute the logits after each layer of a stack for the first sentence, the embedding first; float32, CPU."""
    return torch.stack(list(_iterate_layers(model, trace, stack)))


def _iterate_layers(
    model: Model, trace: Trace, stack: Stack, work: Cancellable = TO_THE_END
) -> Iterator[Float[Tensor, "rows vocab_size"]]:
    """Yield logits layer by layer, to bound memory."""
    if trace.logits is None:
        raise ValueError("This trace was recorded without logits, which the logit lens needs.")
    layers = sorted(layer for of, layer in trace.layers if of == stack)
    if not layers:
        raise ValueError("This trace was recorded without hidden states.")
    before = (
        CheckedInterventions.check(trace.interventions, model.shapes, model.model_id).resolve(trace.sentences[:1]).edits
    )
    done = () if before is None else before.rows[0]
    rows = [(*done, _replace_last(trace, stack, layer, layers[-1])) for layer in layers[:-1]]
    for row in work.part(0, len(rows), stack).iterate(rows, len(rows)):
        yield model.logits_under(trace, Edits((row,)))[0].float().cpu()
    yield trace.logits[0].float().cpu()


def _replace_last(trace: Trace, stack: Stack, layer: int, last: int) -> Edit:
    output = trace.layer_output(stack, layer)
    return Edit((stack, last), "layer", "values", positions=tuple(range(len(output))), put=output)


@torch.inference_mode()
def encoder_lens(
    model: Model, trace: Trace, weight: Float[Tensor, "vocab_size d_model"], *, count: int = 5,
    work: Cancellable = TO_THE_END,
) -> LogitLens:  # fmt: skip
    """Apply the lens to the encoder of an encoder-decoder, through its own last norm and the map `weight` to the
    vocabulary.

    The map is trained for the decoder: what it says of an encoder's states is a measurement, and no claim. `weight` is
    `ResidualMaps.weight`, or the model's own. `probability` and `rank` are those of the source token itself. `work` is
    told of each pass.
    """
    layers = sorted(layer for of, layer in trace.layers if of == "encoder")
    if not layers or "cross" not in model.kinds:
        raise ValueError("This trace has no hidden states of an encoder beside a decoder.")
    ids, found = torch.tensor([token.id for token in trace.sentences[0].src]), []
    for layer in work.part(0, len(layers), "encoder").iterate(layers, len(layers)):
        edit = _replace_last(trace, "encoder", layer, layers[-1])
        memory = model.rerun(trace, Edits(((edit,),))).memory
        assert memory is not None  # an encoder-decoder has one
        found.append(_read((memory[0].float().cpu() @ weight.float().T).unsqueeze(0), ids, count))
    return _join_layers(found)


def _join_layers(layers: Sequence[LogitLens]) -> LogitLens:
    """Layers that were read one by one."""
    return LogitLens(*(torch.cat([getattr(one, each.name) for one in layers]) for each in fields(LogitLens)))


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
