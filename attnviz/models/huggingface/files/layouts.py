"""Folders beside a checkpoint's own: recognise them, and read them or say what to give instead."""

import json
import os
import re
from pathlib import Path

from attnviz.models.huggingface.errors import ModelError
from attnviz.text import plain_file

_CONFIG, _ADAPTER, _MODULES = "config.json", "adapter_config.json", "modules.json"
_OF_TRAINER = re.compile(r"checkpoint-(\d+)")
_OLD_HOME = "0_Transformer"  # of the model itself, as sentence-transformers once laid it out
_MOST_JSON, _MOST_ENTRIES = 1_000_000, 10_000


def checkpoint_in(folder: Path) -> Path:
    """Return the folder that holds the checkpoint: the one given, or the part of it that older tools put it in.

    Raises ModelError, with what to do, for an adapter alone, for GGUF, and for a folder of a Trainer's checkpoints.
    """
    if (folder / _CONFIG).is_file() and not _is_adapter_alone(folder):
        return folder
    names = _names(folder)
    if said := other_format(folder.name, names, base=_base_of(folder)):
        raise ModelError(said)
    inner = folder / _OLD_HOME
    if not (folder / _CONFIG).is_file() and _MODULES in names and (inner / _CONFIG).is_file():
        return inner
    steps = sorted(
        (int(found[1]), name)
        for name in names
        if (found := _OF_TRAINER.fullmatch(name)) and len(name) < 40 and (folder / name / _CONFIG).is_file()
    )
    if steps:
        raise ModelError(
            f"{folder.name!r} holds {len(steps)} checkpoints of a Trainer. Give one of them, such as "
            f"{folder.name}/{steps[-1][1]}, the last."
        )
    return folder


def other_format(name: str, files: list[str], *, base: str = "") -> str | None:
    """Write the sentence on files that are no checkpoint of transformers: an adapter alone, GGUF; None for
    any other.
    """
    if _ADAPTER in files and not any(file.startswith("model") and file.endswith(".safetensors") for file in files):
        of = f" to {base!r}" if base else ""
        return (
            f"{name!r} holds an adapter{of} (PEFT), not a model: save the model with the adapter merged in "
            "(merge_and_unload), or hand it to attnviz.load(model, tokenizer) in Python."
        )
    if any(file.endswith(".gguf") for file in files) and not any(file.endswith(".safetensors") for file in files):
        return (
            f"{name!r} is in the GGUF format of llama.cpp, which attnviz does not read. Give the original model in "
            "safetensors."
        )
    return None


def _is_adapter_alone(folder: Path) -> bool:
    weights = ("model.safetensors", "model.safetensors.index.json")
    return (folder / _ADAPTER).is_file() and not any((folder / name).is_file() for name in weights)


def _names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry, _ in zip(entries, range(_MOST_ENTRIES), strict=False)]
    except OSError:
        return []


def _base_of(folder: Path) -> str:
    """Return the model that an adapter belongs to, as its config says; "" where that cannot be read."""
    try:
        said = json.loads(plain_file.content(folder / _ADAPTER, most=_MOST_JSON))["base_model_name_or_path"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ""
    return said.rpartition("/")[2][:80] if isinstance(said, str) else ""
