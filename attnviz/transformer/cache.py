"""The keys and values of tokens already seen, kept so that a step costs one token and not the whole prefix."""

from dataclasses import dataclass, field

from jaxtyping import Float, Int
from torch import Tensor

from attnviz.transformer.config import ModelConfig

Heads = Float[Tensor, "batch heads length d_k"]
New = Float[Tensor, "batch heads new d_k"]


class LayerCache:
    """Keys and values of one attention site, in storage reserved at the first `append`.

    A frozen cache never grows: cross-attention fills it once, since the memory stays the same at every step.
    """

    def __init__(self, capacity: int | None = None) -> None:
        self.capacity, self.length, self.frozen = capacity, 0, False
        self._key: Tensor | None = None
        self._value: Tensor | None = None

    def append(self, key: New, value: New) -> tuple[Heads, Heads]:
        """Add the newest positions; returns all keys and values so far, as views of the storage."""
        if self.capacity is None:
            self._key, self._value, self.length, self.frozen = key, value, key.shape[2], True
            return key, value
        end = self.length + key.shape[2]
        if end > self.capacity:
            raise ValueError(f"The cache holds {self.capacity} tokens and was handed a {end}th.")
        if self._key is None or self._value is None:
            self._key = key.new_empty(*key.shape[:2], self.capacity, key.shape[3])
            self._value = value.new_empty(*value.shape[:2], self.capacity, value.shape[3])
        self._key[:, :, self.length : end] = key
        self._value[:, :, self.length : end] = value
        self.length = end
        return self.read()

    def read(self) -> tuple[Heads, Heads]:
        """All keys and values so far: `(batch, heads, length, d_k)` each."""
        if self._key is None or self._value is None:
            raise ValueError("The cache is still empty.")
        return self._key[:, :, : self.length], self._value[:, :, : self.length]

    def reorder(self, rows: Int[Tensor, " kept"]) -> None:
        """Keep these rows of the batch, in this order (a beam's survivors)."""
        if self._key is not None and self._value is not None:
            self._key, self._value = self._key[rows], self._value[rows]


@dataclass
class KVCache:
    """One `LayerCache` for each decoder layer's self-attention, and one for its cross-attention."""

    self_attention: list[LayerCache] = field(default_factory=list)
    cross: list[LayerCache] = field(default_factory=list)

    @classmethod
    def for_config(cls, config: ModelConfig, capacity: int) -> "KVCache":
        """An empty cache with room for `capacity` target tokens."""
        layers = range(config.n_layers)
        return cls([LayerCache(capacity) for _ in layers], [LayerCache() for _ in layers])

    @property
    def length(self) -> int:
        """How many target tokens it holds: the position of the next one."""
        return self.self_attention[0].length

    def reorder(self, rows: Int[Tensor, " kept"]) -> None:
        """Keep these rows of the batch, in this order, in every layer."""
        for layer in (*self.self_attention, *self.cross):
            layer.reorder(rows)
