"""Prepare an image with a checkpoint's own image processor, and recover the pixels that the model gets."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.guards.images import read_image
from attnviz.models.huggingface.errors import ModelError, reason

_CLOSE = 1e-3  # tolerance for a normalised pixel; one step of a byte is 0.008 or more
_UNTOUCHED = {"do_resize": False, "do_center_crop": False}
_FIELDS = ("pixel_values", "pixel_attention_mask", "spatial_shapes")
_RESAMPLING = {0: "nearest", 1: "Lanczos", 2: "bilinear", 3: "bicubic", 4: "box", 5: "Hamming"}


@dataclass(frozen=True, eq=False)
class PreparedImage:
    """An image prepared for a model.

    `fields` are the arguments for calling the model, `pixels` `(height, width, 3)` the resized and cropped image from
    which they were made, and `notes` say what was changed.
    """

    fields: dict[str, Tensor]
    pixels: np.ndarray
    notes: tuple[str, ...] = ()


class ImageReader:
    """A transformers image processor. All methods are thread-safe."""

    def __init__(self, processor: Any) -> None:
        self.processor = processor

    @property
    def name(self) -> str:
        """The processor's class, and the library that resizes images, because libraries differ in the last bits of each
        pixel.
        """
        backend = getattr(self.processor, "backend", "") or "transformers"
        return f"{type(self.processor).__name__} ({backend})"

    @property
    def identity(self) -> str:
        """A text that is different for processors that prepare images differently."""
        return json.dumps(self.processor.to_dict(), sort_keys=True, default=repr)

    def read(self, source: Any) -> PreparedImage:
        """Prepare an image for the model.

        Raises ImageError for an image that cannot be read, and ModelError for a processor that does more than resize,
        crop, scale and normalise.
        """
        from PIL import Image

        given = read_image(source)
        fields = self._run(Image.fromarray(given.pixels))
        pixels = self._pixels_of(fields)
        again = self.fields_of(pixels)
        if any(not _agree(fields[name], again.get(name)) for name in fields):
            raise ModelError(
                f"{type(self.processor).__name__} changes pixels in a way that attnviz does not follow, so the image "
                "shown would not be what the model sees."
            )
        return PreparedImage(again, pixels, (*given.notes, self._describe_change(given.pixels.shape, pixels.shape)))

    def fields_of(self, pixels: np.ndarray) -> dict[str, Tensor]:
        """Return the arguments for calling the model with pixels that are already resized and cropped."""
        from PIL import Image

        return self._run(Image.fromarray(pixels), **_UNTOUCHED)

    def _run(self, image: Any, **how: Any) -> dict[str, Tensor]:
        try:
            made = self.processor(images=image, return_tensors="pt", **how)
        except Exception as error:  # a processor's settings may be anything
            raise ModelError(f"{type(self.processor).__name__} cannot prepare the image ({reason(error)}).") from error
        found = {name: made[name] for name in _FIELDS if name in made}
        values = found.get("pixel_values")
        if not isinstance(values, Tensor) or values.dim() not in (3, 4) or len(values) != 1:
            raise ModelError(
                f"{type(self.processor).__name__} makes several images from one image, which attnviz cannot show."
            )
        return {name: tensor if tensor.dtype is torch.long else tensor.float() for name, tensor in found.items()}

    def _pixels_of(self, fields: dict[str, Tensor]) -> np.ndarray:
        """Recover the pixels `(height, width, 3)` as bytes from the processor's normalised values."""
        values = fields["pixel_values"][0].numpy()
        if "spatial_shapes" in fields:
            values = _join_patches(values, *fields["spatial_shapes"][0].tolist())
        elif values.ndim == 3 and values.shape[0] == 3:
            values = values.transpose(1, 2, 0)
        if values.ndim != 3 or values.shape[2] != 3:
            raise ModelError(
                f"{type(self.processor).__name__} does not return an image with three colour channels, so "
                "attnviz cannot show it."
            )
        own = self.processor
        if getattr(own, "do_normalize", False):
            values = values * np.float32(own.image_std) + np.float32(own.image_mean)
        if getattr(own, "do_rescale", False):
            values = values / own.rescale_factor
        return np.clip(np.rint(values), 0, 255).astype(np.uint8)

    def _describe_change(self, given: tuple[int, ...], seen: tuple[int, ...]) -> str:
        """Return the note on how the processor changed the image's size."""
        (height, width), (rows, columns) = given[:2], seen[:2]
        by = f" by {self.name}"
        if (height, width) == (rows, columns):
            return f"The model read all {width} × {height} pixels of the image, prepared{by}."
        resized = self._resized(height, width)
        how = _RESAMPLING.get(int(getattr(self.processor, "resample", None) or 0), "")
        if resized is None or resized == (rows, columns):
            shape = " The proportions of the image changed." if _is_distorted((height, width), (rows, columns)) else ""
            return f"The image of {width} × {height} pixels was resized to {columns} × {rows}{by}, {how}.{shape}"
        seen_share = min(1.0, rows / resized[0]) * min(1.0, columns / resized[1])
        cut = f"{1 - seen_share:.0%} of it has no patch" if seen_share < 1 else "its edges are black"
        enlarged = (height, width) != resized
        first = f"was resized to {resized[1]} × {resized[0]}, {how}, and " if enlarged else "was "
        return f"The image of {width} × {height} pixels {first}cut to the middle {columns} × {rows}{by}: {cut}."

    def _resized(self, height: int, width: int) -> tuple[int, int] | None:
        """Return the size after resizing and before cropping; None if the processor computes it in an unknown way."""
        if not getattr(self.processor, "do_resize", False):
            return height, width
        size = getattr(self.processor, "size", None)
        sides = {name: _side(size, name) for name in ("height", "width", "shortest_edge", "longest_edge")}
        if sides["height"] and sides["width"]:
            return sides["height"], sides["width"]
        if (short := sides["shortest_edge"]) and not sides["longest_edge"]:
            longer = int(short * max(height, width) / min(height, width))
            return (short, longer) if height <= width else (longer, short)
        return None


def _side(size: Any, name: str) -> int:
    value = size.get(name) if isinstance(size, dict) else getattr(size, name, None)
    return int(value or 0)


def _is_distorted(given: tuple[int, int], seen: tuple[int, int]) -> bool:
    before, after = given[0] / given[1], seen[0] / seen[1]
    return abs(before / after - 1) > 0.02


def _agree(one: Tensor, other: Tensor | None) -> bool:
    return other is not None and one.shape == other.shape and bool(((one - other).abs() <= _CLOSE).all())


def _join_patches(patches: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """Join the flattened patches of a NaFlex processor to an image `(height, width, 3)`, without the padding after
    them.
    """
    side = round((patches.shape[1] / 3) ** 0.5)
    whole = patches[: rows * columns].reshape(rows, columns, side, side, 3)
    return whole.transpose(0, 2, 1, 3, 4).reshape(rows * side, columns * side, 3)
