"""Contributions of each token to each row, layer after layer: rollout and ALTI.

Both multiply what each sublayer mixes (`flow/mixing.py`); they differ in the mix. In an encoder-decoder the source is
what cross-attention reads (Ferrando et al. 2022b), rolled out in turn.
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
    """The share of source tokens in each row of the last layer `(rows, k_len)`, and of its own text's `(rows, rows)`.

    Rows of both together sum to 1 without being normalised. A decoder alone has no source, an encoder nothing else.
    """

    source: Float[Tensor, "rows k_len"]
    target: Float[Tensor, "rows t_len"]


def rollout(trace: TraceLike, *, residual: float = 0.5, item: int = 0) -> Contributions:
    """Attention rollout; `residual` is the share that each sublayer leaves as it is, 0 to 1.

    What a row gives to no key (none visible, or a sink) stays with itself. Raises ValueError for another share, and for
    weights that are no way through a model.
    """
    if not 0 <= residual <= 1:
        raise ValueError(f"residual is a share from 0 to 1, not {residual}.")
    return multiply_mixes([mix.set_residual(residual) for mix in attention_mixes(trace, item=item)])


def alti(maps: ResidualMaps, trace: Trace, *, item: int = 0) -> Contributions:
    """Layer-wise contributions by ALTI, rolled out. `trace` needs hidden states, and `maps` its model's.

    Raises ValueError for a model whose encoder does more than add to its stream.
    """
    return multiply_mixes(alti_mixes(maps, trace, item=item))


def multiply_mixes(mixes: Sequence[Mix]) -> Contributions:
    """Multiply the mixes of sublayers, from the embeddings to the last layer."""
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
    """Return the share of each source token in each position that the decoder reads, or else in the encoder's last
    layer.

    The identity where no layer of an encoder is known.
    """
    length = next((mix.read.shape[1] for mix in mixes if mix.kind != "decoder_self"), 0)
    made = torch.eye(length, dtype=torch.double)
    for mix in mixes:
        if mix.kind == "encoder_self":
            made = mix.weights_with_self @ made
    return made
