"""Choice of a reply's next token: the most probable one, or one sampled by a seed and the token's position."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnviz.transformer.decoding import Sampling


@dataclass(frozen=True)
class Choosing:
    """How tokens are chosen: the most probable one without `temperature` and `top_p`, otherwise by sampling.

    The random number for a token depends only on the `seed` and the token's position in the reply. So after the same
    tokens the same ones follow, whether the reply was written at once, stopped and continued, or taken back. Raise
    ValueError for a temperature or top_p that Sampling refuses, and for a negative seed.
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
        """The distribution from which tokens are sampled; None for the most probable token."""
        if self.temperature is None and self.top_p is None:
            return None
        return Sampling(torch.Generator(), 1.0 if self.temperature is None else self.temperature, None, self.top_p)

    def choose(self, logits: Tensor, position: int) -> int:
        """Return the chosen id for a position in the reply, from logits `(1, vocab_size)`."""
        if self.sampling is None:
            return int(logits.argmax())
        reached = self.sampling.probabilities(logits)[0].double().cpu().cumsum(dim=0)
        drawn = np.random.default_rng([self.seed, position]).random() * float(reached[-1])
        found = int(torch.searchsorted(reached, drawn, right=True))
        return min(found, int(reached.argmax()))  # rounding may sample beyond the last token with a probability


GREEDY = Choosing()
