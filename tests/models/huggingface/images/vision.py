"""Small vision models with random weights, and their image processors, as transformers has them."""

import io
import struct
import warnings
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import transformers
from PIL import Image

SIZES = {
    "hidden_size": 30, "num_hidden_layers": 3, "num_attention_heads": 5, "intermediate_size": 44, "image_size": 32,
    "patch_size": 8,
}  # fmt: skip
_TEXT = {
    "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8, "vocab_size": 151,
    "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip


def _square(side: int) -> dict[str, Any]:
    return {"size": {"height": side, "width": side}}


_CROPPED = {"size": {"shortest_edge": 32}, "crop_size": {"height": 24, "width": 40}}
# The class of the model, its config with more than the sizes, and the class of the processor with its settings.
FAMILIES: dict[str, tuple[str, str, dict[str, Any], str, dict[str, Any]]] = {
    "vit": ("ViTModel", "ViTConfig", {}, "ViTImageProcessorPil", _square(32)),
    "vit of another size": ("ViTModel", "ViTConfig", {}, "ViTImageProcessorPil", {"size": {"height": 24, "width": 43}}),
    "vit of oblong patches": ("ViTModel", "ViTConfig", {"patch_size": [8, 4]}, "ViTImageProcessorPil", _square(32)),
    "deit": ("DeiTModel", "DeiTConfig", {}, "DeiTImageProcessorPil",
             {**_square(40), "crop_size": {"height": 32, "width": 32}}),
    "beit": ("BeitModel", "BeitConfig", {"use_relative_position_bias": True}, "BeitImageProcessorPil",
             {**_square(32), "do_center_crop": False}),
    "dinov2": ("Dinov2Model", "Dinov2Config", {}, "BitImageProcessorPil", _CROPPED),
    "dinov2 with registers": ("Dinov2WithRegistersModel", "Dinov2WithRegistersConfig", {"num_register_tokens": 3},
                              "BitImageProcessorPil", _CROPPED),
    "dinov3": ("DINOv3ViTModel", "DINOv3ViTConfig", {"hidden_size": 40, "num_register_tokens": 2},
               "ViTImageProcessorPil", _square(32)),
    "clip": ("CLIPVisionModel", "CLIPVisionConfig", {}, "CLIPImageProcessorPil",
             {"size": {"shortest_edge": 32}, "crop_size": {"height": 32, "width": 32}}),
    "siglip": ("SiglipVisionModel", "SiglipVisionConfig", {}, "SiglipImageProcessorPil", _square(32)),
    "siglip 2": ("Siglip2VisionModel", "Siglip2VisionConfig", {"num_patches": 16, "image_size": None},
                 "Siglip2ImageProcessorPil", {"patch_size": 8, "max_num_patches": 19}),
    "yolos": ("YolosModel", "YolosConfig", {"image_size": [32, 32], "num_detection_tokens": 3}, "ViTImageProcessorPil",
              _square(32)),
    "vit mae": ("ViTMAEModel", "ViTMAEConfig", {}, "ViTImageProcessorPil", _square(32)),
}  # fmt: skip
# Models that attnviz refuses, with their own sizes.
OTHERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "swin": ("SwinModel", "SwinConfig", {
        "image_size": 32, "patch_size": 2, "embed_dim": 16, "depths": [1, 2], "num_heads": [2, 4], "window_size": 4}),
    "hiera": ("HieraModel", "HieraConfig", {"image_size": [32, 32], "embed_dim": 16}),
    "pvt": ("PvtModel", "PvtConfig", {"image_size": 32}),
    "sam": ("SamVisionModel", "SamVisionConfig", {
        "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "image_size": 32, "patch_size": 8,
        "window_size": 2, "global_attn_indexes": [1]}),
}  # fmt: skip


def vision_model(name: str) -> Any:
    """Build a family's model; its weights are the same each time, and large enough for uneven attention."""
    if name in OTHERS:
        return _random(*OTHERS[name])
    model, config, more, _, _ = FAMILIES[name]
    sizes = {key: value for key, value in (SIZES | more).items() if value is not None}
    return _random(model, config, sizes)


# The classifiers of some families: class and, for those around a tower, the config of two towers.
CLASSIFIERS: dict[str, tuple[str, str]] = {
    "vit": ("ViTForImageClassification", ""),
    "deit": ("DeiTForImageClassificationWithTeacher", ""),
    "beit": ("BeitForImageClassification", ""),
    "dinov2 with registers": ("Dinov2WithRegistersForImageClassification", ""),
    "clip": ("CLIPForImageClassification", "CLIPConfig"),
    "siglip 2": ("Siglip2ForImageClassification", "Siglip2Config"),
}


def classifier(name: str, **config: Any) -> Any:
    """Build a family's classifier of seven labels."""
    labels = {at: f"thing {at}" for at in range(7)}
    model, both = CLASSIFIERS[name]
    more = {"id2label": labels, "label2id": {label: at for at, label in labels.items()}, **config}
    if both:
        return two_towers(model, both, name, **more)
    sizes = {key: value for key, value in (SIZES | FAMILIES[name][2]).items() if value is not None}
    return _random(model, FAMILIES[name][1], sizes | more)


def two_towers(name: str, config: str, tower: str, **more_config: Any) -> Any:
    """Build a model of an image and a text, such as CLIPModel, around a family's vision tower."""
    _, own, more, _, _ = FAMILIES[tower]
    sizes = {key: value for key, value in (SIZES | more).items() if value is not None}
    towers = {"vision_config": getattr(transformers, own)(**sizes).to_dict(), "text_config": _TEXT}
    return _random(name, config, towers | more_config)


def processor(name: str) -> Any:
    """Make a family's image processor."""
    if name in OTHERS:
        return transformers.ViTImageProcessorPil(**_square(32))
    _, _, _, kind, settings = FAMILIES[name]
    return getattr(transformers, kind)(**settings)


def photo(height: int = 50, width: int = 83) -> np.ndarray:
    """Draw an image of soft colours and some noise, neither square nor of whole patches."""
    rows, columns = np.mgrid[0:height, 0:width]
    waves = np.stack([np.sin(rows / 5), np.cos(columns / 7), np.sin((rows + columns) / 9)], axis=-1)
    noise = np.random.default_rng(5).normal(0, 20, waves.shape)
    return np.clip(128 + 90 * waves + noise, 0, 255).astype(np.uint8)


def encoded(image: Image.Image, kind: str = "PNG", **how: object) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **how)
    return file.getvalue()


def clear() -> Image.Image:
    """Make a red image whose left half is transparent."""
    pixels = np.zeros((3, 4, 4), dtype=np.uint8)
    pixels[..., 0], pixels[:, 2:, 3] = 200, 255
    return Image.fromarray(pixels, "RGBA")


def bomb() -> bytes:
    """Make a PNG file of a few bytes whose header says 20,000 x 20,000 pixels."""
    return declared(20_000, 20_000)


def declared(width: int, height: int) -> bytes:
    """Make a PNG file of a few bytes whose header says how large the image is."""

    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


def files() -> dict[str, tuple[bytes, str]]:
    """Make unusual image files that are read, by name, each with the start of the note on it, or ""."""
    image = Image.fromarray(photo())
    deep = photo()[..., 0].astype(np.uint16) * 257
    return {
        "grey.png": (encoded(image.convert("L")), ""),
        "clear.png": (encoded(clear()), "Transparent parts of the image were drawn on a white background."),
        "deep.png": (encoded(Image.fromarray(deep)), "The pixels had 16 bits"),
        "one.png": (encoded(Image.new("RGB", (1, 1))), ""),
        "moves.gif": (encoded(image, "GIF", save_all=True, append_images=[image.rotate(9)]), "The file contains 2"),
    }


def broken_files() -> dict[str, tuple[bytes, str]]:
    """Make files that cannot be read as an image, by name, each with a part of the sentence that says why."""
    return {
        "short.png": (encoded(Image.fromarray(photo()))[:-4000], "the file is damaged or incomplete"),
        "bomb.png": (bomb(), "million"),
        "wide.png": (
            declared(9_000, 5_000),
            "has 9,000 × 5,000 pixels, but attnviz reads images of at most 40 million",
        ),
        "thin.png": (encoded(Image.new("L", (202, 2))), "at most 100 times as long as the shorter side"),
        "text.png": (b"I love you.", "is not an image in a format that attnviz can read"),
        "drawing.png": (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "is not an image in a format"),
    }


def _random(model: str, config: str, sizes: dict[str, Any]) -> Any:
    build: Callable[[], Any] = lambda: getattr(transformers, model)(getattr(transformers, config)(**sizes)).eval()  # noqa: E731
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.manual_seed(7)
        made = build()
        for parameter in made.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    return made
