"""The sizes of a Transformer, without tensors."""

from dataclasses import asdict, dataclass, fields
from typing import Any


@dataclass(frozen=True)
class ModelConfig:
    """Sizes and switches of an encoder-decoder Transformer (Vaswani et al. 2017, table 3).

    `d_k` is the size of one head, by default `d_model // n_heads`. `norm_first=False` with `positions=False` is what
    `torch.nn.Transformer` computes by default. Raises ValueError for sizes that cannot be built.
    """

    vocab_size: int
    d_model: int = 256
    n_heads: int = 8
    n_layers: int = 3
    d_ff: int = 1024
    d_k: int | None = None
    norm_first: bool = True
    positions: bool = True
    pad_id: int = 0

    def __post_init__(self) -> None:
        for name in ("vocab_size", "d_model", "n_heads", "n_layers", "d_ff"):
            _require_positive(name, getattr(self, name))
        if self.d_k is None:
            if self.d_model % self.n_heads:
                raise ValueError(
                    f"d_model={self.d_model} is not a multiple of n_heads={self.n_heads}. Please "
                    "choose other sizes, or give d_k, the size of one head."
                )
            object.__setattr__(self, "d_k", self.d_model // self.n_heads)
        _require_positive("d_k", self.d_k)
        if self.positions and self.d_model % 2:
            raise ValueError(f"Sinusoidal positions need an even d_model, not {self.d_model}.")
        for name in ("norm_first", "positions"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} must be true or false, not {getattr(self, name)!r}.")
        if not isinstance(self.pad_id, int) or not 0 <= self.pad_id < self.vocab_size:
            raise ValueError(f"pad_id={self.pad_id!r} is outside the vocabulary of {self.vocab_size}.")

    @property
    def head_size(self) -> int:
        """`d_k` as a plain int (it is never None once the config exists)."""
        assert self.d_k is not None  # filled in by __post_init__
        return self.d_k

    def to_dict(self) -> dict[str, Any]:
        """Return the config as plain JSON types, which `from_dict` reads."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "ModelConfig":
        """Read the result of `to_dict`. Raises ValueError for unknown or missing names and wrong types."""
        if not isinstance(values, dict):
            raise ValueError(f"The model config must map names to sizes, not be {values!r:.40}.")
        known = {field.name for field in fields(cls)}
        if unknown := sorted(set(values) - known):
            raise ValueError(f"Unknown names in the model config: {', '.join(unknown)}.")
        if "vocab_size" not in values:
            raise ValueError("The model config has no vocab_size.")
        return cls(**values)


def _require_positive(name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a positive whole number, not {value!r}.")
