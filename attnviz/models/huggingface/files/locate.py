"""Locate a checkpoint: in a folder of this machine, or on the hub under an id."""

import os
from pathlib import Path

from attnviz.models.huggingface.errors import ModelError
from attnviz.models.huggingface.files.folder import Progress
from attnviz.models.huggingface.files.layouts import checkpoint_in, other_format
from attnviz.models.local_paths import place


def folder_of(model: str | Path, *, limit: int, progress: Progress) -> Path:
    """Return the local folder of a checkpoint: the one given, or the hub's repository with that id. Raises
    ModelError.
    """
    name, path = str(model), place(model)
    if path is not None and path.is_dir():
        if not os.access(path, os.R_OK | os.X_OK):
            raise ModelError(f"The folder {name!r} may not be read here.")
        return checkpoint_in(path)
    if path is not None and (said := other_format(path.name, [path.name])):
        raise ModelError(said)
    if path is not None or name.startswith((".", "/", "~")) or "\\" in name or name.count("/") > 1:
        raise ModelError(f"There is no folder {name!r}: give the folder of a checkpoint, or a hub id such as gpt2.")
    from attnviz.models.huggingface.files.hub import download  # the hub's client is imported with it

    return download(name, limit, progress)
