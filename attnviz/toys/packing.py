"""The file format shared by all recordings: maps in 8 bits, stored as each cell's changes between snapshots.

Changes are modulo 256, so that they fit into 8 bits and nothing is lost; they compress a sixth better than the maps.
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
    """Convert weights between 0 and 1 to the nearest integers between 0 and 255."""
    return (attn * 255).round().to(torch.uint8).numpy()


def changes(maps: np.ndarray) -> np.ndarray:
    """Turn maps `(moments, …)` into `(…, moments)`: the first snapshot, then the difference from each to the next."""
    return np.diff(np.moveaxis(maps, 0, -1), axis=-1, prepend=np.uint8(0))


def undo_changes(changes: np.ndarray) -> np.ndarray:
    """Undo `changes`: turn differences `(…, moments)` back into maps `(moments, …)`."""
    return np.moveaxis(np.cumsum(changes, axis=-1, dtype=changes.dtype), -1, 0)


def pack_meta(meta: Any) -> np.ndarray:
    """Encode plain JSON types as an array of bytes."""
    return np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)


def unpack_meta(meta: np.ndarray) -> Any:
    """Decode the result of `pack_meta`. Raises ValueError for an array that is not JSON."""
    return json.loads(meta[:_MOST_META].tobytes().decode("utf-8"))


def arrays_with_prefix(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """Return the arrays whose names begin with a prefix, by the rest of their names."""
    return {key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)}


def write(arrays: dict[str, Any], path: str | Path) -> None:
    """Write arrays as npz. Equal arrays give equal bytes."""
    plain_file.require_place(path)
    with Path(path).open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def require(holds: bool, said: str) -> None:
    """Raise ValueError with the message `said`, unless `holds` is true."""
    if not holds:
        raise ValueError(said)
