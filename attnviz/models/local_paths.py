"""Whether a model's name stands for a place on this machine. Names come from links: any text may be one."""

from pathlib import Path


def place(model: str | Path) -> Path | None:
    """The file or folder that a name stands for, `~` being somebody's home; None where there is none.

    A name that is too long for one, the home of nobody and what may not be looked into are none, too.
    """
    try:
        path = Path(model).expanduser()
        return path if path.exists() else None
    except (OSError, RuntimeError, ValueError):
        return None


def folder(model: str | Path) -> Path | None:
    """The folder that a name stands for; None where there is none, or where it is a file."""
    path = place(model)
    return path if path is not None and path.is_dir() else None
