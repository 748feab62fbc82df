"""Read an .npz archive from an untrusted source, with limits on its size.

Only members that are stored or deflated, as NumPy writes them, are read. The unpacked bytes are counted during reading,
which stops at a limit, because the sizes in the archive's directory cannot be trusted.
"""

import io
import math
import struct
import sys
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

# Errors that unpacking raises, each seen in tests: a wrong checksum or a broken local header (BadZipFile), a member
# that is longer than the file (EOFError), a stream that is not deflate (zlib.error, OSError), a password or a
# compression that Python does not support (both RuntimeError), a directory that ends inside a number (struct.error).
DAMAGED = (zipfile.BadZipFile, EOFError, OSError, zlib.error, RuntimeError, struct.error)
# Errors that NumPy raises for an invalid header or content: its own (ValueError), and those of Python's tokenizer and
# parser, to which NumPy passes unusual headers. Deeply nested brackets exhaust the parser's memory, and numbers with
# very many digits overflow.
NOT_AN_ARRAY = (ValueError, SyntaxError, TypeError, tokenize.TokenError, MemoryError, OverflowError, RecursionError)
MOST_MEMBERS = 10_000  # a saved trace of a hundred layers has a few thousand
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_PIECE = 1 << 20
_POINT = 4  # bytes that NumPy uses for a character
_MOST_AXES, _MOST_HEADER = 8, 1 << 17  # axes of an array, bytes that describe it; NumPy itself reads ten thousand
_READ_HEADER = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
_MEMBER = b"PK\x01\x02"  # precedes each member in the directory


class Archive:
    """Members of an .npz file, unpacked up to `most` bytes in total. Closing the file is left to the caller.

    Raises ValueError if the file is not an archive, has too many members or two with the same name, or if a member is
    encrypted or compressed in a way that NumPy does not use.
    """

    def __init__(self, file: io.BufferedIOBase, *, most: int) -> None:
        self._left, self._most = most, most
        _check_count(file)
        try:
            self._zip = zipfile.ZipFile(file)
        except (*DAMAGED, *NOT_AN_ARRAY) as error:
            raise ValueError(f"it is not an .npz archive ({first_line(error)})") from None
        members = self._zip.infolist()
        names = [member.filename for member in members]
        if len(set(names)) < len(names):
            raise ValueError("two of its members have the same name")
        self._members = {
            name.removesuffix(".npy"): at for name, at in zip(names, members, strict=True) if _is_array(name)
        }

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the arrays."""
        return tuple(self._members)

    def arrays(self, keys: Iterable[str]) -> dict[str, np.ndarray]:
        """Read the arrays with these names. Raises ValueError for the first member that is not an array."""
        return {key: self._read_member(key, lambda member: plain_array(self._unpack_member(member))) for key in keys}

    def texts(self, key: str, *, most: int, longest: int) -> list[str]:
        """Read an array of at most `most` strings, each at most `longest` characters, as a flat list.

        Raises ValueError for any other array. The header is checked before anything is unpacked.
        """
        return self._read_member(key, lambda member: self._texts(member, most, longest))

    def _texts(self, member: zipfile.ZipInfo, most: int, longest: int) -> list[str]:
        _check_packing(member)
        with self._zip.open(member) as stream:
            shape, _, dtype, _ = _header(stream.read(_MOST_HEADER))
        if dtype.kind != "U":
            raise ValueError("it is not a list of strings")
        if math.prod(shape) > most or dtype.itemsize > _POINT * longest:
            raise ValueError(f"it holds more than {most:,} strings, or one of over {longest} characters")
        array = plain_array(self._unpack_member(member)).ravel()
        points = np.frombuffer(array.tobytes(), np.dtype("u4").newbyteorder(dtype.byteorder))
        if (points > sys.maxunicode).any():  # a Python string cannot hold such a character
            raise ValueError("it holds a character that Unicode does not have")
        return array.tolist()

    def _read_member(self, key: str, read: Callable[[zipfile.ZipInfo], Any]) -> Any:
        try:
            return read(self._members[key])
        except _TooLarge:
            raise ValueError(f"it unpacks to more than {self._most >> 20} MB") from None
        except (*DAMAGED, *NOT_AN_ARRAY) as error:
            raise ValueError(f"{key} is not a plain array ({first_line(error)})") from None

    def _unpack_member(self, member: zipfile.ZipInfo) -> bytearray:
        """Unpack a member, counting the bytes that come out, and stop at the archive's limit."""
        _check_packing(member)
        if member.file_size > self._left:  # if the directory is honest, unpacking can be skipped
            raise _TooLarge
        found = bytearray()
        with self._zip.open(member) as stream:
            while piece := stream.read(_PIECE):
                self._left -= len(piece)
                if self._left < 0:
                    raise _TooLarge
                found += piece
        return found


class _TooLarge(Exception):  # noqa: N818 - never seen outside this file
    """The archive unpacks to more than its limit."""


def plain_array(content: bytes | bytearray) -> np.ndarray:
    """Read the array in the content of a .npy file. Raises one of `NOT_AN_ARRAY` for any other content.

    The header is checked first, because NumPy allocates the memory that a header announces before it reads the data.
    """
    shape, by_column, dtype, start = _header(content)
    # Items of zero bytes would take no space in the file, however many the header announces.
    if dtype.hasobject or math.prod(shape) * max(dtype.itemsize, 1) > len(content):
        raise ValueError("it holds Python objects, or less than it says")
    if dtype.names is not None or dtype.subdtype is not None:
        raise ValueError("it holds records, not numbers or strings")
    cells = np.frombuffer(content, dtype, count=math.prod(shape), offset=start)  # shares memory with `content`
    return np.require(cells.reshape(shape, order="F" if by_column else "C"), requirements="A")


def _header(content: bytes | bytearray) -> tuple[tuple[int, ...], bool, np.dtype, int]:
    """Read shape, column order, dtype and the offset of the data from the first bytes of a .npy file.

    Raises one of `NOT_AN_ARRAY` for any other content.
    """
    file = io.BytesIO(memoryview(content)[:_MOST_HEADER])
    version = np.lib.format.read_magic(file)
    if version not in _READ_HEADER:
        raise ValueError(f"its .npy format {version[0]}.{version[1]} is neither 1.0 nor 2.0")
    shape, by_column, dtype = _READ_HEADER[version](file)
    if len(shape) > _MOST_AXES or any(type(length) is not int or length < 0 for length in shape):
        raise ValueError(f"its shape is {str(shape)[:80]}")
    return shape, by_column, dtype, file.tell()


def _check_packing(member: zipfile.ZipInfo) -> None:
    if member.compress_type not in _PACKINGS:
        raise ValueError("it is compressed in another way than deflate")


def _check_count(file: io.BufferedIOBase) -> None:
    """Raise ValueError if the archive has more than `MOST_MEMBERS` members, before `zipfile` makes an object for each.

    This counts the directory's marks in the bytes, because the two counts in the archive itself can be wrong.
    """
    count, tail = 0, b""
    while piece := file.read(_PIECE):
        count += (tail + piece).count(_MEMBER)
        tail = piece[-(len(_MEMBER) - 1) :]
    if count > MOST_MEMBERS:
        raise ValueError(f"it has more than {MOST_MEMBERS:,} members")
    file.seek(0)


def _is_array(name: str) -> bool:
    return name.endswith(".npy")


def first_line(error: Exception) -> str:
    """Return the first line of an error's message, at most 200 characters."""
    return str(error).strip().partition("\n")[0][:200]
