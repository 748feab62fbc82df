"""Draft a decoder's output with the same decoder, every weight rounded to a byte, in a third of the time.

A decoding step waits for the weights to arrive from memory, and bytes are a quarter of float32. The draft is a guess
that must be checked: one pass over the whole guess does that, because its rows do not wait for each other (speculative
decoding: Leviathan et al. 2023; for greedy choices, Stern et al. 2018).
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

_WORTH_IT = 1 << 20  # decoder parameters; a smaller decoder fits into the processor's cache and gains nothing


class DraftModel:
    """A copy of a model's decoder with rounded weights. One copy serves every text; `begin` starts a text."""

    def __init__(self, model: Transformer) -> None:
        self.model, self.decoder = model, OneTokenDecoder(model.decoder, ByteMatVec)
        self.logits = ByteMatVec.from_weight(model.embedding.weight)

    @classmethod
    def make_if_faster(cls, model: Transformer) -> "DraftModel | None":
        """Return the draft model of a model, or None if the model is too small to gain or FBGEMM is missing."""
        weight = model.embedding.weight
        runs_here = weight.device.type == "cpu" and weight.dtype == torch.float32
        is_large = sum(parameter.numel() for parameter in model.decoder.parameters()) >= _WORTH_IT
        return cls(model) if runs_here and is_large and "fbgemm" in torch.backends.quantized.supported_engines else None

    def begin(self, memory: Memory, *, capacity: int) -> "DraftedTarget":
        """Begin a draft of one sentence's target with at most `capacity` tokens."""
        return DraftedTarget(self, memory, KVCache.allocate(self.model.config, capacity))


@dataclass(frozen=True)
class DraftedTarget:
    """The target of one sentence while the rounded model drafts it."""

    model: DraftModel
    memory: Memory
    cache: KVCache

    def go_on(self, ids: Sequence[int], vocabulary: Vocabulary, *, limit: int) -> list[int]:
        """Continue `ids` (from `<bos>` on) with a guess, up to `<eos>` or to `limit` tokens after `<bos>`.

        All but the last of `ids` must have been drafted before.
        """
        return _threads().submit(self._go_on, ids, vocabulary, limit).result()

    def step(self, id_: int) -> Float[Tensor, "1 vocab_size"]:
        """Feed the next token and return approximate logits of the token after it."""
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
    """Return a pool of permanent threads.

    FBGEMM compiles code for a sum of columns in each thread that asks for one, and never frees it: 50 kB for every
    answer of a server that gives each answer a new thread.
    """
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="attnviz-draft")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_threads.cache_clear)  # a child process has none of these threads
