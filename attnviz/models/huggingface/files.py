"""Where a checkpoint's files are, and whether they may be read at all. Nothing is allocated before that is known."""

import hashlib
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from attnviz.models.huggingface.refusal import ModelError

LIMIT_VARIABLE = "ATTNVIZ_MAX_MODEL_GB"
DEFAULT_LIMIT_GB = 8.0
CONFIG, WEIGHTS, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "spiece.model", "tokenizer.model", "source.spm")
_SHARD = re.compile(r"model-\d+-of-\d+\.safetensors")
_KEPT_TEXT = {".json", ".txt", ".model", ".spm"}
_PICKLES = {".bin", ".pt", ".pth", ".ckpt", ".pkl", ".h5", ".msgpack"}

Progress = Callable[[float, str], None]


def size_limit() -> int:
    """Bytes that a model's weights may take, as ATTNVIZ_MAX_MODEL_GB says. Raises ModelError if that is no number."""
    said = os.environ.get(LIMIT_VARIABLE, "").strip()
    try:
        return int(float(said or DEFAULT_LIMIT_GB) * 1e9)
    except (ValueError, OverflowError) as error:
        raise ModelError(f"{LIMIT_VARIABLE}={said!r} is not a number of gigabytes.") from error


def folder_of(model: str | Path, *, limit: int, progress: Progress) -> Path:
    """The local folder of a checkpoint: the one given, or what the hub has under that id. Raises ModelError."""
    path = Path(model).expanduser()
    if path.is_dir():
        return path
    name = str(model)
    if path.exists() or name.startswith((".", "/", "~")) or "\\" in name or name.count("/") > 1:
        raise ModelError(f"There is no folder {name!r}: give the folder of a checkpoint, or a hub id such as gpt2.")
    return _downloaded(name, limit, progress)


def check_folder(folder: Path) -> None:
    """Raises ModelError unless there is a config, a tokenizer, and weights in safetensors."""
    name = folder.name
    if not (folder / CONFIG).is_file():
        raise ModelError(f"There is no {CONFIG} in {name!r}: give the folder of a checkpoint.")
    if not (folder / WEIGHTS).is_file() and not (folder / INDEX).is_file():
        raise ModelError(_no_weights(name, [path.name for path in folder.iterdir()]))
    if not any((folder / file).is_file() for file in TOKENIZERS):
        raise ModelError(f"There is no tokenizer in {name!r}: its folder needs a tokenizer.json.")


def weight_files(folder: Path) -> tuple[Path, ...]:
    """The safetensors files that hold the weights, in order. Raises ModelError for a broken index."""
    if (folder / WEIGHTS).is_file():
        return (folder / WEIGHTS,)
    try:
        names = set(read_json(folder / INDEX)["weight_map"].values())
        paths = [folder / name for name in sorted(names)]
    except (KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{INDEX} in {folder.name!r} names no files.") from error
    if wrong := [path.name for path in paths if path.parent != folder or not path.is_file()]:
        raise ModelError(f"{INDEX} in {folder.name!r} names {wrong[0]!r}, which is not there.")
    return tuple(paths)


def count_numbers(files: tuple[Path, ...]) -> tuple[int, int]:
    """How many tensors the files hold, and how many numbers in all, read from their headers."""
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
    """Raises ModelError when the weights would take more than `limit` bytes."""
    if numbers * bytes_each > limit:
        raise ModelError(_too_large(numbers * bytes_each, limit))


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object. Raises ModelError for anything else."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError) as error:
        raise ModelError(f"{path.name} in {path.parent.name!r} cannot be read as JSON ({error}).") from error
    if not isinstance(content, dict):
        raise ModelError(f"{path.name} in {path.parent.name!r} does not hold a JSON object.")
    return content


def weights_id(files: tuple[Path, ...]) -> str:
    """Twelve hexadecimal digits that change whenever the weights do."""
    digest = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:12]


def _downloaded(name: str, limit: int, progress: Progress) -> Path:
    """A snapshot of a hub repository, after its files' names and sizes were looked at."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import GatedRepoError, HFValidationError, RepositoryNotFoundError

    progress(0.0, f"Asking the hub for {name}")
    try:
        info = HfApi().model_info(name, files_metadata=True)
        sizes = _wanted({file.rfilename: file.size or 0 for file in info.siblings or ()})
        _check_listing(name, sizes, [file.rfilename for file in info.siblings or ()])
        numbers = getattr(getattr(info, "safetensors", None), "total", None) or 0
        check_size(max(numbers, sum(sizes[file] for file in sizes if file.endswith(".safetensors")) // 4), 4, limit)
        return _fetched(name, info.sha, sizes, progress)
    except HFValidationError as error:
        raise ModelError(f"{name!r} is neither a folder nor a hub id such as gpt2 or bert-base-cased.") from error
    except GatedRepoError as error:
        raise ModelError(
            f"{name!r} on the hub is only for those who were let in: download it, give the folder."
        ) from error
    except RepositoryNotFoundError as error:
        raise ModelError(f"There is no folder {name!r} here, and no public model of that name on the hub.") from error
    except ModelError:
        raise
    except Exception as error:  # whatever the network does: the copy of an earlier download is as good
        return _kept(name, error)


def _fetched(name: str, revision: str | None, sizes: dict[str, int], progress: Progress) -> Path:
    """Download file after file, so that it can be said how far it is; the folder that they lie in."""
    from huggingface_hub import hf_hub_download

    total, done, path = max(1, sum(sizes.values())), 0, Path()
    for file, size in sorted(sizes.items(), key=lambda entry: entry[1]):
        progress(0.3 * done / total, f"Downloading {file} ({size / 1e6:,.1f} MB)")
        path, done = Path(hf_hub_download(name, file, revision=revision)), done + size
    return path.parent


def _wanted(sizes: dict[str, int]) -> dict[str, int]:
    """The files of a repository that are read: one set of weights, and what config and tokenizer need."""
    texts = {file: size for file, size in sizes.items() if "/" not in file and Path(file).suffix in _KEPT_TEXT}
    if WEIGHTS in sizes:
        return texts | {WEIGHTS: sizes[WEIGHTS]}
    return texts | {file: size for file, size in sizes.items() if _SHARD.fullmatch(file)}


def _kept(name: str, error: Exception) -> Path:
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, local_files_only=True))
    except Exception:  # many kinds, one meaning: it is not here
        raise ModelError(
            f"There is no folder {name!r} here, and the hub could not be asked for it ({type(error).__name__}): "
            "check the network, or give a local folder."
        ) from error


def _check_listing(name: str, sizes: dict[str, int], files: list[str]) -> None:
    if WEIGHTS not in sizes and INDEX not in sizes:
        raise ModelError(_no_weights(name, files))


def _no_weights(name: str, files: list[str]) -> str:
    pickles = sorted(file for file in files if Path(file).suffix in _PICKLES)
    if pickles:
        return (
            f"{name!r} holds its weights as {pickles[0]}, which can run code and is not read: save them as {WEIGHTS}."
        )
    return f"There is no {WEIGHTS} in {name!r}."


def _too_large(size: int, limit: int) -> str:
    return (
        f"The model's weights take {size / 1e9:.2g} GB in float32; up to {limit / 1e9:.2g} GB are loaded here "
        f"({LIMIT_VARIABLE} sets the limit)."
    )
