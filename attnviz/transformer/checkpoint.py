"""Checkpoints on disk: `config.json` and `model.safetensors`. Every shape is checked before anything is allocated."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from attnviz.guards import plain_file
from attnviz.transformer.config import ModelConfig
from attnviz.transformer.transformer import Transformer

FORMAT_VERSION = 1
WEIGHTS, CONFIG = "model.safetensors", "config.json"
MAX_WEIGHTS_BYTES = 4_000_000_000
MAX_CONFIG_BYTES = 1_000_000


class CheckpointError(ValueError):
    """A checkpoint cannot be read; the message says what is wrong with it."""


def save(
    model: Transformer, folder: Path, *, dtype: torch.dtype = torch.float16, about: dict[str, Any] | None = None
) -> None:
    """Write config and weights (in `dtype`) into `folder`, which is created if missing.

    `about` is information for a catalogue of models (plain JSON); `load` ignores it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    config = {"format_version": FORMAT_VERSION, "about": about or {}, "model": model.config.to_dict()}
    (folder / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    weights = {name: tensor.detach().to("cpu", dtype).contiguous() for name, tensor in model.state_dict().items()}
    save_file(weights, folder / WEIGHTS)


def read_config(folder: Path) -> ModelConfig:
    """Read the config of a checkpoint. Raises CheckpointError if it is missing, broken or of another version."""
    try:
        content = json.loads(plain_file.content(folder / CONFIG, most=MAX_CONFIG_BYTES))
        version, sizes = content["format_version"], content["model"]
    except (FileNotFoundError, NotADirectoryError) as error:
        raise CheckpointError(
            f"There is no {CONFIG} in {folder.name!r}. Please pass the folder of an attnviz checkpoint."
        ) from error
    except OSError as error:
        raise _unreadable_error(folder, CONFIG, error) from error
    except KeyError as error:
        raise CheckpointError(f"{CONFIG} in {folder.name!r} is not an attnviz config: it has no {error}.") from error
    except (ValueError, TypeError, RecursionError) as error:  # ValueError includes errors in JSON and UTF-8
        raise CheckpointError(f"{CONFIG} in {folder.name!r} is not an attnviz config ({error}).") from error
    if version != FORMAT_VERSION:
        raise CheckpointError(f"{CONFIG} has format_version {version!r}; this attnviz reads {FORMAT_VERSION}.")
    try:
        return ModelConfig.from_dict(sizes)
    except (ValueError, TypeError) as error:
        raise CheckpointError(f"{CONFIG} in {folder.name!r}: {error}") from error


def load(folder: Path, *, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32) -> Transformer:
    """Load a checkpoint as a model in eval mode. Raises CheckpointError if that is not possible.

    Only safetensors is read, because a pickle can run code. Names and shapes are compared with the config first.
    """
    config, path = read_config(folder), folder / WEIGHTS
    _check_file(folder)
    try:
        with safe_open(path, framework="pt") as file:
            names = list(file.keys())
            model = _empty_model(config, {name: tuple(file.get_slice(name).get_shape()) for name in names})
            weights = {name: _lay_out_by_column(file.get_tensor(name).to(device, dtype)) for name in names}
    except OSError as error:
        raise _unreadable_error(folder, WEIGHTS, error) from error
    except SafetensorError as error:
        raise CheckpointError(
            f"{WEIGHTS} in {folder.name!r} is not a safetensors file, or is cut short ({error}). "
            "Pickled checkpoints (.pt, .bin) are not read, because they can run code."
        ) from error
    model.load_state_dict(weights, assign=True)
    model.embedding.restore_positions(device)
    return model.requires_grad_(False).eval()


def _check_file(folder: Path) -> None:
    """Raise CheckpointError unless the weights are a plain file that can be opened and is not too large."""
    try:
        with plain_file.open_file(folder / WEIGHTS) as file:
            size = os.fstat(file.fileno()).st_size
    except FileNotFoundError as error:
        raise CheckpointError(_no_weights(folder)) from error
    except OSError as error:
        raise _unreadable_error(folder, WEIGHTS, error) from error
    if size > MAX_WEIGHTS_BYTES:
        raise CheckpointError(f"{WEIGHTS} is larger than {MAX_WEIGHTS_BYTES / 1e9:.0f} GB.")
    try:
        plain_file.count_tensors(folder / WEIGHTS)
    except ValueError as error:
        raise CheckpointError(f"{WEIGHTS} in {folder.name!r} is not read: {error}.") from error


def _unreadable_error(folder: Path, name: str, error: OSError) -> CheckpointError:
    """Return an error with the system's message about a file, without the file's path on this machine."""
    return CheckpointError(f"{name} in {folder.name!r} cannot be read ({error.strerror or error}).")


def _lay_out_by_column(weight: torch.Tensor) -> torch.Tensor:
    """Store a matrix column by column, which makes its product with a single row fastest.

    A decoding step spends most of its time reading the weights. On a CPU this layout makes reading 1.3 to 1.6 times as
    fast, and lets `MatVec` read twice as fast again; products with many rows are no slower.
    """
    return weight.t().contiguous().t() if weight.dim() == 2 and weight.device.type == "cpu" else weight


def _no_weights(folder: Path) -> str:
    pickles = sorted(path.name for path in folder.iterdir() if path.suffix in {".pt", ".pth", ".bin", ".pkl", ".ckpt"})
    if pickles:
        return (
            f"{folder.name!r} holds {pickles[0]}, a pickle, which can run code and is not read. Please "
            f"save the weights as {WEIGHTS}."
        )
    return f"There is no {WEIGHTS} in {folder.name!r}."


def _empty_model(config: ModelConfig, found: dict[str, tuple[int, ...]]) -> Transformer:
    """Return a model without storage, after checking that tensors with these names and shapes fit it."""
    if config.n_layers > len(found):  # otherwise a config of a billion layers would be built
        raise CheckpointError(
            f"{CONFIG} asks for {config.n_layers} layers, but {WEIGHTS} contains only {len(found)} tensors."
        )
    try:
        with torch.device("meta"):
            model = Transformer(config)
    except (RuntimeError, TypeError) as error:  # sizes, or their product, beyond 64 bits
        raise CheckpointError(f"{CONFIG} asks for sizes that no machine can hold.") from error
    _check_shapes(model, found)
    return model


def _check_shapes(model: Transformer, found: dict[str, tuple[int, ...]]) -> None:
    expected = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    if missing := sorted(expected.keys() - found.keys()):
        raise CheckpointError(f"{WEIGHTS} lacks {missing[0]!r} ({len(missing)} of {len(expected)} tensors missing).")
    if unknown := sorted(found.keys() - expected.keys()):
        raise CheckpointError(f"{WEIGHTS} holds {unknown[0]!r}, which a model of this config does not have.")
    for name, shape in expected.items():
        if found[name] != shape:
            raise CheckpointError(f"{name!r} has shape {found[name]} in {WEIGHTS}; the config asks for {shape}.")


def weights_id(folder: Path) -> str:
    """Return twelve hexadecimal digits of the weights' hash."""
    with plain_file.open_file(folder / WEIGHTS) as file:  # hashes piece by piece
        return hashlib.file_digest(file, "sha256").hexdigest()[:12]
