"""Check the files in a checkpoint's folder before memory is allocated; a refusal says what to give instead."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from attnviz.guards import plain_file
from attnviz.models.huggingface.errors import ModelError
from attnviz.models.huggingface.files.gguf import ENDING, only_gguf

LIMIT_VARIABLE = "ATTNVIZ_MAX_MODEL_GB"
DEFAULT_LIMIT_GB = 8.0
CONFIG, WEIGHTS, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
TOKENIZERS = (
    "tokenizer.json", "vocab.txt", "vocab.json", "spiece.model", "spm.model", "sentencepiece.model",
    "sentencepiece.bpe.model", "tokenizer.model", "source.spm", "target.spm",
)  # fmt: skip
PROCESSORS = ("preprocessor_config.json", "processor_config.json")  # settings of an image processor
_TOKENIZER_CONFIG = "tokenizer_config.json"
_ADAPTER, _MODULES = "adapter_config.json", "modules.json"
_OF_TRAINER = re.compile(r"checkpoint-(\d+)")
_OLD_HOME = "0_Transformer"  # subfolder of the model in old sentence-transformers checkpoints
_MOST_ADAPTER = 1_000_000  # bytes
_MEGABYTES = {CONFIG: 5, INDEX: 50} | dict.fromkeys(PROCESSORS, 5) | dict.fromkeys(TOKENIZERS, 40)  # Gemma's takes 34
_READ_WHOLE = {".json", ".txt", ".model", ".spm", ".jinja", ".jsonl"}
_MOST_TEXT, _MOST_ENTRIES = 50_000_000, 10_000
_PICKLES = {".bin", ".pt", ".pth", ".ckpt", ".pkl", ".h5", ".msgpack"}

Progress = Callable[[float, str], None]


def size_limit() -> int:
    """Return the most bytes that a model's weights may take, from ATTNVIZ_MAX_MODEL_GB.

    Raises ModelError if that is not a number.
    """
    said = os.environ.get(LIMIT_VARIABLE, "").strip()
    try:
        return int(float(said or DEFAULT_LIMIT_GB) * 1e9)
    except (ValueError, OverflowError) as error:
        raise ModelError(f"{LIMIT_VARIABLE}={said!r} is not a number of gigabytes.") from error


def check_folder(folder: Path) -> None:
    """Raise ModelError unless the folder has a config, weights in safetensors, and a tokenizer.

    A model that reads images may have the settings of an image processor instead of a tokenizer.
    """
    name = folder.name
    _check_entries(folder)
    if not (folder / CONFIG).is_file():
        raise ModelError(f"There is no {CONFIG} in {name!r}. Please pass the folder of a checkpoint.")
    read_json(folder / CONFIG)  # raises an error for a broken config, before anything else is reported as missing
    if not (folder / WEIGHTS).is_file() and not (folder / INDEX).is_file():
        raise ModelError(no_weights(name, [path.name for path in folder.iterdir()]))
    if not _may_read_images(folder):
        check_tokenizer(folder)
    for file, most in _MEGABYTES.items():
        if (folder / file).is_file() and (size := (folder / file).stat().st_size) > most * 1e6:
            raise ModelError(f"{file} in {name!r} takes {size / 1e6:,.0f} MB; up to {most} MB are read.")


def check_tokenizer(folder: Path) -> None:
    """Raise ModelError if the folder has no tokenizer."""
    if not any((folder / file).is_file() for file in TOKENIZERS) and not _reads_bytes(folder):
        raise ModelError(f"There is no tokenizer in {folder.name!r}: its folder needs a tokenizer.json.")


def _may_read_images(folder: Path) -> bool:
    """Check whether a folder's model may read images: its config has a patch size, or there is an image processor."""
    said = read_json(folder / CONFIG)
    has_grid = any(key in said for key in ("patch_size", "image_size", "vision_config"))
    return has_grid or any((folder / file).is_file() for file in PROCESSORS)


def _reads_bytes(folder: Path) -> bool:
    """Check whether a folder's tokenizer is ByT5's, which reads bytes and needs no vocabulary file."""
    said = folder / _TOKENIZER_CONFIG
    return said.is_file() and read_json(said).get("tokenizer_class") == "ByT5Tokenizer"


def _check_entries(folder: Path) -> None:
    """Raise ModelError for an entry that is neither a plain file nor a folder, for a too large text file, and for too
    many files.

    transformers opens a dozen files by fixed names, without checking what they are.
    """
    try:
        with os.scandir(folder) as entries:
            for count, entry in enumerate(entries):
                if count >= _MOST_ENTRIES:
                    raise ModelError(
                        f"The folder {folder.name!r} contains more than {_MOST_ENTRIES:,} files, so "
                        "attnviz does not read it. Please pass the folder of a single checkpoint."
                    )
                if not entry.is_file() and not entry.is_dir():
                    raise ModelError(f"{entry.name!r} in {folder.name!r} is not a plain file, so it is not read.")
                if Path(entry.name).suffix in _READ_WHOLE and entry.is_file() and entry.stat().st_size > _MOST_TEXT:
                    raise ModelError(f"{entry.name} in {folder.name!r} is larger than {_MOST_TEXT / 1e6:,.0f} MB.")
    except OSError as error:
        raise ModelError(f"attnviz has no permission to read the folder {folder.name!r}.") from error


def weight_files(folder: Path) -> tuple[Path, ...]:
    """Return the safetensors files that hold the weights, in order. Raises ModelError for a broken index."""
    if (folder / WEIGHTS).is_file():
        return (folder / WEIGHTS,)
    try:
        index = read_json(folder / INDEX)
        names = set(index["weight_map"].values())
        paths = [folder / name for name in sorted(names)]
    except (KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{INDEX} in {folder.name!r} names no files.") from error
    if wrong := [path.name for path in paths if path.parent != folder or not path.is_file()]:
        raise ModelError(f"{INDEX} in {folder.name!r} refers to the file {wrong[0]!r}, which is missing.")
    if not isinstance(index.get("metadata"), dict):
        raise ModelError(f"{INDEX} in {folder.name!r} has no metadata, but transformers needs metadata to load it.")
    return tuple(paths)


def _check_headers(files: tuple[Path, ...]) -> None:
    """Raise ModelError if the headers of safetensors files are longer, or name more tensors, than those of
    real models.
    """
    tensors = 0
    for path in files:
        try:
            tensors += plain_file.count_tensors(path)
        except OSError as error:
            raise ModelError(f"attnviz has no permission to read {path.name}.") from error
        except ValueError as error:
            raise ModelError(f"{path.name} is not read: {error}.") from error
    if tensors > plain_file.MOST_TENSORS:
        raise ModelError(f"The weights name {tensors:,} tensors; up to {plain_file.MOST_TENSORS:,} are read.")


def count_numbers(files: tuple[Path, ...]) -> tuple[int, int]:
    """Return the number of tensors and of parameters in the files, from their headers. Raises ModelError."""
    _check_headers(files)
    tensors = numbers = 0
    for path in files:
        try:
            with safe_open(path, framework="pt") as file:
                for name in file.keys():  # noqa: SIM118 - the file is no dict
                    size = 1
                    for length in file.get_slice(name).get_shape():
                        size *= length
                    tensors, numbers = tensors + 1, numbers + size
        except (SafetensorError, OSError) as error:
            raise ModelError(f"{path.name} is not a safetensors file, or is cut short ({error}).") from error
    return tensors, numbers


def check_size(numbers: int, bytes_each: int, limit: int) -> None:
    """Raise ModelError if the weights would take more than `limit` bytes."""
    if numbers * bytes_each > limit:
        raise ModelError(_too_large(numbers * bytes_each, limit))


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object. Raises ModelError for anything else."""
    try:
        content = json.loads(plain_file.content(path, most=_MEGABYTES.get(path.name, 5) * 1_000_000))
    except (ValueError, OSError, RecursionError) as error:
        raise ModelError(f"{path.name} in {path.parent.name!r} cannot be read as JSON ({error}).") from error
    if not isinstance(content, dict):
        raise ModelError(f"{path.name} in {path.parent.name!r} does not contain a JSON object.")
    return content


def no_weights(name: str, files: list[str]) -> str:
    """Return the error message for a checkpoint without weights that can be read."""
    if said := other_format(name, files):
        return said
    pickles = sorted(file for file in files if Path(file).suffix in _PICKLES)
    if pickles:
        return (
            f"The weights of {name!r} are in {pickles[0]}. attnviz does not read such files, because "
            f"they can run code. Please save the weights as {WEIGHTS}."
        )
    return f"There is no {WEIGHTS} in {name!r}."


def _too_large(size: int, limit: int) -> str:
    return (
        f"The model's weights take {size / 1e9:.2g} GB in float32; up to {limit / 1e9:.2g} GB are loaded here "
        f"({LIMIT_VARIABLE} sets the limit)."
    )


def checkpoint_in(folder: Path) -> Path:
    """Return the folder that holds the checkpoint: the given one, or the subfolder that older tools used.

    If the folder's only weights are one GGUF file, return that file. Raises ModelError, with what to do, for an adapter
    without its model, for several GGUF files, and for a folder that holds a Trainer's checkpoints.
    """
    names = _names(folder)
    if _holds_gguf(names) and _ADAPTER not in names:
        return only_gguf(folder, names)
    if (folder / CONFIG).is_file() and not _is_adapter_alone(folder):
        return folder
    if said := other_format(folder.name, names, base=_base_of(folder)):
        raise ModelError(said)
    inner = folder / _OLD_HOME
    if not (folder / CONFIG).is_file() and _MODULES in names and (inner / CONFIG).is_file():
        return inner
    steps = sorted(
        (int(found[1]), name)
        for name in names
        if (found := _OF_TRAINER.fullmatch(name)) and len(name) < 40 and (folder / name / CONFIG).is_file()
    )
    if steps:
        raise ModelError(
            f"{folder.name!r} contains {len(steps)} checkpoints of a Trainer. Please pass one of them, "
            f"such as the last one, {folder.name}/{steps[-1][1]}."
        )
    return folder


def other_format(name: str, files: list[str], *, base: str = "") -> str | None:
    """Return the error message for files that are not a transformers checkpoint: an adapter alone, or GGUF files.

    Return None for any other files.
    """
    if _ADAPTER in files and not any(file.startswith("model") and file.endswith(".safetensors") for file in files):
        of = f" to {base!r}" if base else ""
        return (
            f"{name!r} contains an adapter{of} (PEFT), not a model. Please save the model with the "
            "adapter merged in (merge_and_unload), or pass it to attnviz.load(model, tokenizer) in "
            "Python."
        )
    if _holds_gguf(files):
        return (
            f"The weights of {name!r} are in GGUF files. Please download one of these files, and pass the "
            "path of the file."
        )
    return None


def _holds_gguf(files: list[str]) -> bool:
    """Check whether the files include GGUF files and no safetensors weights."""
    return any(file.endswith(ENDING) for file in files) and not any(file.endswith(".safetensors") for file in files)


def _is_adapter_alone(folder: Path) -> bool:
    return (folder / _ADAPTER).is_file() and not any((folder / name).is_file() for name in (WEIGHTS, INDEX))


def _names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry, _ in zip(entries, range(_MOST_ENTRIES), strict=False)]
    except OSError:
        return []


def _base_of(folder: Path) -> str:
    """Return the name of the model that an adapter belongs to, from its config; "" if it cannot be read."""
    try:
        said = json.loads(plain_file.content(folder / _ADAPTER, most=_MOST_ADAPTER))["base_model_name_or_path"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ""
    return said.rpartition("/")[2][:80] if isinstance(said, str) else ""
