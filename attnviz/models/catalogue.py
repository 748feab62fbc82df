"""The list of models, and loading a model by name or folder. Reading the list does not need torch."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from attnviz.extras import needs
from attnviz.guards import plain_file
from attnviz.guards.arguments import reads_arguments
from attnviz.models import local_paths, towers
from attnviz.places import ASSETS, require_files

if TYPE_CHECKING:
    import torch

    from attnviz.models.huggingface import HuggingFaceModel, ReplayedModel
    from attnviz.models.huggingface.images.image_model import ImageModel
    from attnviz.models.protocol import LoadedModel
    from attnviz.models.toy.image_toy import ImageToy
    from attnviz.models.toy.toy import Toy
    from attnviz.models.translator.translator import Translator
    from attnviz.toys.recording import Recording

SHIPPED = ASSETS / "models"
_MOST_CONFIG = 5_000_000  # bytes
DEFAULT = "translator-en-de-es-fr-zh"
RECORDING = ".npz"
TOY = "toy:"  # prefix for the name of a shipped experiment, such as toy:french-without-causal-mask

Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class Entry:
    """An entry of the list of models: its name, its folder, a title to show, and the languages it writes.

    `start` is the head that is shown first (`{"kind": …, "layer": …, "head": …}`). `reads` are measurements of the
    sentences that the model can read (`attnviz.models.translator.reading_notes`).
    """

    name: str
    folder: Path
    title: str
    languages: tuple[str, ...]
    start: dict[str, Any] = field(default_factory=dict)
    reads: dict[str, Any] = field(default_factory=dict)


def entries() -> tuple[Entry, ...]:
    """Return the shipped models, the default one first; folders that hold anything else are skipped."""
    return _entries(SHIPPED)


@lru_cache(maxsize=4)
def _entries(shipped: Path) -> tuple[Entry, ...]:
    """Read the list of shipped models once, because it never changes and every page needs it several times."""
    found = [entry for path in sorted(shipped.glob("*/config.json")) if (entry := _entry(path.parent))]
    return tuple(sorted(found, key=lambda entry: entry.name != DEFAULT))


def unshipped_entry(name: str) -> Entry:
    """Return an entry for the folder or hub id of a checkpoint, without reading the checkpoint."""
    title = Path(towers.whole_name(name)).name or name
    return Entry(name, Path(name), f"{title} (text)" if towers.is_text_tower(name) else title, ())


if TYPE_CHECKING:
    Device = str | torch.device | None
    Dtype = str | torch.dtype | None


@overload
def load(*, device: "Device" = None, dtype: "Dtype" = None, progress: Progress | None = None) -> "Translator": ...
@overload
def load(model: "Recording", /) -> "Toy": ...  # of the task "digits" an ImageToy
@overload
def load(
    model: "str | Path", *, device: "Device" = None, dtype: "Dtype" = None, progress: Progress | None = None
) -> "LoadedModel": ...
@overload
def load(
    model: Any, tokenizer: Any, *, device: "Device" = None, dtype: "Dtype" = None,
    progress: Progress | None = None,
) -> "HuggingFaceModel | ReplayedModel | ImageModel": ...  # fmt: skip
@reads_arguments
def load(
    model: "Recording | Any" = DEFAULT,
    tokenizer: Any = None,
    *,
    device: "str | torch.device | None" = None,
    dtype: "str | torch.dtype | None" = None,
    progress: Progress | None = None,
) -> "LoadedModel":
    """Load a model.

    `model` is a name in the catalogue, a folder, a Hugging Face hub id, a transformers model in memory (with its
    tokenizer or its image processor), or a toy's recording (`attnviz.learn`) or its file. A toy runs on the CPU in
    float32.

    `device` and `dtype` are torch's objects or their names, such as "cpu", "cuda", "float32". By default they come from
    ATTNVIZ_DEVICE and ATTNVIZ_DTYPE, or are the best available; a model in memory keeps its own. `progress(share,
    what)` is called with the share loaded so far, 0 to 1. A vision model's folder may be given with an image processor,
    which then prepares images in place of the folder's own. A model of images and texts, such as CLIP, is opened as its
    vision tower; `#text` behind its name, or a tokenizer given with a model in memory, opens its text tower.
    transformers is imported only for a checkpoint in its format. Raises ValueError with a message of one sentence:
    CheckpointError for an attnviz checkpoint, ModelError for a transformers checkpoint.
    """
    from attnviz.transformer.device import choose_device, choose_dtype

    if (toy := _toy(model)) is not None:
        return toy
    device, dtype = _torch_name(device), _torch_name(dtype)
    model = Path(model) if isinstance(model, os.PathLike) else model
    if not isinstance(model, str | Path):
        return _from_memory(model, tokenizer, device, dtype)
    if tokenizer is not None and (model == DEFAULT or is_translator(model)):
        raise ValueError(
            "Please pass a tokenizer only together with a model in memory. A folder or a hub id brings "
            "its own tokenizer."
        )
    if model == DEFAULT:
        require_files()  # the default model is shipped, never downloaded
    if is_translator(model):
        return translator(model, device=device, dtype=dtype)
    chosen = choose_device(device)
    with needs("huggingface", "A checkpoint of transformers"):
        from attnviz.models.huggingface import load as load_checkpoint
    return load_checkpoint(
        model, device=chosen, dtype=choose_dtype(dtype, device=chosen), progress=progress, processor=tokenizer
    )


def _from_memory(
    model: Any, tokenizer: Any, device: str | None, dtype: str | None
) -> "HuggingFaceModel | ReplayedModel | ImageModel":
    if not any(hasattr(model, name) for name in ("config", "modules", "model")):
        raise ValueError(f"A model is given by its name, its folder or its hub id, not as {type(model).__name__}.")
    import torch

    from attnviz.models.huggingface.in_memory import choose_tower, from_memory, unwrap
    from attnviz.transformer.device import choose_device, choose_dtype

    model = choose_tower(unwrap(model), tokenizer)
    place, own = None if device is None else choose_device(device), getattr(model, "device", torch.device("cpu"))
    kind = None if dtype is None else choose_dtype(dtype, device=own)
    return from_memory(model, tokenizer, device=place, dtype=kind)


def _torch_name(choice: Any) -> str | None:
    """Return the name of a torch device or dtype; return a name unchanged."""
    return None if choice is None else str(choice).removeprefix("torch.")


def translator(model: str | Path = DEFAULT, *, device: str | None = None, dtype: str | None = None) -> "Translator":
    """Load a checkpoint in attnviz's own format, like `load`.

    Raises CheckpointError, with a message of one sentence.
    """
    from attnviz.models.translator.translator import Translator
    from attnviz.transformer.checkpoint import CheckpointError
    from attnviz.transformer.device import choose_device, choose_dtype

    folder = _folder(model)
    if folder is None:
        names = ", ".join(entry.name for entry in entries()) or "none is shipped"
        raise CheckpointError(
            f"There is no model {str(model)!r}. Please pass a folder, or one of the shipped ones ({names})."
        )
    chosen = choose_device(device)
    return Translator.load(folder, device=chosen, dtype=choose_dtype(dtype, device=chosen))


def is_translator(model: str | Path) -> bool:
    """Check whether a name or folder is a checkpoint in attnviz's own format; transformers loads all others."""
    folder = _folder(model)
    return folder is not None and _config(folder) is not None


def _toy(model: Any) -> "Toy | ImageToy | None":
    """Return the toy for a recording, a recording's file, or a shipped experiment; None for anything else.

    Raises ValueError for another .npz file, and for a recording without weights.
    """
    if isinstance(model, str) and model.startswith(TOY):
        from attnviz.toys import shipped
        from attnviz.toys.experiment import experiment_named

        model = shipped.path(experiment_named(model.removeprefix(TOY)))
        if not model.is_file():
            raise ValueError(f"No recording {model.name} is included. Train it with attnviz.learn.")
    if isinstance(model, str | os.PathLike):
        path = local_paths.place(model)  # type: ignore[arg-type]
        if path is None or path.suffix != RECORDING or path.is_dir():
            return None
        from attnviz.toys.storage import toy_recording

        recording, name = toy_recording(path), path.stem
    else:
        recording, name = model, ""
    from attnviz.toys.recording import Recording

    return toy_of(recording, name) if isinstance(recording, Recording) else None


def toy_of(recording: "Recording", name: str = "") -> "Toy | ImageToy":
    """Return the model at the end of a toy's recording. Raises ValueError for a recording without weights."""
    if recording.experiment.toy_task.is_image:
        from attnviz.models.toy.image_toy import ImageToy

        return ImageToy.from_recording(recording, name)
    from attnviz.models.toy.toy import Toy

    return Toy.from_recording(recording, name)


def _folder(model: str | Path) -> Path | None:
    """Return a model's folder, or None. A name in the catalogue takes precedence over a folder with the same name."""
    return next((entry.folder for entry in entries() if entry.name == str(model)), None) or local_paths.folder(model)


def _config(folder: Path) -> dict[str, Any] | None:
    """Return the config of a checkpoint in attnviz's own format, or None if the folder holds anything else."""
    try:
        content = json.loads(plain_file.content(folder / "config.json", most=_MOST_CONFIG))
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) and "format_version" in content else None


def _entry(folder: Path) -> Entry | None:
    """Return a model's entry, read from its config, or None if the config does not name the model's languages."""
    said = (_config(folder) or {}).get("about")
    about: dict[str, Any] = said if isinstance(said, dict) else {}
    languages, title, start = about.get("languages"), about.get("title"), about.get("start")
    reads = about.get("reads")
    if not isinstance(languages, list) or not languages or not all(isinstance(code, str) for code in languages):
        return None
    named = title if isinstance(title, str) else folder.name
    start, reads = (said if isinstance(said, dict) else {} for said in (start, reads))
    return Entry(folder.name, folder, named, tuple(languages), start, reads)
