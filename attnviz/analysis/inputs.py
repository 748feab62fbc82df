"""One attention site of a run, prepared for recomputation: its weights, input and mask."""

import torch
from torch import Tensor

from attnviz.analysis.projections import fits
from attnviz.implementations.site_inputs import SiteInputs
from attnviz.implementations.steps import split
from attnviz.implementations.weights import SiteWeights
from attnviz.models.translator.translator import Translator
from attnviz.tracing.trace import Trace
from attnviz.transformer.attention import MultiHeadAttention
from attnviz.transformer.probe import Kind, Site, visible_cells


def site_module(model: Translator, site: Site) -> MultiHeadAttention:
    """Return the attention module at a site."""
    stack = model.model.encoder if site.kind == "encoder_self" else model.model.decoder
    layer = stack.layers[site.layer]
    return layer.cross_attention if site.kind == "cross" else layer.self_attention  # type: ignore[return-value]


def site_inputs(model: Translator, trace: Trace, kind: Kind, layer: int) -> SiteInputs:
    """Return a site's weights, input, memory and mask, in float32 on the CPU.

    Raise ValueError for a site that the trace does not have, or that was recorded without its input.
    """
    call = trace.call(kind, layer)
    weights = _float(SiteWeights.from_module(site_module(model, Site(kind, layer))))
    if call.input_ is None or call.memory is None:
        raise ValueError(
            "This trace does not contain the inputs of its layers (input_ and memory), so this site "
            "cannot be computed step by step."
        )
    input_ = call.input_.float().cpu()
    memory = input_ if call.memory is call.input_ else call.memory.float().cpu()
    mask = None if call.mask is None else _drop_head_axis(call.mask)
    return SiteInputs(weights, input_, memory, mask, norm_first=model.model.config.norm_first)


def observed_inputs(weights: SiteWeights, trace: Trace, kind: Kind, layer: int) -> SiteInputs:
    """Return a site's input, memory and mask together with projections that `site.projections` found.

    Raise ValueError if the projections do not reproduce the queries, keys and values of this run.
    """
    call = trace.call(kind, layer)
    weights = weights.replace_bias(call.bias)
    if call.input_ is None or call.memory is None or not fits(weights, call, trace.info.device):
        raise ValueError(f"The projections found for layer {layer} do not give this run's queries, keys and values.")
    input_ = call.input_.float().cpu()
    memory = input_ if call.memory is call.input_ else call.memory.float().cpu()
    mask = None if call.mask is None else _narrow(_drop_head_axis(visible_cells(call)))
    return SiteInputs(weights, input_, memory, mask, norm_first=_is_normalised(trace, kind, layer))


def _narrow(mask: Tensor) -> Tensor | None:
    """Reduce a mask `(batch, q_len, k_len)`: None if it hides nothing, and a single row if all rows are equal."""
    if bool(mask.all()):
        return None
    same = bool((mask == mask[:, :1]).all())
    return (mask[:, :1] if same else mask).clone(memory_format=torch.contiguous_format)


def _is_normalised(trace: Trace, kind: Kind, layer: int) -> bool:
    """Return whether a norm changes the layer's input before attention.

    For cross-attention, the layer's self-attention decides.
    """
    stack = "encoder" if kind == "encoder_self" else "decoder"
    own = trace.call("decoder_self" if kind == "cross" else kind, layer).input_
    handed = trace.layers.get((stack, layer - 1))
    return own is None or handed is None or not torch.equal(own, handed)


def _drop_head_axis(mask: Tensor) -> Tensor:
    return mask[:, 0].cpu()


def _float(weights: SiteWeights) -> SiteWeights:
    return weights.replace_parts(part.float().cpu() for pair in weights.pairs for part in pair)


def query_key_value(inputs: SiteInputs) -> tuple[Tensor, Tensor, Tensor]:
    """Return a site's query, key and value `(batch, heads, length, d_k)`, after any norm or rotation."""
    weights = inputs.weights
    sizes = (weights.d_k, weights.d_k, weights.d_v)
    query, key, value = (
        split(x @ weight.T + bias, weights.n_heads, size)
        for x, (weight, bias), size in zip(
            (inputs.input_, inputs.memory, inputs.memory), weights.pairs[:3], sizes, strict=True
        )
    )
    return (*weights.scoring.transform(query, key), value)
