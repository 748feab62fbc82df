"""The decoder's pass over a whole target, every token at once."""

import time
from collections.abc import Sequence

import torch
from torch import Tensor

from attnviz.transformer.device import wait_for
from attnviz.transformer.layers import ForwardContext
from attnviz.transformer.transformer import Memory, Transformer


class TargetPass:
    """What runs the decoder over targets of one sentence. A recorder in `run` holds the last of them.

    `seconds` is how long that one took.
    """

    def __init__(self, model: Transformer, memory: Memory, run: ForwardContext) -> None:
        self.memory, self.seconds = memory, 0.0
        self._model, self._run = model, run
        self._ids: list[int] = []
        self._logits = torch.empty(0)

    def over(self, ids: Sequence[int]) -> Tensor:
        """Logits `(1, length, vocab_size)` of the token after each of `ids`; asked the same again, it runs nothing."""
        if self._ids != (ids := list(ids)):
            started = time.perf_counter()
            tgt_in = torch.tensor([ids], device=self.memory.device)
            self._logits = self._model.logits(self._model.decode(tgt_in, self.memory, None, self._run))
            wait_for(self.memory.device)
            self._ids, self.seconds = ids, time.perf_counter() - started
        return self._logits
