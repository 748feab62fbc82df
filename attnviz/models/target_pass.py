"""One pass of a decoder over a whole target, which records what is shown and checks what was drafted."""

import time
from collections.abc import Sequence

import torch
from torch import Tensor

from attnviz.learning.network import DecoderAlone
from attnviz.transformer.device import wait_for
from attnviz.transformer.layers import ForwardContext
from attnviz.transformer.transformer import Memory, Transformer


class TargetPass:
    """The decoder's pass over whole targets of one source, every token at once; the probe of `run` sees each of them.

    `seconds` is how long the last one took.
    """

    def __init__(self, model: Transformer | DecoderAlone, memory: Memory, run: ForwardContext) -> None:
        self.memory, self.seconds = memory, 0.0
        self._model, self._run = model, run
        self._ids: list[int] = []
        self._logits = torch.empty(0)

    def logits(self, ids: Sequence[int]) -> Tensor:
        """Compute logits `(1, length, vocab_size)` of the token after each of `ids`; the last ones are kept."""
        if self._ids != (ids := list(ids)):
            started = time.perf_counter()
            tgt_in = torch.tensor([ids], device=self.memory.device)
            self._logits = self._model.logits(self._model.decode(tgt_in, self.memory, None, self._run))
            wait_for(self.memory.device)
            self._ids, self.seconds = ids, time.perf_counter() - started
        return self._logits
