"""Load a checkpoint from a folder or hub id and verify it, or refuse it with a message of one sentence."""

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

import torch
import transformers
from transformers import AutoModel
from transformers.utils.logging import disable_progress_bar, enable_progress_bar, is_progress_bar_enabled

from attnviz.models import towers
from attnviz.models.huggingface.architecture import (
    Architecture,
    choose_architecture,
    has_layer_count,
    is_encoder,
    positions,
    read_config,
    vocabulary_of,
    without_head,
)
from attnviz.models.huggingface.as_given import GivenModel
from attnviz.models.huggingface.errors import ModelError, reason
from attnviz.models.huggingface.files import folder as files_folder
from attnviz.models.huggingface.files import growth
from attnviz.models.huggingface.files.folder import Progress, checkpoint_in, other_format
from attnviz.models.huggingface.files.gguf import is_gguf, read_header
from attnviz.models.huggingface.gguf_checkpoint import read_gguf, require_libraries
from attnviz.models.huggingface.images.classifier import classifier_class
from attnviz.models.huggingface.images.image_model import ImageModel
from attnviz.models.huggingface.images.opening import (
    bare_vision_model,
    has_two_towers,
    read_processor,
    reader_of,
    text_config,
    verified_image_model,
    vision_class,
    vision_config,
    vision_tower,
)
from attnviz.models.huggingface.model import HuggingFaceModel
from attnviz.models.huggingface.network import attention_interface
from attnviz.models.huggingface.replay import ReplayedModel
from attnviz.models.huggingface.tokenization.backends import IN_PYTHON
from attnviz.models.huggingface.tokenizer import CheckpointTokenizer
from attnviz.models.huggingface.verification import verified_model
from attnviz.models.huggingface.weights import (
    MOST_MORE,
    MOST_TIMES,
    count_asked,
    left_over,
    misfit,
    text_id,
    weights_id,
)
from attnviz.models.local_paths import place
from attnviz.text.limits import catch_panics

# What weights may lack: a pooler comes after attention, and a mask token stands in for patches in training.
_NOT_NEEDED = ("pooler", "mask_token")
_TEXT_TOWER, _VISION_TOWER = "text_model.", "vision_model."  # of CLIP and SigLIP
NO_TOKENIZER = (
    "Please pass a tokenizer only together with a model in memory. A folder or a hub id brings its own tokenizer."
)
_COMPARING = "Comparing with transformers' own attention"
_LOGGER = logging.getLogger("transformers")
_LOADING = Lock()  # `from_pretrained` changes globals: if two run at once, one model loses its tied weights


def load(
    model: str | Path, *, device: torch.device, dtype: torch.dtype, limit: int | None = None,
    progress: Progress | None = None, processor: Any = None,
) -> HuggingFaceModel | ReplayedModel | ImageModel:  # fmt: skip
    """Load a checkpoint in transformers' format from a local folder or the hub, or a local GGUF file.

    `limit` is the most bytes of weights, by default from ATTNVIZ_MAX_MODEL_GB. `progress(share, what)` is called with
    the share loaded so far, 0 to 1. `processor` prepares images in place of the image processor in a vision model's
    folder. Raises ModelError (a ValueError), with a message of one sentence, if there is no such model, no tokenizer,
    or only pickled weights, if the model is too large, or if attnviz does not reproduce its attention.
    """
    tell, limit = progress or (lambda share, what: None), files_folder.size_limit() if limit is None else limit
    whole, is_text = towers.whole_name(model), towers.is_text_tower(model)
    folder = folder_of(whole, limit=limit, progress=tell)
    if is_gguf(folder) and folder.is_file():
        if processor is not None:
            raise ModelError(NO_TOKENIZER)
        made = _gguf(folder, limit, tell)
    else:
        made = _safetensors(folder, limit, tell, (processor, is_text))
    made.known_id = weights_id(made.torch_module, made.text_id)  # before the weights are rounded
    made.to(device, dtype)
    made.name = (Path(whole).resolve().name if Path(whole).exists() else whole) + (" (text)" if is_text else "")
    made.folder = folder.parent if folder.is_file() else folder
    if not isinstance(made, ImageModel):
        made.text.warn_of_surplus()
    tell(1.0, "Ready")
    return made


def _safetensors(
    folder: Path, limit: int, tell: Progress, how: tuple[Any, bool]
) -> HuggingFaceModel | ReplayedModel | ImageModel:
    """Load the model in a folder. `how` is the given image processor, and whether the text tower is asked for."""
    files_folder.check_folder(folder)
    weights = files_folder.weight_files(folder)
    tensors, numbers = files_folder.count_numbers(weights)
    files_folder.check_size(numbers, 4, limit)  # float32: every model is compared in it
    attention_interface.register()
    with _exclusive_loading():
        return _load(folder, weights, (tensors, numbers), tell, how)


def _gguf(path: Path, limit: int, tell: Progress) -> HuggingFaceModel | ReplayedModel:
    """Load a GGUF file: check its header, unpack its weights to float32, and verify the model like any other."""
    require_libraries()
    header = read_header(path)
    files_folder.check_size(header.numbers, 4, limit)
    attention_interface.register()
    with _exclusive_loading():
        try:
            model, tokenizer, architecture = read_gguf(path, header, tell)
            text = _reader(tokenizer, model.config)
            tell(0.8, _COMPARING)
            made = verified_model(model.requires_grad_(False).eval(), text, architecture)
        except ModelError:
            raise
        except Exception as error:
            raise ModelError(f"The model in {path.name!r} cannot be read ({reason(error)}).") from error
    made.text_id = text_id(tokenizer)
    return made


def folder_of(model: str | Path, *, limit: int, progress: Progress) -> Path:
    """Return the local folder of a checkpoint, or its GGUF file: the given one, or a download of the hub id.

    Raises ModelError.
    """
    name, path = str(model), place(model)
    if path is not None and path.is_dir():
        if not os.access(path, os.R_OK | os.X_OK):
            raise ModelError(f"attnviz has no permission to read the folder {name!r}.")
        return checkpoint_in(path)
    if path is not None and is_gguf(path):
        return path
    if path is not None and (said := other_format(path.name, [path.name])):
        raise ModelError(said)
    if path is not None or name.startswith((".", "/", "~")) or "\\" in name or name.count("/") > 1:
        raise ModelError(
            f"There is no folder {name!r}. Please pass the folder of a checkpoint, or a hub id such as gpt2."
        )
    from attnviz.models.huggingface.files.hub import download  # this also imports the hub's client

    return download(name, limit, progress)


@contextmanager
def _exclusive_loading() -> Iterator[None]:
    """Load one model at a time, without transformers' messages and progress bars, because attnviz shows its own."""
    with _LOADING:
        level, had_bars = _LOGGER.level, is_progress_bar_enabled()
        _LOGGER.setLevel(logging.CRITICAL)
        disable_progress_bar()
        try:
            yield
        finally:
            _LOGGER.setLevel(level)
            if had_bars:
                enable_progress_bar()


def _load(
    folder: Path, weights: tuple[Path, ...], counts: tuple[int, int], tell: Progress, how: tuple[Any, bool]
) -> HuggingFaceModel | ReplayedModel | ImageModel:
    """Load the model in a folder, in float32 on the CPU. Errors from transformers become a ModelError."""
    (tensors, numbers), (processor, is_text) = counts, how
    try:
        config = read_config(folder, tensors)
        has_both = has_two_towers(config)
        if is_text and not has_both:
            raise ModelError(f"The model in {folder.name!r} has no text tower beside a vision tower.")
        if not is_text and (seeing := vision_config(config)) is not None:
            kind = classifier_class(config)
            asked = (seeing, vision_class(seeing)) if kind is None else (config, kind)
            made = _load_images(folder, weights, asked, numbers, tell, processor)
            made.has_text_tower = has_both and kind is None
            return made
        if processor is not None:
            raise ModelError(NO_TOKENIZER)
        return _load_text(folder, weights, text_config(config) if is_text else config, numbers, tell)
    except ModelError:
        raise
    except Exception as error:  # a config may contain anything, and the error appears where it is used
        raise ModelError(f"The model in {folder.name!r} cannot be read ({reason(error)}).") from error


def _load_text(
    folder: Path, weights: tuple[Path, ...], config: Any, numbers: int, tell: Progress
) -> HuggingFaceModel | ReplayedModel:
    """Load the model in a folder that reads text, in float32 on the CPU."""
    architecture = choose_architecture(config)
    tell(0.3, "Reading the tokenizer")
    text = _text(folder, config)
    tell(0.4, "Reading the weights")
    _check_asked(weights, config, architecture, numbers)
    model = _weights(folder, config, architecture, weights)
    tell(0.8, _COMPARING)
    shown = without_head(model) if architecture.auto is AutoModel else model
    made = verified_model(shown, text, architecture, given=GivenModel(model, shown))
    made.text_id = text_id(text._tokenizer)
    return made


def _load_images(
    folder: Path, weights: tuple[Path, ...], asked: tuple[Any, Any], numbers: int, tell: Progress, processor: Any
) -> ImageModel:
    """Load the vision model in a folder, in float32 on the CPU. `asked` is its config and its class."""
    tell(0.3, "Reading the image processor")
    reader = read_processor(folder) if processor is None else reader_of(processor, f"The model in {folder.name!r}")
    tell(0.4, "Reading the weights")
    config, architecture = asked[0], Architecture(asked[1])
    _check_asked(weights, config, architecture, numbers)
    model = _weights(folder, config, architecture, weights)
    tell(0.8, _COMPARING)
    shown = bare_vision_model(vision_tower(model))
    made = verified_image_model(shown, reader, given=GivenModel(model, None if shown is model else shown))
    made.text_id = reader.identity
    return made


def _text(folder: Path, config: Any) -> CheckpointTokenizer:
    files_folder.check_tokenizer(folder)
    growth.check(folder)
    try:
        tokenizer = _tokenizer(folder, config)
    except Exception as error:
        raise ModelError(
            f"The tokenizer in {folder.name!r} cannot be read. Please put a tokenizer.json into the folder."
        ) from error
    return _reader(tokenizer, config)


def _reader(tokenizer: Any, config: Any) -> CheckpointTokenizer:
    return CheckpointTokenizer(
        tokenizer, max_tokens=positions(config), known=vocabulary_of(config), takes_pairs=is_encoder(config)
    )


@catch_panics()
def _tokenizer(folder: Path, config: Any) -> Any:
    """Load the tokenizer that the folder names; if transformers has it only in Python, load the folder's
    tokenizer.json.
    """
    how: dict[str, Any] = {"trust_remote_code": False, "local_files_only": True}
    has_json = (folder / "tokenizer.json").is_file()
    with warnings.catch_warnings():  # Marian's tokenizer asks for a package that it does not need
        warnings.simplefilter("ignore")
        try:
            named = transformers.AutoTokenizer.from_pretrained(folder, config=config, use_fast=True, **how)
            if named.is_fast or type(named).__name__ in IN_PYTHON or not has_json:
                return named
        except Exception:
            if not has_json:
                raise
        return transformers.PreTrainedTokenizerFast.from_pretrained(folder, **how)


def _check_asked(weights: tuple[Path, ...], config: Any, architecture: Architecture, numbers: int) -> None:
    """Raise ModelError if a config asks for far more parameters than the files hold, before any are allocated.

    transformers creates parameters that the files lack: tables of positions with the config's sizes, or a missing
    tensor.
    """
    try:
        asked = count_asked(config, architecture.auto)
    except Exception:  # a model that cannot be built raises its error when it is loaded
        return
    if asked > MOST_TIMES * numbers + MOST_MORE:
        counts = f"they hold {numbers:,} numbers, and it asks for {asked:,}"
        how = _describe_misfit(weights, config, architecture) or counts
        raise ModelError(f"The weights in {weights[0].parent.name!r} do not fit their config ({how}).")


def _weights(folder: Path, config: Any, architecture: Architecture, weights: tuple[Path, ...]) -> Any:
    try:
        model, info = architecture.auto.from_pretrained(
            folder, config=config, dtype=torch.float32, use_safetensors=True,
            trust_remote_code=False, local_files_only=True, output_loading_info=True,
        )  # fmt: skip
    except Exception as error:
        how = _describe_misfit(weights, config, architecture) or reason(error)
        raise ModelError(f"The weights in {folder.name!r} do not fit their config ({how}).") from error
    missing = sorted(name for name in info["missing_keys"] if not any(part in name for part in _NOT_NEEDED))
    if missing or info["mismatched_keys"]:
        name = missing[0] if missing else sorted(info["mismatched_keys"])[0]
        if not has_layer_count(folder):
            raise ModelError(
                f"{files_folder.CONFIG} in {folder.name!r} is incomplete: it has no number of layers, and the weights "
                "hold fewer than usual."
            )
        raise ModelError(
            f"The weights in {folder.name!r} do not contain {name!r}, which the config asks for, so "
            "this parameter would be random."
        )
    other = _VISION_TOWER if "text" in config.model_type else _TEXT_TOWER
    if name := left_over({name for name in info["unexpected_keys"] if not name.startswith(other)}):
        raise ModelError(
            f"The weights in {folder.name!r} contain {name!r}, which does not exist in a model with this config."
        )
    return model.requires_grad_(False).eval()


def _describe_misfit(weights: tuple[Path, ...], config: Any, architecture: Architecture) -> str | None:
    try:
        return misfit(weights, config, architecture.auto)
    except Exception:  # a model that cannot be built raises its own error
        return None
