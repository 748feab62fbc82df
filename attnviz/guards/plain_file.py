"""Open untrusted files without waiting for a pipe or a device, and read them up to a limit.

A folder that a visitor names may hold anything: opening a pipe without a writer blocks a thread for ever, and a device
may never end.
"""

import os
import stat
from io import BufferedReader
from pathlib import Path


def open_file(path: Path) -> BufferedReader:
    """Open a plain file for reading. Raises OSError if the path cannot be opened or is not a plain file.

    The kind of file is checked twice, because another process may replace the file between the check and the opening.
    """
    _require_plain(path, path.stat())
    file = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        _require_plain(path, os.fstat(file))
        return os.fdopen(file, "rb")
    except BaseException:
        os.close(file)
        raise


def content(path: Path, *, most: int) -> bytes:
    """Read all of a plain file.

    Raises OSError like `open_file`, and ValueError if the file has more than `most` bytes. The bytes are counted,
    because the size that the system reports may be wrong.
    """
    with open_file(path) as file:
        found = file.read(most + 1)
    if len(found) > most:
        raise ValueError(f"it is larger than {most / 1e6:,.0f} MB")
    return found


MOST_TENSORS = 100_000  # names in the headers of all safetensors files of a model
_MOST_HEADER = 8_000_000  # bytes of one file's header


def count_tensors(path: Path) -> int:
    """Count the tensors that the header of a safetensors file names.

    The count scans the header's bytes, because parsing 600,000 names would take many seconds and 600 MB. A file that is
    not a safetensors file counts as 0. Raises OSError like `open_file`, and ValueError if the header names more tensors
    than any model has.
    """
    with open_file(path) as file:
        length = int.from_bytes(file.read(8), "little")
        if length > os.fstat(file.fileno()).st_size:
            return 0
        if length > _MOST_HEADER:
            raise ValueError(f"its header takes {length / 1e6:,.0f} MB; up to {_MOST_HEADER / 1e6:,.0f} MB are read")
        count = file.read(length).count(b'"data_offsets"')
    if count > MOST_TENSORS:
        raise ValueError(f"it names {count:,} tensors; up to {MOST_TENSORS:,} are read")
    return count


def _require_plain(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(f"{path.name} is not a plain file")


def require_place(path: str | Path, *, such_as: str = "trace.npz") -> None:
    """Check that a file can be written at a path.

    Raises ValueError if the parent folder is missing or the path is a folder.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise ValueError(f"The folder {str(path.parent)!r}, into which {path.name} should be written, does not exist.")
    if path.is_dir():
        raise ValueError(f"{str(path)!r} is a folder. Please pass the path of a file in it, such as {such_as}.")
