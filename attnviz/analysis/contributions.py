"""Contribution of each token to each row through all layers: attention rollout and ALTI.

Both multiply the mixing matrices of the sublayers (`mixing.py`), and differ in how these are computed. In an
encoder-decoder model, the encoder output that cross-attention reads is traced back to the source in the same way
(Ferrando et al. 2022b).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.analysis.mixing import Mix, alti_mixes, attention_mixes
from attnviz.analysis.residual import ResidualMaps
from attnviz.tracing.trace import Trace
from attnviz.tracing.trace_like import TraceLike


@dataclass(frozen=True, eq=False)
class Contributions:
    """Contribution of each source token `(rows, k_len)` and each target token `(rows, rows)` to each row of the
    last layer.

    Both together sum to 1 in each row without normalisation. A decoder-only model has no source, and an encoder no
    target.
    """

    source: Float[Tensor, "rows k_len"]
    target: Float[Tensor, "rows t_len"]


def rollout(trace: TraceLike, *, residual: float = 0.5, item: int = 0) -> Contributions:
    """Compute attention rollout.

    `residual` is the share that each sublayer passes on unchanged, 0 to 1. Weight that a row gives to no key (because
    none is visible, or because of a sink) stays with the row. Raise ValueError for another `residual`, and for weights
    that cannot be chained through a model.
    """
    if not 0 <= residual <= 1:
        raise ValueError(f"residual must be a share from 0 to 1, not {residual}.")
    return multiply_mixes([mix.set_residual(residual) for mix in attention_mixes(trace, item=item)])


def alti(maps: ResidualMaps, trace: Trace, *, item: int = 0) -> Contributions:
    """Compute ALTI's layer-wise contributions, rolled out.

    `trace` needs hidden states, and `maps` must be its model's. Raise ValueError for a model whose encoder does more
    than add to its residual stream.
    """
    return multiply_mixes(alti_mixes(maps, trace, item=item))


def multiply_mixes(mixes: Sequence[Mix]) -> Contributions:
    """Multiply the mixing matrices of the sublayers, from the embeddings to the last layer."""
    memory, decoder = _encoder(mixes), [mix for mix in mixes if mix.kind != "encoder_self"]
    if not decoder:
        return Contributions(memory.float(), memory.new_zeros(len(memory), 0).float())
    rows = len(decoder[0].read)
    source = torch.zeros(rows, memory.shape[1], dtype=torch.double)
    target = torch.eye(rows, dtype=torch.double)
    for mix in decoder:
        if mix.kind == "cross":
            kept = mix.kept_share.unsqueeze(1)
            source, target = mix.read @ memory + kept * source, kept * target
        else:
            source, target = mix.weights_with_self @ source, mix.weights_with_self @ target
    return Contributions(source.float(), target.float())


def _encoder(mixes: Sequence[Mix]) -> Tensor:
    """Return the contribution of each source token to each position of the encoder's output; the identity if no
    encoder layer is known.
    """
    length = next((mix.read.shape[1] for mix in mixes if mix.kind != "decoder_self"), 0)
    made = torch.eye(length, dtype=torch.double)
    for mix in mixes:
        if mix.kind == "encoder_self":
            made = mix.weights_with_self @ made
    return made
