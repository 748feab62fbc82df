"""What a worker and its server say to each other: a length, and a pickled tuple. Both ends are ours."""

import pickle
from typing import Any, BinaryIO

_LENGTH = 8  # bytes


def write_frame(stream: BinaryIO, said: Any) -> None:
    """Say something. Raises BrokenPipeError where nobody listens any more."""
    content = pickle.dumps(said, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(len(content).to_bytes(_LENGTH, "little") + content)
    stream.flush()


def read_frame(stream: BinaryIO) -> Any | None:
    """What was said next; None where nothing comes any more, also in the middle of a frame."""
    length = stream.read(_LENGTH)
    if len(length) < _LENGTH:
        return None
    content = stream.read(size := int.from_bytes(length, "little"))
    return pickle.loads(content) if len(content) == size else None
