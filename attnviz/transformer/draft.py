"""A draft of what a decoder writes, by the same decoder with every weight rounded to a byte: in a third of the time.

A step of decoding waits for the weights to come from memory, and bytes are a quarter of them. What comes of rounded
weights is a guess, and needs checking: one pass over the whole guess does that, because its rows do not wait for each
other (speculative decoding: Leviathan et al. 2023; for greedy choices, Stern et al. 2018).
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attnviz.transformer.attention import MultiHeadAttention
from attnviz.transformer.decoding import Vocabulary
from attnviz.transformer.layers import DecoderLayer
from attnviz.transformer.transformer import Memory, Transformer

_WORTH_IT = 1 << 20  # numbers in a decoder: a smaller one is in the processor's cache, and its steps do not wait


@dataclass(frozen=True, slots=True, eq=False)
class ByteMatVec:
    """`x @ weight^T + bias` of a single row, nearly: each column of the weight is 256 levels between its extremes.

    The sum of columns of `MatVec`, over bytes.
    """

    columns: Tensor
    bias: Float[Tensor, " out"] | None
    every_column: Tensor
    first: Tensor

    @classmethod
    def of(cls, weight: Float[Tensor, "out in"], bias: Float[Tensor, " out"] | None = None) -> "ByteMatVec":
        """The product with a rounded copy of a weight."""
        columns = torch.ops.quantized.embedding_bag_byte_prepack(weight.t().contiguous())
        return cls(columns, bias, torch.arange(weight.shape[1]), torch.zeros(1, dtype=torch.long))

    @classmethod
    def like(cls, module: nn.Linear) -> "ByteMatVec":
        """What the module computes, with the weights that it has now, rounded."""
        return cls.of(module.weight, module.bias)

    def __call__(self, x: Float[Tensor, " in"]) -> Float[Tensor, " out"]:
        """One row."""
        return self._of(self.every_column, x)

    def of_few(self, x: Float[Tensor, " in"]) -> Float[Tensor, " out"]:
        """The same where most of a row is 0, as after a ReLU: columns that weigh nothing are not read."""
        some = x.nonzero().squeeze(1)
        return self._of(some, x.index_select(0, some))

    def _of(self, columns: Tensor, weights: Tensor) -> Tensor:
        out = _sum_of_columns(self.columns, columns, self.first, False, 0, False, weights)[0]
        return out if self.bias is None else out.add_(self.bias)


_sum_of_columns = torch.ops.quantized.embedding_bag_byte_rowwise_offsets.default  # one overload: nothing to look up


class DraftModel:
    """The rounded copy of a model's decoder. One serves every text; `begin` starts one."""

    def __init__(self, model: Transformer) -> None:
        self._embedding, self.norm = model.embedding, _norm(model.decoder.norm)
        self.layers = [_RoundedLayer(layer) for layer in model.decoder.layers]  # type: ignore[arg-type]
        self._logits = ByteMatVec.of(model.embedding.weight)

    @classmethod
    def of(cls, model: Transformer) -> "DraftModel | None":
        """The draft of a model that is worth one; None for others, and where nothing sums bytes up fast."""
        weight = model.embedding.weight
        runs_here = weight.device.type == "cpu" and weight.dtype == torch.float32
        is_large = sum(parameter.numel() for parameter in model.decoder.parameters()) >= _WORTH_IT
        return cls(model) if runs_here and is_large and "fbgemm" in torch.backends.quantized.supported_engines else None

    def begin(self, memory: Memory, *, capacity: int) -> "DraftedTarget":
        """A draft of one sentence's target, of up to `capacity` tokens."""
        return DraftedTarget(self, [layer.begin(memory, capacity) for layer in self.layers])

    def step(self, id_: int, place: int, known: "Sequence[_Known]") -> Float[Tensor, "1 vocab_size"]:
        """Feed the token at a place; about the logits of the one after it. `known` holds the places before."""
        x = self._embedding.of_one(id_, place)
        for layer, past in zip(self.layers, known, strict=True):
            x = layer(x, place, past)
        return self._logits(self.norm(x)).unsqueeze(0)


@dataclass(frozen=True, slots=True)
class _Known:
    """What a layer knows of a sentence: keys and values of the places so far, and those of the memory."""

    own: Float[Tensor, "2 heads capacity d_k"]
    memory_keys: Float[Tensor, "heads d_k k_len"]
    memory_values: Float[Tensor, "heads k_len d_k"]


class _RoundedLayer:
    """One decoder layer, rounded, for a row: a vector of `d_model` numbers and no axis besides.

    A query's scale is in the weights that make it. Attention is written out: the fused kernel takes twice as long for
    a single row.
    """

    def __init__(self, layer: DecoderLayer) -> None:
        own, self._cross, feed_forward = layer.self_attention, layer.cross_attention, layer.feed_forward
        self._n_heads, self._d_k = own.n_heads, own.d_k
        projections = [_scaled_query(own), (own.W_k.weight, own.W_k.bias), (own.W_v.weight, own.W_v.bias)]
        weights, biases = zip(*projections, strict=True)
        self._own_in, self._own_out = ByteMatVec.of(torch.cat(weights), torch.cat(biases)), ByteMatVec.like(own.W_o)
        self._cross_in = ByteMatVec.of(*_scaled_query(self._cross))
        self._cross_out = ByteMatVec.like(self._cross.W_o)
        self._wider, self._narrower = ByteMatVec.like(feed_forward.W_1), ByteMatVec.like(feed_forward.W_2)
        sublayers = layer.self_attention_sublayer, layer.cross_attention_sublayer, layer.feed_forward_sublayer
        self._norms = [_norm(sublayer.norm) for sublayer in sublayers]
        self._norm_first = layer.feed_forward_sublayer.norm_first

    def begin(self, memory: Memory, capacity: int) -> _Known:
        """What it knows of a sentence before the first place."""
        key, value = self._cross.project_memory(memory, None)
        own = torch.empty(2, self._n_heads, capacity, self._d_k)
        return _Known(own, key[0].transpose(1, 2).contiguous(), value[0].contiguous())

    def __call__(self, x: Tensor, place: int, known: _Known) -> Tensor:
        sublayers = self._attend, self._attend_memory, self._feed_forward
        for norm, sublayer in zip(self._norms, sublayers, strict=True):
            x = x + sublayer(norm(x), place, known) if self._norm_first else norm(x + sublayer(x, place, known))
        return x

    def _attend(self, x: Tensor, place: int, known: _Known) -> Tensor:
        query, key_and_value = self._own_in(x).view(3, self._n_heads, 1, self._d_k).tensor_split((1,))
        known.own[:, :, place : place + 1] = key_and_value
        key, value = known.own[:, :, : place + 1].unbind(0)
        return self._own_out(_context(query[0], key.transpose(1, 2), value))

    def _attend_memory(self, x: Tensor, _place: int, known: _Known) -> Tensor:
        query = self._cross_in(x).view(self._n_heads, 1, self._d_k)
        return self._cross_out(_context(query, known.memory_keys, known.memory_values))

    def _feed_forward(self, x: Tensor, _place: int, _kept: _Known) -> Tensor:
        return self._narrower.of_few(self._wider(x).relu_())


def _scaled_query(attention: MultiHeadAttention) -> tuple[Tensor, Tensor]:
    """Weight and bias of the queries, multiplied by what their scores are multiplied by."""
    return attention.W_q.weight * attention.scale, attention.W_q.bias * attention.scale


def _context(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """The contexts of all heads one after another: of a query `(heads, 1, d_k)`, over keys `(heads, d_k, length)`."""
    return torch.bmm(torch.bmm(query, key).softmax(dim=-1), value).view(-1)


def _norm(module: nn.LayerNorm) -> Callable[[Tensor], Tensor]:
    shape, weight, bias, epsilon = module.normalized_shape, module.weight, module.bias, module.eps
    return lambda x: torch.layer_norm(x, shape, weight, bias, epsilon)


@dataclass(frozen=True)
class DraftedTarget:
    """One target as it is drafted."""

    model: DraftModel
    known: "Sequence[_Known]"

    def go_on(self, ids: Sequence[int], vocabulary: Vocabulary, *, limit: int) -> list[int]:
        """`ids`, from `<bos>` on, and what probably follows them: up to `<eos>`, or `limit` tokens after `<bos>`.

        Of what was drafted before, all but the last of `ids` may have changed nothing.
        """
        return _threads().submit(self._go_on, ids, vocabulary, limit).result()

    @torch.inference_mode()
    def _go_on(self, ids: Sequence[int], vocabulary: Vocabulary, limit: int) -> list[int]:
        written = list(ids)
        while len(written) <= limit and written[-1] not in vocabulary.ends:
            written += vocabulary.likeliest(self.model.step(written[-1], len(written) - 1, self.known))
        return written


@cache
def _threads() -> ThreadPoolExecutor:
    """Threads that stay. FBGEMM makes the code of a sum of columns anew in each thread that asks for one, and never
    frees it: 50 kB for every answer of a server that gives each a thread of its own.
    """
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="attnviz-draft")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_threads.cache_clear)  # a child has none of them
