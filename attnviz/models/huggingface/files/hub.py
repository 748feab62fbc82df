"""Download from the Hugging Face hub: check names and sizes first, then fetch one set of weights.

A complete earlier download is used without asking the hub.
"""

import re
from pathlib import Path
from threading import Thread
from typing import Any

from attnviz.models.huggingface.errors import ModelError
from attnviz.models.huggingface.files.folder import (
    INDEX,
    WEIGHTS,
    Progress,
    check_folder,
    check_size,
    no_weights,
    weight_files,
)

PATIENCE = 10.0  # seconds to wait for the hub's list of files
_SHARD = re.compile(r"model-\d+-of-\d+\.safetensors")
_KEPT_TEXT = {".json", ".txt", ".model", ".spm", ".jinja"}
_KEPT_NAMES = {"README.md", "LICENSE"}  # files about the origin of a model
_MOST_TEXT, _MOST_TEXTS = 50_000_000, 200_000_000  # bytes of one file and of all; a weights index may take 50 MB


def download(name: str, limit: int, progress: Progress) -> Path:
    """Return the folder of a repository's snapshot: a complete earlier one, or a new download after checking the files.

    Raises ModelError.
    """
    if (here := _cached_snapshot(name)) is not None:
        return here
    from huggingface_hub.errors import GatedRepoError, HFValidationError, RepositoryNotFoundError

    progress(0.0, f"Looking up {name} on the hub")
    try:
        info = _request_listing(name)
        sizes = _files_to_fetch({file.rfilename: file.size or 0 for file in info.siblings or ()})
        _check_listing(name, sizes, [file.rfilename for file in info.siblings or ()])
        numbers = getattr(getattr(info, "safetensors", None), "total", None) or 0
        check_size(max(numbers, sum(sizes[file] for file in sizes if file.endswith(".safetensors")) // 4), 4, limit)
        return _download_files(name, info.sha, sizes, progress)
    except HFValidationError as error:
        raise ModelError(f"{name!r} is neither a folder nor a hub id such as gpt2 or bert-base-cased.") from error
    except GatedRepoError as error:
        raise ModelError(
            f"You need permission to download {name!r} from the hub. Please download it yourself and pass the folder."
        ) from error
    except RepositoryNotFoundError as error:
        raise ModelError(
            f"There is no folder {name!r} on this machine, and the hub has no public model with this "
            "name. Please check the name."
        ) from error
    except ModelError:
        raise
    except Exception as error:  # any network error
        raise ModelError(
            f"There is no folder {name!r} on this machine, and the hub could not be reached "
            f"({type(error).__name__}). Please check the network, or pass a local folder."
        ) from error


def _request_listing(name: str) -> Any:
    """Ask the hub for a repository's files, and give up after `PATIENCE` even if the answer arrives byte by byte."""
    from huggingface_hub import HfApi

    found: list[Any] = []

    def ask() -> None:
        try:
            found.append(HfApi().model_info(name, files_metadata=True, timeout=PATIENCE))
        except Exception as error:
            found.append(error)

    asking = Thread(target=ask, daemon=True)
    asking.start()
    asking.join(PATIENCE)
    if not found:
        raise TimeoutError
    if isinstance(found[0], Exception):
        raise found[0]
    return found[0]


def _download_files(name: str, revision: str | None, sizes: dict[str, int], progress: Progress) -> Path:
    """Download one file after another, to report progress between them; return their folder."""
    from huggingface_hub import hf_hub_download

    total, done, path = max(1, sum(sizes.values())), 0, Path()
    for file, size in sorted(sizes.items(), key=lambda entry: entry[1]):
        progress(0.3 * done / total, f"Downloading {file} ({size / 1e6:,.1f} MB)")
        path, done = Path(hf_hub_download(name, file, revision=revision)), done + size
    return path.parent


def _files_to_fetch(sizes: dict[str, int]) -> dict[str, int]:
    """Return the files of a repository to download: one set of weights, and the files of config and tokenizer.

    Config and tokenizer files are recognized by their ending, because a tokenizer's files have many names. A file that
    is too large for them, such as a data table or a log, is skipped.
    """
    kept = (file for file in sizes if "/" not in file and (Path(file).suffix in _KEPT_TEXT or file in _KEPT_NAMES))
    texts = {file: sizes[file] for file in kept if sizes[file] <= _MOST_TEXT}
    if (total := sum(texts.values())) > _MOST_TEXTS:
        raise ModelError(
            f"The files of this model, without its weights, take {total / 1e6:,.0f} MB on the hub, but "
            f"attnviz downloads at most {_MOST_TEXTS / 1e6:,.0f} MB of such files. Please download the "
            "model yourself and pass its folder."
        )
    if WEIGHTS in sizes:
        return texts | {WEIGHTS: sizes[WEIGHTS]}
    return texts | {file: size for file, size in sizes.items() if _SHARD.fullmatch(file)}


def _cached_snapshot(name: str) -> Path | None:
    """Return the folder of an earlier download if it is complete, otherwise None."""
    from huggingface_hub import snapshot_download

    try:
        folder = Path(snapshot_download(name, local_files_only=True))
        check_folder(folder)
        weight_files(folder)
    except Exception:  # any error means that there is no complete copy
        return None
    return folder


def _check_listing(name: str, sizes: dict[str, int], files: list[str]) -> None:
    if WEIGHTS not in sizes and INDEX not in sizes:
        raise ModelError(no_weights(name, files))
