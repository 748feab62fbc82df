"""What an .npz archive may hold, and what is raised where one is damaged, or made to do harm."""

import io
import lzma
import math
import tokenize
import zipfile
import zlib

import numpy as np

# What unpacking raises, each seen in tests: another checksum or a broken local header (BadZipFile), a member that is
# longer than the file (EOFError), a stream that is no deflate, bzip2 or xz (zlib.error, OSError, LZMAError), a password
# or a way of packing that Python does not know (both RuntimeError).
DAMAGED = (zipfile.BadZipFile, EOFError, OSError, zlib.error, lzma.LZMAError, RuntimeError)
# What NumPy raises at a header or a content that is none: its own (ValueError), and those of Python's tokenizer and
# parser, which it lets look at odd headers; brackets within brackets end the parser's memory.
NOT_AN_ARRAY = (ValueError, SyntaxError, tokenize.TokenError, MemoryError)
_READ_HEADER = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def plain_array(content: bytes) -> np.ndarray:
    """The array in a .npy file's content. Raises one of `NOT_AN_ARRAY` for any other content.

    NumPy makes room for what a header says before it reads, so that the header is looked at first.
    """
    file = io.BytesIO(content)
    version = np.lib.format.read_magic(file)
    if version not in _READ_HEADER:
        raise ValueError(f"its format {version[0]}.{version[1]} is another than 1.0 and 2.0")
    shape, _, dtype = _READ_HEADER[version](file)
    if any(type(length) is not int or length < 0 for length in shape):
        raise ValueError(f"its shape is {shape}")
    # Cells without any width would take no room in the file, however many there are.
    if dtype.hasobject or math.prod(shape) * max(dtype.itemsize, 1) > len(content):
        raise ValueError("it holds Python objects, or less than it says")
    return np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
