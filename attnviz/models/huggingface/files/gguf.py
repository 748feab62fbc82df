"""GGUF files of llama.cpp: find the file in a folder, and check its header before transformers reads the file.

transformers' reader trusts every count in a header: a count of 2**60 entries would keep it busy for years.
"""

import math
import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from attnviz.models.huggingface.errors import ModelError

ENDING = ".gguf"
_MAGIC, _VERSIONS = b"GGUF", (2, 3)
_MOST_HEADER = 100_000_000  # bytes of entries and tensor names; a vocabulary of 260,000 pieces takes 12 MB
_MOST_ENTRIES, _MOST_DEPTH = 10_000, 3
_MOST_LISTED = 1_000_000  # items of all lists; a vocabulary of 260,000 pieces with its merges has 780,000
_BYTES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}  # size of each fixed-size type
_STRING, _ARRAY = 8, 9
_PART = re.compile(r"(.+)-\d{5}-of-(\d{5})\.gguf")


@dataclass(frozen=True)
class GgufHeader:
    """Facts from a GGUF file's header: its architecture, its number of tensors, and its number of parameters."""

    architecture: str
    tensors: int
    numbers: int


def is_gguf(path: Path) -> bool:
    """Check whether a path names a GGUF file."""
    return path.suffix == ENDING


def only_gguf(folder: Path, names: list[str]) -> Path:
    """Return the GGUF file of a folder that holds no other weights. Raises ModelError if there are several."""
    found = sorted(name for name in names if name.endswith(ENDING) and not name.startswith("mmproj"))
    whole = [name for name in found if not _PART.fullmatch(name)] or found[:1]
    if not whole:
        raise ModelError(f"The GGUF file in {folder.name!r} contains only an image projector, not a text model.")
    if len(whole) > 1:
        raise ModelError(
            f"{folder.name!r} contains {len(whole)} GGUF files. Please pass the path of one of them, "
            f"such as {folder.name}/{whole[-1]}."
        )
    return folder / whole[0]


def read_header(path: Path) -> GgufHeader:
    """Read the header of a GGUF file. Raises ModelError for a file that is one part of a split model, or is damaged."""
    if part := _PART.fullmatch(path.name):
        raise ModelError(
            f"{path.name!r} is one of the {int(part[2])} files of a model. Please join them first "
            "(llama-gguf-split --merge)."
        )
    if not path.is_file():
        raise ModelError(f"{path.name!r} is not a plain file, so it is not read.")
    try:
        with path.open("rb") as file:
            return _header(_Reader(file, min(path.stat().st_size, _MOST_HEADER)))
    except OSError as error:
        raise ModelError(f"attnviz has no permission to read {path.name!r}.") from error
    except (ValueError, struct.error) as error:
        raise ModelError(f"{path.name!r} is not a GGUF file of version 2 or 3, or is cut short ({error}).") from error


class _Reader:
    """Reads little-endian values, up to the limit of bytes for a header."""

    def __init__(self, file: BinaryIO, most: int) -> None:
        self.file, self.left, self.listed = file, most, 0

    def take(self, count: int) -> bytes:
        if count > self.left:
            raise ValueError(f"an entry of {count:,} bytes goes beyond the header")
        self.left -= count
        if len(content := self.file.read(count)) < count:
            raise ValueError("the header ends early")
        return content

    def number(self, code: str) -> int:
        return struct.unpack(f"<{code}", self.take(struct.calcsize(code)))[0]

    def string(self) -> bytes:
        return self.take(self.number("Q"))

    def value(self, kind: int, depth: int = 0) -> Any:
        """Read a value; a string is returned as bytes, the contents of an array are skipped."""
        if kind == _STRING:
            return self.string()
        if kind == _ARRAY and depth < _MOST_DEPTH:
            inner, count = self.number("I"), self.number("Q")
            if inner in _BYTES:
                return self.take(_BYTES[inner] * count)
            if count > self.left:
                raise ValueError(f"a list of {count:,} goes beyond the header")
            self.listed += count
            if self.listed > _MOST_LISTED:
                raise ValueError(f"its lists hold {self.listed:,} texts, and at most {_MOST_LISTED:,} are read")
            for _ in range(count):
                self.value(inner, depth + 1)
            return None
        if kind not in _BYTES:
            raise ValueError(f"an entry has the unknown type {kind}")
        return self.take(_BYTES[kind])


def _header(reader: _Reader) -> GgufHeader:
    if reader.take(4) != _MAGIC or reader.number("I") not in _VERSIONS:
        raise ValueError("it begins otherwise")
    tensors, entries = reader.number("Q"), reader.number("Q")
    if entries > _MOST_ENTRIES or tensors > _MOST_ENTRIES:
        raise ValueError(f"it names {max(entries, tensors):,} entries")
    said: dict[bytes, Any] = {}
    for _ in range(entries):
        name = reader.string()
        said[name] = reader.value(reader.number("I"))
    architecture = said.get(b"general.architecture")
    if not isinstance(architecture, bytes) or not architecture:
        raise ValueError("it names no architecture")
    numbers = 0
    for _ in range(tensors):
        reader.string()
        shape = [reader.number("Q") for _ in range(min(reader.number("I"), 9))]
        numbers += math.prod(shape)
        reader.take(12)  # the tensor's type and offset
    return GgufHeader(architecture.decode(errors="replace")[:60], tensors, numbers)
