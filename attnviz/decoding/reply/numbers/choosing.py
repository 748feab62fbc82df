"""How a reply's next token is chosen: the likeliest one, or one drawn from a seed and its position."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnviz.transformer.decoding import Sampling


@dataclass(frozen=True)
class Choosing:
    """The likeliest token where no `temperature` and `top_p` are given; else tokens are drawn.

    The number that a token is drawn with depends on the `seed` and on its position in the reply alone. After the same
    tokens the same ones follow, however the reply came there: written at once, stopped and gone on, or gone back to.
    Raises ValueError for a temperature or top_p that Sampling refuses, and for a negative seed.
    """

    temperature: float | None = None
    top_p: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise ValueError(f"seed is 0 or more, not {self.seed}.")
        _ = self.sampling

    @property
    def sampling(self) -> Sampling | None:
        """The distribution that tokens are drawn from; None for the likeliest one."""
        if self.temperature is None and self.top_p is None:
            return None
        return Sampling(torch.Generator(), 1.0 if self.temperature is None else self.temperature, None, self.top_p)

    def choose(self, logits: Tensor, position: int) -> int:
        """Choose the id at a position of the reply by logits `(1, vocab_size)`."""
        if self.sampling is None:
            return int(logits.argmax())
        reached = self.sampling.probabilities(logits)[0].double().cpu().cumsum(dim=0)
        drawn = np.random.default_rng([self.seed, position]).random() * float(reached[-1])
        found = int(torch.searchsorted(reached, drawn, right=True))
        return min(found, int(reached.argmax()))  # rounding may draw beyond the last one that has a probability


GREEDY = Choosing()
