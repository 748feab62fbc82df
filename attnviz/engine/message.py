"""The two forms of data between dashboard and engine: a saved trace, or arrays with some JSON.

Both are npz without pickle, read as a stranger's file is. A trace inside a message is one array, its file's bytes.
"""

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from operator import index
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.guards.npz import DAMAGED, NOT_AN_ARRAY, Archive, first_line
from attnviz.tracing import storage
from attnviz.tracing.trace import Trace

MOST_BYTES = 512 << 20  # of one message, which is not compressed
_META = "meta"


@dataclass(frozen=True, eq=False)
class Message:
    """JSON types in `meta`, numbers in `tensors`, by name."""

    meta: Mapping[str, Any] = field(default_factory=dict)
    tensors: Mapping[str, Tensor] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """Encode it as the body of a request or an answer. Raises ValueError for what does not travel."""
        file = io.BytesIO()
        try:
            said = json.dumps(dict(self.meta), default=index)  # NumPy's whole numbers as Python's
        except TypeError as error:
            raise ValueError(f"Only texts, numbers and interventions go to the engine: {first_line(error)}.") from error
        meta = np.frombuffer(said.encode(), dtype=np.uint8)
        np.savez(file, allow_pickle=False, **{_META: meta}, **{name: _array(t) for name, t in self.tensors.items()})
        return file.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> "Message":
        """Decode what `to_bytes` wrote. Raises ValueError with one sentence for anything else."""
        try:
            file = Archive(io.BytesIO(content), most=min(MOST_BYTES, len(content)))
            arrays = file.arrays(file.keys)
            meta = json.loads(arrays.pop(_META).tobytes().decode("utf-8"))
            if not isinstance(meta, dict):
                raise TypeError("its meta is not an object")
            return cls(meta, {name: torch.from_numpy(array) for name, array in arrays.items()})
        except (*DAMAGED, *NOT_AN_ARRAY, KeyError) as error:
            raise ValueError(f"The body is not a message of attnviz ({first_line(error)}).") from error

    def trace(self, name: str = "trace") -> Trace:
        """Return the trace of that name. Raises ValueError where there is none."""
        if name not in self.tensors:
            raise ValueError(f"The message lacks the trace {name!r}.")
        return storage.from_bytes(self.tensors[name].numpy().tobytes())


def pack_trace(trace: Trace) -> Tensor:
    """Return a trace as an array of a message."""
    return torch.frombuffer(bytearray(storage.to_bytes(trace)), dtype=torch.uint8)


def strip_numbers(trace: Trace) -> Trace:
    """Return a trace without numbers: sentences, info and interventions, which suffice to run the same tokens again."""
    return replace(trace, calls={}, contexts={}, layers={}, memory=None, logits=None)


def _array(tensor: Tensor) -> np.ndarray:
    tensor = tensor.detach().cpu()
    return (tensor.float() if tensor.dtype is torch.bfloat16 else tensor).numpy()
