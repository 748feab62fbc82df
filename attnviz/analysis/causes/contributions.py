"""How much of each row comes from which token of the text, layer after layer: rollout and ALTI.

Both mix, in each layer, what a row had with what it reads, and multiply the layers; they differ in the mix. Rollout
(Abnar and Zuidema 2020) takes the mean of the heads' weights and a fixed share for the residual. ALTI (Ferrando et al.
2022) asks how near each token's part lies to what the sublayer makes of all; feed-forward networks are left out of
both. In an encoder-decoder the source is what cross-attention reads (Ferrando et al. 2022b), rolled out in turn.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.analysis.causes.attribution import explained_weights
from attnviz.analysis.causes.residual import ResidualMaps
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Kind, Site, Stack

Mix = Callable[[Kind, int], Tensor]  # of a kind and layer: what each row takes from each key; of cross, itself last


@dataclass(frozen=True, eq=False)
class Contributions:
    """What each row of the last layer has of source tokens `(rows, k_len)` and of its own text's `(rows, rows)`.

    Rows of both together sum to 1 without being normalised. A decoder alone has no source, an encoder nothing else.
    """

    source: Float[Tensor, "rows k_len"]
    target: Float[Tensor, "rows t_len"]


def rollout(trace: Trace, *, residual: float = 0.5, item: int = 0) -> Contributions:
    """Attention rollout; `residual` is the share that each sublayer leaves as it is, 0 to 1.

    What a row gives to no key (none visible, or a sink) stays with itself. Raises ValueError for another share.
    """
    if not 0 <= residual <= 1:
        raise ValueError(f"residual is a share from 0 to 1, not {residual}.")

    def mix(kind: Kind, layer: int) -> Tensor:
        read = (1 - residual) * trace.attn(kind, layer=layer, item=item).double().mean(dim=0)
        stays = 1 - read.sum(dim=1)
        return torch.cat((read, stays.unsqueeze(1)), dim=1) if kind == "cross" else read + stays.diag()

    return _rolled_out(trace, mix)


def alti(maps: ResidualMaps, trace: Trace, *, item: int = 0) -> Contributions:
    """Layer-wise contributions by ALTI, rolled out. `trace` needs hidden states, and `maps` its model's.

    Raises ValueError for a model whose encoder does more than add to its stream.
    """
    if "cross" in trace.kinds and not maps.encoder_adds_up:
        raise ValueError("The layers of this model's encoder normalise what goes through them: ALTI does not fit them.")
    return _rolled_out(trace, lambda kind, layer: _shares_of_layer(maps, trace, kind, layer, item))


def shares(
    parts: Float[Tensor, "*batch parts d_model"], whole: Float[Tensor, "*batch d_model"], *, norm: int = 1
) -> Float[Tensor, "*batch parts"]:
    """How much of `whole` each part is: ‖whole‖ − ‖part − whole‖, or 0 where that is less, of their sum (ALTI, eq. 8).

    All go to the last part where every part leads away from the whole.
    """
    away = (parts - whole.unsqueeze(-2)).norm(p=norm, dim=-1)
    near = (whole.norm(p=norm, dim=-1, keepdim=True) - away).clamp(min=0)
    total = near.sum(dim=-1, keepdim=True)
    last = torch.zeros_like(near)
    last[..., -1] = 1
    return torch.where(total > 0, near / total.where(total > 0, 1), last)


def _rolled_out(trace: Trace, mix: Mix) -> Contributions:
    memory = _encoder(trace, mix)
    if "decoder_self" not in trace.kinds:
        return Contributions(memory.float(), memory.new_zeros(len(memory), 0).float())
    layers = trace.shape("decoder_self")[0]
    rows = trace.call("decoder_self", 0).query.shape[2]
    source = torch.zeros(rows, memory.shape[1], dtype=torch.double)
    target = torch.eye(rows, dtype=torch.double)
    for layer in range(layers):
        own = mix("decoder_self", layer)
        source, target = own @ source, own @ target
        if "cross" in trace.kinds:
            read = mix("cross", layer)
            stays = read[:, -1:]
            source, target = read[:, :-1] @ memory + stays * source, stays * target
    return Contributions(source.float(), target.float())


def _encoder(trace: Trace, mix: Mix) -> Tensor:
    """What each position of the memory has of each source token; nothing without an encoder."""
    if "encoder_self" not in trace.kinds:
        return torch.zeros(0, 0, dtype=torch.double)
    made = torch.eye(trace.call("encoder_self", 0).query.shape[2], dtype=torch.double)
    for layer in range(trace.shape("encoder_self")[0]):
        made = mix("encoder_self", layer) @ made
    return made


def _shares_of_layer(maps: ResidualMaps, trace: Trace, kind: Kind, layer: int, item: int) -> Tensor:
    """ALTI's mix: each row's parts are its keys' values through the heads, and what the row was before."""
    own = maps.of(kind, layer)
    weights = explained_weights(trace, Site(kind, layer), item)
    given = trace.call(kind, layer).value[item].double().cpu() @ own.weight.double()  # (heads, k_len, d_model)
    before = _before(maps, trace, kind, layer, item)
    rows = []
    for row, x in enumerate(before):
        parts = torch.einsum("hj,hjm->jm", weights[:, row], given)
        if kind == "cross":
            parts = torch.cat((parts, x.unsqueeze(0)))
            rows.append(shares(parts, parts.sum(dim=0) + own.bias.double()))
        else:  # the residual belongs to the row's own token
            parts[row] += x
            order = [at for at in range(len(parts)) if at != row] + [row]
            found = shares(parts[order], parts.sum(dim=0) + own.bias.double())
            rows.append(torch.zeros_like(found).index_copy(0, torch.tensor(order), found))
    return torch.stack(rows)


def _before(maps: ResidualMaps, trace: Trace, kind: Kind, layer: int, item: int) -> Tensor:
    """The stream before a sublayer: cross-attention comes after a decoder's own."""
    stack: Stack = "encoder" if kind == "encoder_self" else "decoder"
    stream = trace.layer_output(stack, layer - 1, item).double()
    if kind != "cross":
        return stream
    own = maps.of("decoder_self", layer)
    context = trace.context("decoder_self", layer, item).double()
    return stream + own.of_heads(context.float()).double().sum(dim=0) + own.bias.double()
