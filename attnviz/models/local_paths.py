"""Find models by path on this machine. A name may come from a link, so it can be any text."""

import os
from collections.abc import Iterator
from pathlib import Path

Stamp = tuple[tuple[str, int, int], ...]
_MOST_FILES = 10_000


def place(model: str | Path) -> Path | None:
    """Return the file or folder at a path, with `~` for the home folder; None if it does not exist or cannot be read.

    None also for a name that is too long, and for an unknown user's home.
    """
    try:
        path = Path(model).expanduser()
        return path if path.exists() else None
    except (OSError, RuntimeError, ValueError):
        return None


def folder(model: str | Path) -> Path | None:
    """Return the folder at a path; None if there is none or if it is a file."""
    path = place(model)
    return path if path is not None and path.is_dir() else None


def stamp(model: str | Path) -> Stamp:
    """Return name, size and modification time of a model's file, or of each file in its folder.

    The result changes when a file is rewritten. It is empty for a name without a file or folder, and for one that
    cannot be read.
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
    """Yield the files of a folder, and of the subfolder in which old sentence-transformers checkpoints hold
    the model.
    """
    with os.scandir(where) as entries:
        for entry, _ in zip(entries, range(_MOST_FILES), strict=False):
            if entry.is_file():
                yield entry.name, (found := entry.stat()).st_size, found.st_mtime_ns
            elif entry.name == "0_Transformer" and entry.is_dir(follow_symlinks=False):
                yield from _files(Path(entry.path))
