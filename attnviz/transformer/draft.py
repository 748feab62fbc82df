"""A draft of what a decoder writes, by the same decoder with every weight rounded to a byte: in a third of the time.

A step of decoding waits for the weights to come from memory, and bytes are a quarter of them. What comes of rounded
weights is a guess, and needs checking: one pass over the whole guess does that, because its rows do not wait for each
other (speculative decoding: Leviathan et al. 2023; for greedy choices, Stern et al. 2018).
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.transformer.cache import KVCache
from attnviz.transformer.decoding import Vocabulary
from attnviz.transformer.layers import ForwardContext
from attnviz.transformer.matvec import ByteMatVec
from attnviz.transformer.one_token import OneTokenDecoder
from attnviz.transformer.transformer import Memory, Transformer

_WORTH_IT = 1 << 20  # numbers in a decoder: a smaller one is in the processor's cache, and its steps do not wait


class DraftModel:
    """The rounded copy of a model's decoder. One serves every text; `begin` starts one."""

    def __init__(self, model: Transformer) -> None:
        self.model, self.decoder = model, OneTokenDecoder(model.decoder, ByteMatVec)
        self.logits = ByteMatVec.from_weight(model.embedding.weight)

    @classmethod
    def make_if_faster(cls, model: Transformer) -> "DraftModel | None":
        """Make the draft of a model; None for one that is too small to gain, and where FBGEMM is not there to sum
        bytes.
        """
        weight = model.embedding.weight
        runs_here = weight.device.type == "cpu" and weight.dtype == torch.float32
        is_large = sum(parameter.numel() for parameter in model.decoder.parameters()) >= _WORTH_IT
        return cls(model) if runs_here and is_large and "fbgemm" in torch.backends.quantized.supported_engines else None

    def begin(self, memory: Memory, *, capacity: int) -> "DraftedTarget":
        """Begin a draft of one sentence's target, of up to `capacity` tokens."""
        return DraftedTarget(self, memory, KVCache.allocate(self.model.config, capacity))


@dataclass(frozen=True)
class DraftedTarget:
    """One target as it is drafted."""

    model: DraftModel
    memory: Memory
    cache: KVCache

    def go_on(self, ids: Sequence[int], vocabulary: Vocabulary, *, limit: int) -> list[int]:
        """Continue `ids`, from `<bos>` on, with a guess: up to `<eos>`, or `limit` tokens after `<bos>`.

        All but the last of `ids` must be what was drafted before.
        """
        return _threads().submit(self._go_on, ids, vocabulary, limit).result()

    def step(self, id_: int) -> Float[Tensor, "1 vocab_size"]:
        """Feed the next token and return roughly the logits of the one after it."""
        x = self.model.model.embedding(torch.tensor([[id_]]), self.cache.length)
        hidden = self.model.decoder(x, self.memory, None, ForwardContext(cache=self.cache))
        return self.model.logits(hidden[:, -1])

    @torch.inference_mode()
    def _go_on(self, ids: Sequence[int], vocabulary: Vocabulary, limit: int) -> list[int]:
        written = list(ids)
        self.cache.shorten(len(ids) - 1)
        while len(written) <= limit and written[-1] not in vocabulary.ends:
            written += vocabulary.likeliest_ids(self.step(written[-1]))
        return written


@cache
def _threads() -> ThreadPoolExecutor:
    """Return threads that stay. FBGEMM makes the code of a sum of columns anew in each thread that asks for one, and
    never frees it: 50 kB for every answer of a server that gives each a thread of its own.
    """
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="attnviz-draft")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_threads.cache_clear)  # a child has none of them
