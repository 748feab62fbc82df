"""The two formats of data between dashboard and engine: a saved trace, or a message of JSON and arrays.

Both are npz without pickle, read like a file from an untrusted source. A trace inside a message is one array that holds
the bytes of its file.
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

MOST_BYTES = 512 << 20  # size limit for one message, uncompressed
_META = "meta"


@dataclass(frozen=True, eq=False)
class Message:
    """JSON data in `meta`, and tensors by name in `tensors`."""

    meta: Mapping[str, Any] = field(default_factory=dict)
    tensors: Mapping[str, Tensor] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """Encode the message as the body of a request or an answer.

        Raises ValueError for data that cannot be encoded as JSON.
        """
        file = io.BytesIO()
        try:
            said = json.dumps(dict(self.meta), default=index)  # converts NumPy integers
        except TypeError as error:
            raise ValueError(
                f"Only texts, numbers and interventions can be sent to the engine ({first_line(error)})."
            ) from error
        meta = np.frombuffer(said.encode(), dtype=np.uint8)
        np.savez(file, allow_pickle=False, **{_META: meta}, **{name: _array(t) for name, t in self.tensors.items()})
        return file.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> "Message":
        """Decode a message from `to_bytes`. Raises ValueError, with a message of one sentence, for anything else."""
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
        """Return the trace that is stored in the message under this name. Raises ValueError if there is none."""
        if name not in self.tensors:
            raise ValueError(f"The message does not contain the trace {name!r}.")
        return storage.from_bytes(self.tensors[name].numpy().tobytes())


def pack_trace(trace: Trace) -> Tensor:
    """Return a trace as an array of bytes for a message."""
    return torch.frombuffer(bytearray(storage.to_bytes(trace)), dtype=torch.uint8)


def strip_numbers(trace: Trace) -> Trace:
    """Return a trace without tensors: sentences, info and interventions, which suffice to run the same tokens again."""
    return replace(trace, calls={}, contexts={}, layers={}, memory=None, logits=None)


def _array(tensor: Tensor) -> np.ndarray:
    tensor = tensor.detach().cpu()
    return (tensor.float() if tensor.dtype is torch.bfloat16 else tensor).numpy()
