"""Which models there are, and how to get one by name or folder. Reading the list needs no torch."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attnviz.models.translator import Translator

SHIPPED = Path(__file__).parents[2] / "assets" / "models"
DEFAULT = "translator-en-fr-zh"


@dataclass(frozen=True)
class Entry:
    """A model that can be chosen: its name, its folder, a title for people and the languages it writes.

    `start` is the head that is shown first (`{"kind": …, "layer": …, "head": …}`).
    """

    name: str
    folder: Path
    title: str
    languages: tuple[str, ...]
    start: dict[str, Any] = field(default_factory=dict)


def entries() -> tuple[Entry, ...]:
    """The shipped models, the default first."""
    found = [_entry(path.parent) for path in sorted(SHIPPED.glob("*/config.json"))]
    return tuple(sorted(found, key=lambda entry: entry.name != DEFAULT))


def other(name: str) -> Entry:
    """A model that is not shipped: the folder or hub id of a checkpoint, not looked at yet."""
    return Entry(name, Path(name), Path(name).name or name, ())


def load(model: str | Path = DEFAULT, *, device: str | None = None, dtype: str | None = None) -> "Translator":
    """A model by its name in the catalogue or by its folder.

    `device` and `dtype` are names such as "cpu", "cuda", "float32"; left out, the best there is, or what
    ATTNVIZ_DEVICE and ATTNVIZ_DTYPE say. Raises CheckpointError (a ValueError) with one sentence.
    """
    from attnviz.models.translator import Translator
    from attnviz.transformer.checkpoint import CheckpointError
    from attnviz.transformer.device import choose_device, choose_dtype

    folder = next((entry.folder for entry in entries() if entry.name == str(model)), Path(model))
    if not folder.is_dir():
        names = ", ".join(entry.name for entry in entries()) or "none is shipped"
        raise CheckpointError(f"There is no model {str(model)!r}: give a folder, or one of the shipped ones ({names}).")
    chosen = choose_device(device)
    return Translator.load(folder, device=chosen, dtype=choose_dtype(dtype, device=chosen))


def _entry(folder: Path) -> Entry:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    about = config.get("about", {})
    languages = tuple(about.get("languages", ()))
    return Entry(folder.name, folder, about.get("title", folder.name), languages, about.get("start", {}))
