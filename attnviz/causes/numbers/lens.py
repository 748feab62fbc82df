"""The logit lens: a model's predictions after each layer (nostalgebraist 2020).

Each layer's output replaces the last layer's output in a run of its own, so that the model itself applies its final
norm and its map to the vocabulary.
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
    """Predictions after the embedding and after each layer, for each row.

    `ids` are the most probable tokens and `probabilities` their probabilities, `(1 + layers, rows, count)`.
    `probability` and `rank` (0 is the most probable) are those of the token that the row outputs, `(1 + layers, rows)`;
    NaN and -1 if a row outputs no token.
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
    """Apply the logit lens to the stack that outputs tokens: a decoder, or an encoder if there is no decoder.

    The last layer is the run's own output. `wanted` maps a row to the token id to ask about instead of the row's output
    token. `work` receives the progress of the passes. Raise ValueError if the trace has no logits or no hidden states.
    """
    stack: Stack = "decoder" if "decoder_self" in model.kinds else "encoder"
    tokens = trace.sentences[0].tgt_out if stack == "decoder" else ()
    rows = 0 if trace.logits is None else trace.logits.shape[1]
    asked = [token.id for token in tokens] or [-1] * rows
    for row, id_ in wanted.items():
        asked[row] = id_
    ids = torch.tensor(asked)
    layers = _iterate_layers(model, trace, stack, work)
    return _join_layers([_read(logits.unsqueeze(0), ids, count) for logits in layers])


@torch.inference_mode()
def lens_logits(model: Model, trace: Trace, stack: Stack) -> Float[Tensor, "layers rows vocab_size"]:
    """Compute the first sentence's logits after the embedding and after each layer of a stack; float32 on the CPU."""
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
    """Apply the logit lens to the encoder of an encoder-decoder model.

    The final norm is the encoder's own, and `weight` is the map to the vocabulary: `ResidualMaps.weight` or the model's
    own. That map was trained for the decoder, so its predictions for the encoder are only an observation. `probability`
    and `rank` are those of the source token itself. `work` receives the progress of the passes.
    """
    layers = sorted(layer for of, layer in trace.layers if of == "encoder")
    if not layers or "cross" not in model.kinds:
        raise ValueError("This needs hidden states from the encoder of an encoder-decoder. This trace has none.")
    ids, found = torch.tensor([token.id for token in trace.sentences[0].src]), []
    for layer in work.part(0, len(layers), "encoder").iterate(layers, len(layers)):
        edit = _replace_last(trace, "encoder", layer, layers[-1])
        memory = model.rerun(trace, Edits(((edit,),))).memory
        assert memory is not None  # an encoder-decoder model has a memory
        found.append(_read((memory[0].float().cpu() @ weight.float().T).unsqueeze(0), ids, count))
    return _join_layers(found)


def _join_layers(layers: Sequence[LogitLens]) -> LogitLens:
    """Concatenate lenses of single layers into one."""
    return LogitLens(*(torch.cat([getattr(one, each.name) for one in layers]) for each in fields(LogitLens)))


def _read(logits: Tensor, wanted: Tensor, count: int) -> LogitLens:
    probabilities = logits.softmax(dim=-1)
    best = probabilities.topk(min(count, probabilities.shape[-1]))
    ids = wanted.clamp(min=0).expand(logits.shape[:2]).unsqueeze(-1)
    own = probabilities.gather(2, ids)
    ranks = (probabilities > own).sum(dim=-1)
    is_none = (wanted < 0).expand(ranks.shape)
    return LogitLens(
        best.indices, best.values, own.squeeze(-1).masked_fill(is_none, torch.nan), ranks.masked_fill(is_none, -1)
    )
