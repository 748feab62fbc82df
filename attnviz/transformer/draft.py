"""A draft of what a decoder writes, by the same decoder with every weight rounded to a byte: in a third of the time.

A step of decoding waits for the weights to come from memory, and bytes are a quarter of them. What comes of rounded
weights is a guess, and needs checking: one pass over the whole guess does that, because its rows do not wait for each
other (speculative decoding: Leviathan et al. 2023; for greedy choices, Stern et al. 2018).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attnviz.transformer.cache import KVCache
from attnviz.transformer.decoding import Vocabulary, likeliest
from attnviz.transformer.layers import ForwardContext
from attnviz.transformer.one_token import OneTokenDecoder
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

    def __call__(self, x: Float[Tensor, "*one in"]) -> Float[Tensor, "*one out"]:
        """One row, whatever axes of length 1 stand before it."""
        out = torch.ops.quantized.embedding_bag_byte_rowwise_offsets(
            self.columns, self.every_column, self.first, per_sample_weights=x.reshape(-1)
        )
        out = out if self.bias is None else out.add_(self.bias)
        return out.view(*x.shape[:-1], -1)


class DraftModel:
    """The rounded copy of a model's decoder. One serves every text; `begin` starts one."""

    def __init__(self, model: Transformer) -> None:
        self._embedding, self._config = model.embedding, model.config
        self._row_decoder = OneTokenDecoder(model.decoder, ByteMatVec)
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
        return DraftedTarget(self, memory, KVCache.for_config(self._config, capacity))

    def step(self, id_: int, memory: Memory, cache: KVCache) -> Float[Tensor, "1 vocab_size"]:
        """Feed a token; about the logits of the one after it."""
        x = self._embedding(torch.tensor([[id_]]), cache.length)
        return self._logits(self._row_decoder(x, memory, None, ForwardContext(cache=cache))[:, -1])


@dataclass(frozen=True)
class DraftedTarget:
    """One target as it is drafted."""

    model: DraftModel
    memory: Memory
    cache: KVCache

    def go_on(self, ids: Sequence[int], vocabulary: Vocabulary, *, limit: int) -> list[int]:
        """`ids`, from `<bos>` on, and what probably follows them: up to `<eos>`, or `limit` tokens after `<bos>`.

        Of what was drafted before, all but the last of `ids` may have changed nothing.
        """
        written = list(ids)
        self.cache.cut(len(written) - 1)
        while len(written) <= limit and written[-1] not in vocabulary.ends:
            logits = vocabulary.forbid(self.model.step(written[-1], self.memory, self.cache))
            written.append(int(likeliest(logits)))
        return written
