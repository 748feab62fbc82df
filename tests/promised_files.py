"""The keys of what `attnviz.save` writes, and the files of a checkpoint."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

import attnviz
from attnviz.models.translator.tiny import tiny_translator
from attnviz.toys import shipped
from attnviz.toys.experiment import Experiment
from attnviz.transformer import checkpoint
from tests.earlier.kept import NEWEST


def keys(folder: Path) -> dict[str, list[str]]:
    """List the keys of each kind of file, written in a folder."""
    weights = attnviz.from_tensors(torch.eye(2).expand(1, 2, 2, 2), ["a", "b"])
    return {
        "a saved trace": _saved(attnviz.load().trace("I love you.", to="fr"), folder),
        "saved weights": _saved(weights, folder),
        "a recording": _saved(attnviz.load_recording(shipped.path(Experiment("twice"))), folder),
        "a translator's recording": _saved(attnviz.load_recording(NEWEST / "translator-recording.npz"), folder),
        "a checkpoint": _checkpoint(folder / "checkpoint"),
    }


def _saved(made: Any, folder: Path) -> list[str]:
    attnviz.save(made, folder / "saved.npz")
    with np.load(folder / "saved.npz") as file:
        return sorted(file.files)


def _checkpoint(folder: Path) -> list[str]:
    tiny = tiny_translator()
    checkpoint.save(tiny.model, folder, about={"title": "tiny", "languages": ["fr", "zh"]})
    tiny.codec.save(folder / "tokenizer.json")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    return sorted([*(path.name for path in folder.iterdir()), *(f"config.json: {name}" for name in config)])
