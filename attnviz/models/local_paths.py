"""Names of models that are paths on this machine. Names come from links: any text may be one."""

import os
from collections.abc import Iterator
from pathlib import Path

Stamp = tuple[tuple[str, int, int], ...]
_MOST_FILES = 10_000


def place(model: str | Path) -> Path | None:
    """Find the file or folder that a name is the path of, `~` being a home; None where neither exists.

    None, too, for a name that is too long, an unknown user's home, and a folder that may not be read.
    """
    try:
        path = Path(model).expanduser()
        return path if path.exists() else None
    except (OSError, RuntimeError, ValueError):
        return None


def folder(model: str | Path) -> Path | None:
    """Find the folder that a name is the path of; None where none exists, or where it is a file."""
    path = place(model)
    return path if path is not None and path.is_dir() else None


def stamp(model: str | Path) -> Stamp:
    """Return the name, size and time of change of a model's file, or of each in its folder: they differ once any is
    rewritten.

    Empty for a name that stands for neither, and for one that may not be read.
    """
    if (where := place(model)) is None:
        return ()
    try:
        if where.is_dir():
            return tuple(sorted(_files(where)))
        return ((where.name, (found := where.stat()).st_size, found.st_mtime_ns),)
    except OSError:
        return ()


def _files(where: Path) -> Iterator[tuple[str, int, int]]:
    """Those of the folder, and of the part in which sentence-transformers once put the model."""
    with os.scandir(where) as entries:
        for entry, _ in zip(entries, range(_MOST_FILES), strict=False):
            if entry.is_file():
                yield entry.name, (found := entry.stat()).st_size, found.st_mtime_ns
            elif entry.name == "0_Transformer" and entry.is_dir(follow_symlinks=False):
                yield from _files(Path(entry.path))
