"""One weight taken apart: what each of the d_k numbers of a query and a key contributes to their score.

`weight = softmax over keys of (scale * sum_i q_i * k_i + bias)`, keys that the mask hides left out (Vaswani et al.,
2017, equation 1); a model may cap the scaled sum softly, and share a row with a sink. Everything is computed in float64
from the tensors that the run recorded.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from attnviz.tracing.trace import TraceLike
from attnviz.transformer.probe import Kind


@dataclass(frozen=True, eq=False)
class Neuron:
    """One query row of one head, and the key that is looked at.

    `query`, `key` and `product` hold d_k numbers; `dot` is the sum of `product`; `score` is `scale * dot + bias`,
    the first part capped by `softcap` where there is one. `sink` is the score of a place that is no token.
    `scores` and `attn` are that row over all keys, `visible` where the mask lets it look; `keys` is `(k_len, d_k)`.
    """

    query: np.ndarray
    keys: np.ndarray
    key_position: int
    scale: float
    biases: np.ndarray
    visible: np.ndarray
    softcap: float | None = None
    sink: float | None = None

    @property
    def key(self) -> np.ndarray:
        """The key vector of the pair."""
        return self.keys[self.key_position]

    @property
    def product(self) -> np.ndarray:
        """What each element contributes to the dot product."""
        return self.query * self.key

    @property
    def dot(self) -> float:
        """Query · key."""
        return float(self.product.sum())

    @property
    def bias(self) -> float:
        """What the model adds to the scaled dot product (a position bias); mostly 0."""
        return float(self.biases[self.key_position])

    @property
    def score(self) -> float:
        """The scaled dot product with its bias, before mask and softmax."""
        return float(self.scores[self.key_position])

    @property
    def scores(self) -> np.ndarray:
        """The row's scores over all keys."""
        return self._capped(self.keys @ self.query * self.scale) + self.biases

    @property
    def attn(self) -> np.ndarray:
        """The row after mask and softmax; zeros where it sees no key."""
        if not self.visible.any():
            return np.zeros(len(self.keys))
        most = max(self.scores[self.visible].max(), -np.inf if self.sink is None else self.sink)
        powers = np.where(self.visible, np.exp(self.scores - most), 0.0)
        return powers / (powers.sum() + (0.0 if self.sink is None else np.exp(self.sink - most)))

    def _capped(self, scores: np.ndarray) -> np.ndarray:
        return scores if self.softcap is None else self.softcap * np.tanh(scores / self.softcap)

    def order(self) -> np.ndarray:
        """Elements by contribution, the one that adds most first and the one that takes away most last."""
        return np.argsort(-self.product, kind="stable")

    def table(self) -> pd.DataFrame:
        """One line an element: its number, q, k, their product, and what that adds to the score."""
        elements = np.arange(len(self.query))
        columns = {"element": elements, "query": self.query, "key": self.key, "product": self.product}
        return pd.DataFrame(columns | {"adds_to_score": self.product * self.scale})


def neuron(trace: TraceLike, kind: Kind, *, layer: int, head: int, query: int, key: int, item: int = 0) -> Neuron:
    """The pair of query position and key position at one head; positions count tokens from 0.

    Raises ValueError for a head or position that there is not, and for a trace without queries and keys.
    """
    call, heads = trace.call(kind, layer), trace.shape(kind)[1]
    q_len, k_len = len(trace.query_tokens(kind, item=item)), len(trace.key_tokens(kind, item=item))
    for name, value, count in (("head", head, heads), ("query", query, q_len), ("key", key, k_len)):
        if not 0 <= value < count:
            raise ValueError(f"There is no {name} {value}: it is 0 to {count - 1}.")
    shape = (*call.query.shape[:3], call.key.shape[2])
    bias = torch.zeros(()) if call.bias is None else call.bias
    mask = torch.ones((), dtype=torch.bool) if call.mask is None else call.mask
    return Neuron(
        query=_double(call.query[item, head, query]),
        keys=_double(call.key[item, head, :k_len]),
        key_position=key,
        scale=float(call.scale),
        biases=_double(bias.expand(shape)[item, head, query, :k_len]),
        visible=mask.expand(shape)[item, head, query, :k_len].cpu().numpy(),
        softcap=call.softcap,
        sink=None if call.sinks is None else float(call.sinks[0, head]),
    )


def _double(tensor: Tensor) -> np.ndarray:
    return tensor.detach().cpu().double().numpy()
