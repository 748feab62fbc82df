"""Files of others, opened so that nothing else than a plain file is waited for, and no more of one is read than said.

A folder that somebody names may hold anything under any name: a pipe that nobody writes to holds a thread for ever, a
device may never end.
"""

import os
import stat
from io import BufferedReader
from pathlib import Path


def opened(path: Path) -> BufferedReader:
    """A plain file, to be read. Raises OSError for what cannot be opened, and for anything but a plain file.

    It is looked at twice, because it may have become another thing between the look and the opening.
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
    """All of a plain file. Raises OSError as `opened` does, ValueError for more than `most` bytes: those are counted,
    whatever size the file is said to have.
    """
    with opened(path) as file:
        found = file.read(most + 1)
    if len(found) > most:
        raise ValueError(f"it is larger than {most / 1e6:,.0f} MB")
    return found


def _require_plain(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(f"{path.name} is not a plain file")


def require_place(path: str | Path) -> None:
    """Raises ValueError where no file can be written: its folder is not there, or it is one itself."""
    path = Path(path)
    if not path.parent.is_dir():
        raise ValueError(f"There is no folder {str(path.parent)!r} to write {path.name} to.")
    if path.is_dir():
        raise ValueError(f"{str(path)!r} is a folder: give the name of a file in it, such as trace.npz.")
