"""Messages between a worker process and its server: a length, and a pickled tuple. Both ends are our own code."""

import pickle
from typing import Any, BinaryIO

_LENGTH = 8  # bytes


def write_frame(stream: BinaryIO, said: Any) -> None:
    """Send a message. Raise BrokenPipeError if the other end is closed."""
    content = pickle.dumps(said, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(len(content).to_bytes(_LENGTH, "little") + content)
    stream.flush()


def read_frame(stream: BinaryIO) -> Any | None:
    """Read the next message; return None at the end of the stream, even within a message."""
    length = stream.read(_LENGTH)
    if len(length) < _LENGTH:
        return None
    content = stream.read(size := int.from_bytes(length, "little"))
    return pickle.loads(content) if len(content) == size else None
