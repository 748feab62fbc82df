"""Run one new row through the decoder: a cached decoding step, written out for speed.

The arithmetic is that of `Decoder.forward` for one position, with the same weights and the same `attend`. A single row
is so little work that looking up weights and calling modules would double its cost. So the weights are looked up once,
when decoding begins, and W_q, W_k and W_v are joined into one product. Dropout, and several new positions at once, are
left to `Decoder`; a test compares both.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from attnviz.transformer.attention import attend
from attnviz.transformer.cache import LayerCache
from attnviz.transformer.layers import Decoder, DecoderLayer, ForwardContext
from attnviz.transformer.masks import add_head_axis
from attnviz.transformer.matvec import ByteMatVec, MatVec, Product
from attnviz.transformer.probe import AttentionCall, Probe, Site

Row = Float[Tensor, "batch 1 d_model"]
Memory = Float[Tensor, "batch k_len d_model"]


class OneTokenDecoder:
    """A decoder for one new row per sentence of the batch, with the current weights.

    `product` multiplies a row with a weight; the one used for drafts rounds the weight.
    """

    def __init__(self, decoder: Decoder, product: Product = MatVec) -> None:
        self.layers = [RowLayer(layer, product) for layer in decoder.layers]  # type: ignore[arg-type]
        self.norm = _norm(decoder.norm)

    def __call__(self, x: Row, memory: Memory, src_mask: Bool[Tensor, "..."] | None, run: ForwardContext) -> Row:
        """Decode the embedded row to its hidden state. Keys and values of earlier rows are in the cache of `run`."""
        assert run.cache is not None  # without a cache, all earlier rows would have to be computed too
        probe, src_mask = run.probe, add_head_axis(src_mask)
        x = x if probe is None else probe.on_layer("decoder", -1, x)
        for index, layer in enumerate(self.layers):
            past = run.cache.self_attention[index], run.cache.cross[index]
            x = layer(x, RowContext(memory, src_mask, *past, probe))
            x = x if probe is None else probe.on_layer("decoder", index, x)
        return self.norm(x)


@dataclass(frozen=True, slots=True)
class RowContext:
    """The inputs of a layer in one decoding step: memory, mask, caches and probe."""

    memory: Tensor
    src_mask: Tensor | None
    before: LayerCache
    projected: LayerCache
    probe: Probe | None


class RowLayer:
    """One decoder layer's weights, prepared for a single row."""

    def __init__(self, layer: DecoderLayer, product: Product) -> None:
        own, cross, feed_forward = layer.self_attention, layer.cross_attention, layer.feed_forward
        self.n_heads, self.d_k, self.scale = own.n_heads, own.d_k, own.scale
        self.sites = Site("decoder_self", layer.layer), Site("cross", layer.layer)
        self.own_in, self.own_out = _join_maps(product, own.W_q, own.W_k, own.W_v), product.from_module(own.W_o)
        self.cross_in, self.cross_out = product.from_module(cross.W_q), product.from_module(cross.W_o)
        self.project_memory = cross.project_memory
        self.wider, self.narrower = product.from_module(feed_forward.W_1), product.from_module(feed_forward.W_2)
        sublayers = layer.self_attention_sublayer, layer.cross_attention_sublayer, layer.feed_forward_sublayer
        self.norms = [_norm(sublayer.norm) for sublayer in sublayers]
        self.norm_first = layer.feed_forward_sublayer.norm_first

    def __call__(self, x: Tensor, seen: RowContext) -> Tensor:
        """Apply self-attention to the earlier rows, cross-attention to the memory, and the feed-forward network.

        Each has its residual connection and norm.
        """
        for norm, sublayer in zip(self.norms, (self._attend, self._attend_memory, self._feed_forward), strict=True):
            x = x + sublayer(norm(x), seen) if self.norm_first else norm(x + sublayer(x, seen))
        return x

    def _attend(self, x: Tensor, seen: RowContext) -> Tensor:
        all_three = self.own_in(x).view(x.shape[0], 1, 3, self.n_heads, self.d_k).permute(2, 0, 3, 1, 4)
        key, value = seen.before.append(all_three[1:])
        call = AttentionCall(all_three[0], key, value, self.scale, input_=x, memory=x)
        return self.own_out(_merge_heads(attend(call, self.sites[0], probe=seen.probe)))

    def _attend_memory(self, x: Tensor, seen: RowContext) -> Tensor:
        query = self.cross_in(x).view(x.shape[0], self.n_heads, 1, self.d_k)
        key, value = self.project_memory(seen.memory, seen.projected)
        call = AttentionCall(query, key, value, self.scale, seen.src_mask, input_=x, memory=seen.memory)
        return self.cross_out(_merge_heads(attend(call, self.sites[1], probe=seen.probe)))

    def _feed_forward(self, x: Tensor, seen: RowContext) -> Tensor:
        return self.narrower(self.wider(x).relu())


def _join_maps(product: Product, *modules: nn.Linear) -> MatVec | ByteMatVec:
    """Join several linear maps of the same input into one, with its weight stored by column as in a loaded
    checkpoint.
    """
    weight = torch.cat([module.weight.t() for module in modules], dim=1).t()
    return product.from_weight(weight, torch.cat([module.bias for module in modules]))


def _norm(module: nn.LayerNorm) -> Callable[[Tensor], Tensor]:
    shape, weight, bias, epsilon = module.normalized_shape, module.weight, module.bias, module.eps
    return lambda x: torch.layer_norm(x, shape, weight, bias, epsilon)


def _merge_heads(context: Tensor) -> Tensor:
    """Concatenate the contexts of all heads; for a single row this needs no transpose."""
    return context.reshape(context.shape[0], 1, -1)
