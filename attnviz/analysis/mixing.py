"""How one sublayer mixes tokens: the share that each row takes from each key, and the share that the row keeps.

Rollout and ALTI multiply the mixing matrices of all sublayers. Rollout (Abnar and Zuidema 2020) takes the mean of the
heads' weights and a chosen share for the residual; `residual_shares` measures that share. ALTI (Ferrando et al. 2022)
measures how close each token's contribution is to the sublayer's output. Both ignore feed-forward networks.

The contribution of one key through one head is α f(x): the key's value multiplied by `W_o` and by the attention weight
(Kobayashi et al. 2020). `norms` returns its norm, and `shares_of_heads` its share of the sublayer's output by ALTI's
measure.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.analysis.attribution import explained_weights
from attnviz.analysis.output_maps import OutputMap, output_maps
from attnviz.analysis.projections import NotPlain
from attnviz.analysis.residual import ResidualMaps, residual_maps
from attnviz.maps.options import SHARE
from attnviz.models.protocol import Model
from attnviz.tracing.trace import Trace
from attnviz.tracing.trace_like import TraceLike
from attnviz.transformer.probe import Kind, Site, Stack

_FEW = 3  # positions; with fewer, the final norm cannot be identified
_MORE = 1e-3  # allowed excess of a row sum over 1 by rounding, also in half precision
WriterMaps = Mapping[Site, OutputMap] | ResidualMaps


@dataclass(frozen=True, eq=False)
class Mix:
    """How one sublayer mixes the tokens' vectors.

    `read` `(rows, keys)` is the share that each row takes from each key, in float64. The shares of a row and the share
    that it keeps for itself sum to 1.
    """

    kind: Kind
    layer: int
    read: Float[Tensor, "rows keys"]

    @property
    def stack(self) -> Stack:
        """The stack whose rows are mixed."""
        return "encoder" if self.kind == "encoder_self" else "decoder"

    @property
    def kept_share(self) -> Float[Tensor, " rows"]:
        """The share that each row keeps for itself: the rest of 1 after the shares that it takes from keys."""
        return 1 - self.read.sum(dim=1)

    @property
    def weights_with_self(self) -> Float[Tensor, "rows keys"]:
        """For self-attention: the share that each row takes from each row, including itself; rows sum to 1."""
        return self.read + self.kept_share.diag()

    def set_residual(self, residual: float) -> "Mix":
        """Return a mix in which each row keeps the share `residual` and takes the rest from the keys."""
        return Mix(self.kind, self.layer, (1 - residual) * self.read)


def attention_mixes(trace: TraceLike, *, item: int = 0) -> tuple[Mix, ...]:
    """Average the heads' weights in each sublayer, in the order of computation: encoder, then decoder.

    Raise ValueError for weights that are not shares, and if sublayers are missing in between.
    """
    found = tuple(
        Mix(kind, layer, trace.attn(kind, layer=layer, item=item).double().mean(dim=0))
        for kind, layer in sublayers(trace)
    )
    for mix in found:
        if float(mix.read.min()) < 0 or float(mix.read.sum(dim=1).max()) > 1 + _MORE:
            raise ValueError(
                f"The rows of {mix.kind}, layer {mix.layer}, are not shares. All numbers in a row must "
                "be 0 or more, and each row must sum to 1."
            )
    return found


def alti_mixes(maps: ResidualMaps, trace: Trace, *, item: int = 0) -> tuple[Mix, ...]:
    """Compute ALTI's mix of each sublayer.

    `trace` needs hidden states, and `maps` must be its model's. Raise ValueError for a model whose encoder does more
    than add to its residual stream, and as `attention_mixes` does.
    """
    if "cross" in trace.kinds and not maps.encoder_adds_up:
        raise ValueError(
            "ALTI cannot be computed for this model, because the layers of its encoder normalise the "
            "residual stream itself."
        )
    return tuple(Mix(*site, _shares_of_layer(maps, trace, *site, item)) for site in sublayers(trace))


def sublayers(trace: TraceLike) -> tuple[tuple[Kind, int], ...]:
    """Return kind and layer of each sublayer, in the order of computation.

    Raise ValueError if the sublayers cannot be chained.
    """
    layers = {kind: trace.shape(kind)[0] for kind in trace.kinds}
    encoder: tuple[tuple[Kind, int], ...] = tuple(
        ("encoder_self", layer) for layer in range(layers.get("encoder_self", 0))
    )
    if "decoder_self" not in layers:
        if "cross" in layers:
            raise ValueError(
                "Flow needs both the cross-attention and the self-attention of the decoder, but the "
                "self-attention is missing."
            )
        return encoder
    decoder = layers["decoder_self"]
    if layers.get("cross", decoder) != decoder:
        raise ValueError(
            f"The model has {layers['cross']} layers of cross-attention, but {decoder} layers in its "
            "decoder, so they cannot be matched."
        )
    kinds: tuple[Kind, ...] = ("decoder_self", "cross") if "cross" in layers else ("decoder_self",)
    return (*encoder, *((kind, layer) for layer in range(decoder) for kind in kinds))


def residual_shares(maps: ResidualMaps, trace: Trace, *, item: int = 0) -> Mapping[Site, float]:
    """Measure how much of each sublayer's output a row already had before the sublayer: a share from 0 to 1, mean over
    rows.

    This is 1 minus the mixing ratio of Kobayashi et al. 2021 before the norm: the size of a row's own part (the
    residual and what it reads from itself) compared with the sum of what it reads from other rows.
    """
    return {Site(*site): _residual_share(maps, trace, *site, item) for site in sublayers(trace)}


def mean_residual(maps: ResidualMaps, trace: Trace, *, item: int = 0) -> float:
    """Return the mean of `residual_shares` over all sublayers; rollout assumes ½ for it."""
    found = residual_shares(maps, trace, item=item).values()
    return sum(found) / len(found)


def _residual_share(maps: ResidualMaps, trace: Trace, kind: Kind, layer: int, item: int) -> float:
    own = maps.output(kind, layer)
    read = own.head_outputs(trace.context(kind, layer, item)).double().sum(dim=0)
    kept = stream_before(maps, trace, kind, layer, item)
    if kind != "cross":
        weights = explained_weights(trace, Site(kind, layer), item).diagonal(dim1=1, dim2=2)
        value = trace.call(kind, layer).value[item].cpu().double()
        itself = torch.einsum("hr,hrd,hdm->rm", weights, value, own.weight.double())
        read, kept = read - itself, kept + itself
    sizes = kept.norm(dim=-1), read.norm(dim=-1)
    return float((sizes[0] / (sizes[0] + sizes[1])).mean())


def shares(
    parts: Float[Tensor, "*batch parts d_model"], whole: Float[Tensor, "*batch d_model"], *, norm: int = 1
) -> Float[Tensor, "*batch parts"]:
    """Compute each part's share of `whole` by ALTI (eq. 8): max(0, ‖whole‖ − ‖part − whole‖), normalised to sum to 1.

    If every part points away from the whole, the last part gets all.
    """
    away = (parts - whole.unsqueeze(-2)).norm(p=norm, dim=-1)
    near = (whole.norm(p=norm, dim=-1, keepdim=True) - away).clamp(min=0)
    total = near.sum(dim=-1, keepdim=True)
    last = torch.zeros_like(near)
    last[..., -1] = 1
    return torch.where(total > 0, near / total.where(total > 0, 1), last)


def _shares_of_layer(maps: ResidualMaps, trace: Trace, kind: Kind, layer: int, item: int) -> Tensor:
    """Compute ALTI's shares in a layer: a row's parts are its keys' values through the heads, and its residual."""
    own = maps.output(kind, layer)
    weights = explained_weights(trace, Site(kind, layer), item)
    given = trace.call(kind, layer).value[item].cpu().double() @ own.weight.double()  # (heads, k_len, d_model)
    before = stream_before(maps, trace, kind, layer, item)
    rows = []
    for row, x in enumerate(before):
        parts = torch.einsum("hj,hjm->jm", weights[:, row], given)
        if kind == "cross":
            parts = torch.cat((parts, x.unsqueeze(0)))
            rows.append(shares(parts, parts.sum(dim=0) + own.bias.double())[:-1])
        else:  # the residual belongs to the row's own token
            parts[row] += x
            order = [at for at in range(len(parts)) if at != row] + [row]
            found = shares(parts[order], parts.sum(dim=0) + own.bias.double())
            rows.append(torch.zeros_like(found).index_copy(0, torch.tensor(order), found))
    return torch.stack(rows)


def stream_before(maps: ResidualMaps, trace: Trace, kind: Kind, layer: int, item: int) -> Tensor:
    """Return the residual stream before a sublayer; in a decoder, cross-attention follows self-attention."""
    stack: Stack = "encoder" if kind == "encoder_self" else "decoder"
    stream = trace.layer_output(stack, layer - 1, item).double()
    if kind != "cross":
        return stream
    own = maps.output("decoder_self", layer)
    context = trace.context("decoder_self", layer, item).double()
    return stream + own.head_outputs(context.float()).double().sum(dim=0) + own.bias.double()


def norms(own: OutputMap, trace: Trace, site: Site, *, item: int = 0) -> Float[Tensor, "heads q_len k_len"]:
    """Compute ‖α f(x)‖, the norm of what each head writes from each key, in float32 for every cell of a site's maps.

    `own` is `W_o` of the site. Rows whose context an intervention replaced are 0.
    """
    size = _key_outputs(own, trace, site, item).norm(dim=-1)
    return (explained_weights(trace, site, item).abs() * size.unsqueeze(1)).float()


def shares_of_heads(
    maps: ResidualMaps, trace: Trace, site: Site, *, item: int = 0
) -> Float[Tensor, "heads q_len k_len"]:
    """Compute the share of the sublayer's output that each head writes from each key, in float32.

    With the share of the residual, all heads' cells in a row sum to 1. `trace` needs hidden states, and `maps` must be
    its model's.
    """
    own = maps.output(site.kind, site.layer)
    given, weights = _key_outputs(own, trace, site, item), explained_weights(trace, site, item)
    rows = []  # one at a time: each part is a whole vector
    for row, before in enumerate(stream_before(maps, trace, site.kind, site.layer, item)):
        parts = (weights[:, row].unsqueeze(-1) * given).flatten(0, 1)
        whole = parts.sum(dim=0) + before + own.bias.double()
        rows.append(shares(torch.cat((parts, before.unsqueeze(0))), whole)[:-1].reshape(weights.shape[0], -1))
    return torch.stack(rows, dim=1).float()


def _key_outputs(own: OutputMap, trace: Trace, site: Site, item: int) -> Float[Tensor, "heads k_len d_model"]:
    """Compute f(x): what each head would write from each key at a weight of 1, in float64."""
    return trace.call(site.kind, site.layer).value[item].cpu().double() @ own.weight.double()


def known_maps(
    measure: str, model: Model, trace: Trace, cached: Callable[[str, tuple[Any, ...], Callable[[], Any]], Any]
) -> WriterMaps | NotPlain:
    """Find the linear maps that a measure needs, once per model, or the reason why they are unknown."""
    length = min(len(sentence.queries(trace.kinds[-1])) for sentence in trace.sentences)
    about = model.model_id, measure, "" if length > _FEW else repr(trace.sentences)
    return cached("W_o", about, lambda: _required_maps(measure, model, trace))


def _required_maps(measure: str, model: Model, trace: Trace) -> WriterMaps | NotPlain:
    """Find the linear maps that a measure needs: `W_o` of every site; for shares also those of the residual stream."""
    if measure == SHARE:
        found = residual_maps(model, trace)
        if isinstance(found, NotPlain):
            return found
        if "cross" in model.kinds and not found.encoder_adds_up:
            return NotPlain("its encoder's layers normalise what passes through them")
        # Drop the vocabulary map, which takes most memory.
        return replace(found, weight=found.weight[:0], bias=found.bias[:0])
    outputs = output_maps(model, trace)
    lacking = next((found for found in outputs.values() if isinstance(found, NotPlain)), None)
    return lacking or outputs  # type: ignore[return-value]  # none of them is NotPlain
