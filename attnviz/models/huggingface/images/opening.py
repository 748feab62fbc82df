"""Open a vision model: choose its class, load its image processor, and compare attnviz's pass with transformers'."""

import functools
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers.models.auto import modeling_auto

from attnviz.models.huggingface import parity
from attnviz.models.huggingface.as_given import GivenCheck, GivenModel
from attnviz.models.huggingface.errors import ModelError, NoAttentionInterface, reason
from attnviz.models.huggingface.images.classifier import ClassifierHead
from attnviz.models.huggingface.images.grid import measure_order, noise
from attnviz.models.huggingface.images.image_model import ImageModel, fields_count, flags_of, refuse_text
from attnviz.models.huggingface.images.reader import ImageReader
from attnviz.models.huggingface.network import patches
from attnviz.models.huggingface.network.network import Network, PixelBatch
from attnviz.models.huggingface.verification import watch_network

# Models of image and text whose vision tower is a separate model.
_TOWERS = ("clip", "siglip", "siglip2", "metaclip_2")
_CONFIG = "preprocessor_config.json"
_NEEDS = "attnviz.load(model, processor) takes the image processor of a vision model: {what}."


def vision_config(config: Any) -> Any:
    """Return the config of the vision model in a checkpoint, or None for a model that reads text."""
    if has_two_towers(config):
        return config.vision_config
    sort = type(config)
    if sort not in modeling_auto.MODEL_MAPPING:
        return None
    found = modeling_auto.MODEL_MAPPING[sort]
    model: Any = found[0] if isinstance(found, list | tuple) else found
    return config if _reads_images(model, config) else None


def has_two_towers(config: Any) -> bool:
    """Check whether a config is that of a model of images and texts, such as CLIP, with a tower for each."""
    return getattr(config, "model_type", None) in _TOWERS


def text_config(config: Any) -> Any:
    """Return the config of the text tower of a model of images and texts, with the name of the tower's class."""
    found = config.text_config
    found.architectures = [type(found).__name__.removesuffix("Config") + "Model"]
    return found


def vision_class(config: Any) -> Any:
    """Return the class without a head for a vision config. Raises ModelError if transformers has none."""
    if type(config) not in modeling_auto.MODEL_MAPPING:
        raise ModelError(f"transformers has no model without a head for {config.model_type!r}.")
    found = modeling_auto.MODEL_MAPPING[type(config)]
    return found[0] if isinstance(found, list | tuple) else found


def is_vision_model(model: Any) -> bool:
    """Check whether a model in memory reads only images, or has a vision tower like CLIP."""
    config: Any = getattr(model, "config", None)
    if getattr(config, "model_type", None) is None or not hasattr(model, "main_input_name"):
        return False
    if has_two_towers(config):
        return getattr(model, "vision_model", None) is not None
    return _reads_images(model, config)


def _reads_images(model: Any, config: Any) -> bool:
    """Check whether a model or its class reads only images and has no decoder."""
    if getattr(model, "main_input_name", "") != "pixel_values" or getattr(config, "is_encoder_decoder", False):
        return False
    return "input_ids" not in parity.parameters_of(model)


def vision_tower(model: Any) -> Any:
    """Return the part of a model that reads images: the model itself, or the vision tower of CLIP and SigLIP."""
    return model.vision_model if has_two_towers(model.config) else model


def bare_vision_model(model: Any) -> Any:
    """Return a vision model without its head, such as a classifier's.

    The headless class of DINOv3 is returned as it is, because the module inside it has no embeddings.
    """
    is_bare = type(model.config) in modeling_auto.MODEL_MAPPING and isinstance(model, vision_class(model.config))
    return model if is_bare else model.base_model


def is_image_processor(given: Any) -> bool:
    """Check whether an object is an image processor, or a transformers processor that contains one."""
    return hasattr(image_processor(given), "preprocess")


def image_processor(given: Any) -> Any:
    """Return the image processor in a transformers processor, such as CLIPProcessor; return any other object
    unchanged.
    """
    return getattr(given, "image_processor", given)


def read_processor(folder: Path) -> ImageReader:
    """Load the image processor of a folder. Raises ModelError with a message of one sentence."""
    from transformers import AutoImageProcessor

    if not (folder / _CONFIG).is_file() and not (folder / "processor_config.json").is_file():
        raise ModelError(
            f"There is no {_CONFIG} in {folder.name!r}, which says how images are prepared. Please put "
            "it into the folder, or hand the processor over: attnviz.load(folder, processor)."
        )
    try:
        made = AutoImageProcessor.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    except ImportError as error:
        raise ModelError(
            f"The image processor in {folder.name!r} needs a library that is not installed here (such "
            "as torchvision). Please hand over another one, attnviz.load(folder, processor)."
        ) from error
    except Exception as error:
        raise ModelError(f"The image processor in {folder.name!r} cannot be read ({reason(error)}).") from error
    return ImageReader(made)


def reader_of(given: Any, name: str) -> ImageReader:
    """Return the reader for a processor that the user gave with a vision model. Raises ModelError for anything else."""
    if given is None:
        raise ModelError(
            f"{name} reads images and needs its image processor: attnviz.load(model, processor), which "
            "transformers.AutoImageProcessor.from_pretrained reads."
        )
    if not is_image_processor(given):
        raise refuse_text(name)
    return ImageReader(image_processor(given))


def verified_image_model(model: Any, reader: ImageReader, *, given: GivenModel, is_known: bool = False) -> ImageModel:
    """Return a vision model as attnviz shows it, after comparing its pass with transformers'.

    `given` is the model as the user gave it; `is_known` skips the comparisons for a model that already passed them.
    Raises ModelError for a model that attnviz does not reproduce, or whose tokens do not correspond to patches.
    """
    patches.keep_apart(model)
    patches.set_attention(model, "eager")
    first = reader.read(noise(0))
    flags = flags_of(model, first.fields)
    order = measure_order(model, reader, flags)
    sample = _sample(model, reader, flags, order.count(order.seen(first.pixels).grid))
    expected = parity.run_eager(model, sample)
    network, shown = _network(model, sample, expected, is_known=is_known)
    made = ImageModel(network, reader, order)
    if (head := ClassifierHead.of(given)) is not None:
        if not is_known:
            head.check(given, network, sample)
        made.add_head(head)
    made.as_given = GivenCheck(given, functools.partial(parity.run_network, network), made.n_layers)
    if not is_known:
        made.as_given.check(sample, None, shown, is_decoder=False)
    return made


def _sample(model: Any, reader: ImageReader, flags: dict[str, bool], tokens: int) -> PixelBatch:
    """Return a batch of two images of random pixels."""
    both = [reader.read(noise(seed)).fields for seed in (0, 1)]
    pixels = {name: torch.cat([fields[name] for fields in both]) for name in both[0]}
    where = next(model.parameters())
    return PixelBatch.of_tokens(fields_count(pixels, tokens), pixels, flags).to(where.device, where.dtype)


def _network(model: Any, sample: PixelBatch, expected: parity.Eager, *, is_known: bool) -> tuple[Network, Tensor]:
    """Replace the model's attention, or watch it if it cannot be replaced; return the network and its output.

    The pass is compared with transformers' own pass `expected`, unless `is_known`.
    """
    try:
        network = parity.install_attention(model, sample)
        return network, expected.output if is_known else parity.assert_equal(network, expected, sample)
    except NoAttentionInterface:
        patches.set_attention(model, "eager")
        return watch_network(model, (expected, sample, None), is_known=is_known)
