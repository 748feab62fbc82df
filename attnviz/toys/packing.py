"""The format that all recordings share on disk: maps in 8 bits, and of each cell how it changes from moment to moment.

Changes are modulo 256, so that they are 8 bits too and nothing is lost; they pack a sixth better than the maps.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

from attnviz.guards import plain_file

FORMAT_VERSION = 1
MOST_MOMENTS = 1_000
_MOST_META = 1_000_000  # bytes


def to_8_bits(attn: torch.Tensor) -> np.ndarray:
    """Convert weights of 0 to 1 to 0 to 255, the nearest."""
    return (attn * 255).round().to(torch.uint8).numpy()


def changes(maps: np.ndarray) -> np.ndarray:
    """Turn maps `(moments, …)` into `(…, moments)`: the first, then what each adds to the one before."""
    return np.diff(np.moveaxis(maps, 0, -1), axis=-1, prepend=np.uint8(0))


def undo_changes(changes: np.ndarray) -> np.ndarray:
    """Undo `changes`."""
    return np.moveaxis(np.cumsum(changes, axis=-1, dtype=changes.dtype), -1, 0)


def pack_meta(meta: Any) -> np.ndarray:
    """Write plain JSON types as an array."""
    return np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)


def unpack_meta(meta: np.ndarray) -> Any:
    """Read what `pack_meta` wrote. Raises ValueError for an array that is no JSON."""
    return json.loads(meta[:_MOST_META].tobytes().decode("utf-8"))


def arrays_with_prefix(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """Return the arrays whose names begin so, by the rest of their names."""
    return {key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)}


def write(arrays: dict[str, Any], path: str | Path) -> None:
    """Write them as npz. Equal arrays give equal bytes."""
    plain_file.require_place(path)
    with Path(path).open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def require(holds: bool, said: str) -> None:
    """Raise ValueError with a sentence, unless a condition holds."""
    if not holds:
        raise ValueError(said)
