"""A cache of keys and values of earlier tokens, so that a decoding step computes one token and not the whole prefix."""

from dataclasses import dataclass, field

from jaxtyping import Float, Int
from torch import Tensor

from attnviz.transformer.config import ModelConfig

Heads = Float[Tensor, "batch heads length d_k"]
Both = Float[Tensor, "2 batch heads new d_k"]


class LayerCache:
    """Keys and values of one attention site, in one tensor that is allocated at the first `append`.

    A frozen cache never grows: cross-attention fills its cache once, because the memory is the same at every step.
    """

    def __init__(self, capacity: int | None = None) -> None:
        self.capacity, self.length, self.frozen = capacity, 0, False
        self._both: Tensor | None = None

    def append(self, both: Both) -> tuple[Heads, Heads]:
        """Append the newest positions, keys before values; return all keys and values so far, as views of the
        storage.
        """
        new = both.shape[3]
        if self.capacity is None:
            self._both, self.length, self.frozen = both, new, True
            return self.read()
        if self.length + new > self.capacity:
            raise ValueError(
                f"The cache has room for {self.capacity} tokens, but was given a {self.length + new}th token."
            )
        if self._both is None:
            self._both = both.new_empty(*both.shape[:3], self.capacity, both.shape[4])
        self._both.narrow(3, self.length, new).copy_(both)
        self.length += new
        return self.read()

    def read(self) -> tuple[Heads, Heads]:
        """Return all keys and values so far, each `(batch, heads, length, d_k)`."""
        if self._both is None:
            raise ValueError("The cache is still empty.")
        key, value = self._both.narrow(3, 0, self.length).unbind(0)
        return key, value

    def reorder(self, rows: Int[Tensor, " kept"]) -> None:
        """Keep these batch rows, in this order, such as the surviving hypotheses of a beam."""
        if self._both is not None:
            self._both = self._both[:, rows]


@dataclass
class KVCache:
    """One `LayerCache` for each decoder layer's self-attention, and one for its cross-attention."""

    self_attention: list[LayerCache] = field(default_factory=list)
    cross: list[LayerCache] = field(default_factory=list)

    @classmethod
    def allocate(cls, config: ModelConfig, capacity: int) -> "KVCache":
        """Return an empty cache for `capacity` target tokens."""
        layers = range(config.n_layers)
        return cls([LayerCache(capacity) for _ in layers], [LayerCache() for _ in layers])

    @property
    def length(self) -> int:
        """Number of target tokens in the cache, which is the position of the next token."""
        return self.self_attention[0].length

    def shorten(self, length: int) -> None:
        """Remove the target tokens from position `length` on."""
        for layer in self.self_attention:
            layer.length = length

    def reorder(self, rows: Int[Tensor, " kept"]) -> None:
        """Keep these batch rows, in this order, in every layer."""
        for layer in (*self.self_attention, *self.cross):
            layer.reorder(rows)
