"""Read an untrusted image as RGB pixels of one byte per channel."""

import io
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from attnviz.guards import plain_file

MOST_PIXELS = 40_000_000  # takes 120 MB of memory; a phone's photo has 12 to 50 million
MOST_BYTES = 50_000_000
LONGEST_SIDES = 100  # times the shorter side: a processor enlarges the shorter side, and the longer one with it
FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF")
_BIT_DEPTH = 257  # 65,535 / 255
WHITE = "Transparent parts of the image were drawn on a white background."


class ImageError(ValueError):
    """An image cannot be read; the message is one sentence that says why."""


class ReadImage(NamedTuple):
    """Pixels `(height, width, 3)` of one byte per channel, and notes on what reading the image changed."""

    pixels: np.ndarray
    notes: tuple[str, ...] = ()


def read_image(source: Any) -> ReadImage:
    """Read an image from a path, the bytes of a file, a Pillow image or an array `(height, width, 3)`.

    An image from a file is rotated according to its EXIF data; a Pillow image is not, as in transformers. Raises
    ImageError with a message of one sentence.
    """
    from PIL import Image

    if isinstance(source, Image.Image):
        return _within_limits(_from_pillow(source))
    if isinstance(source, str | Path):
        return _within_limits(_from_file(*_content_of(Path(source))))
    if isinstance(source, bytes | bytearray | memoryview):
        return _within_limits(_from_file(bytes(source), "the image"))
    if hasattr(source, "__array__") or hasattr(source, "shape"):
        return _within_limits(_from_array(_array_of(source)))
    raise ImageError(
        "An image must be given as a path, a Pillow image, or an array of shape (height, width, 3), "
        f"not {type(source).__name__}."
    )


def _content_of(path: Path) -> tuple[bytes, str]:
    """Return the bytes and the name of an image file. Raises ImageError."""
    try:
        return plain_file.content(path, most=MOST_BYTES), path.name
    except OSError as error:
        raise ImageError(
            f"There is no image file {str(path)[:80]!r}. Please pass the path of an image, a Pillow image, or an array."
        ) from error
    except ValueError as error:  # too large, or a name that no file can have
        raise ImageError(f"The image file {path.name[:80]!r} cannot be read: {error}.") from error


def _from_file(content: bytes, name: str) -> ReadImage:
    """Decode the content of an image file, after checking the size in its header."""
    from PIL import Image, ImageOps

    try:
        with warnings.catch_warnings():  # Pillow warns about large images, which are refused below
            warnings.simplefilter("ignore")
            image = Image.open(io.BytesIO(content), formats=FORMATS)
            check_size(*image.size)
            frames = getattr(image, "n_frames", 1)
            image.load()
            turned = ImageOps.exif_transpose(image)
    except ImageError:
        raise
    except Image.DecompressionBombError as error:
        raise ImageError(
            f"{name} has too many pixels: attnviz reads images of up to {MOST_PIXELS // 10**6} million."
        ) from error
    except Image.UnidentifiedImageError as error:
        known = ", ".join(FORMATS)
        raise ImageError(f"{name} is not an image in a format that attnviz can read ({known}).") from error
    except Exception as error:  # decoders raise errors of every type on damaged files
        raise ImageError(f"{name} cannot be decoded, because the file is damaged or incomplete.") from error
    read = _from_pillow(turned)
    if frames > 1:
        return read._replace(notes=(*read.notes, f"The file contains {frames} images. Only the first image is used."))
    return read


def check_size(width: int, height: int) -> None:
    """Raise ImageError for an image without pixels, with too many, or with one side far longer than the other."""
    if width * height > MOST_PIXELS:
        raise ImageError(
            f"The image has {width:,} × {height:,} pixels, but attnviz reads images of at most "
            f"{MOST_PIXELS // 10**6} million pixels."
        )
    if min(width, height) < 1:
        raise ImageError("The image has no pixels.")
    if max(width, height) > LONGEST_SIDES * min(width, height):
        raise ImageError(
            f"The image has {width:,} × {height:,} pixels, but the longer side may be at most "
            f"{LONGEST_SIDES} times as long as the shorter side."
        )


def _within_limits(read: ReadImage) -> ReadImage:
    height, width = read.pixels.shape[:2]
    check_size(width, height)
    return read


def _from_pillow(image: Any) -> ReadImage:
    """Convert a Pillow image of any mode."""
    check_size(*image.size)
    try:
        if image.mode.startswith("I") or image.mode == "F":
            return _from_array(np.asarray(image))
        if image.mode in ("LA", "PA", "RGBA", "La", "RGBa") or "transparency" in image.info:
            return _laid_on_white(np.asarray(image.convert("RGBA")))
        return ReadImage(np.asarray(image.convert("RGB")))
    except ImageError:
        raise
    except Exception as error:  # Pillow decodes pixels only here
        raise ImageError("The image cannot be decoded, because it is damaged or incomplete.") from error


def _array_of(source: Any) -> np.ndarray:
    try:
        return np.asarray(source.detach().cpu() if hasattr(source, "detach") else source)
    except Exception as error:  # another library's array
        raise ImageError(f"{type(source).__name__} cannot be read as an array of pixels.") from error


def _from_array(array: np.ndarray) -> ReadImage:
    """Read an array `(height, width)`, or with one, three or four channels last."""
    array = array[..., None] if array.ndim == 2 else array
    if array.ndim != 3 or array.shape[2] not in (1, 3, 4):
        more = ": put the channels last" if array.ndim == 3 and array.shape[0] in (1, 3, 4) else ""
        raise ImageError(f"An array of pixels has the shape (height, width, 3), not {array.shape}{more}.")
    if array.size == 0:
        raise ImageError("The image has no pixels.")
    check_size(array.shape[1], array.shape[0])
    pixels, note = _as_bytes(array)
    if pixels.shape[2] == 4:
        read = _laid_on_white(pixels)
        return read._replace(notes=(*note, *read.notes))
    return ReadImage(np.repeat(pixels, 3, axis=2) if pixels.shape[2] == 1 else np.ascontiguousarray(pixels), note)


def _as_bytes(array: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """Convert an array of any number type to bytes; return it with a note on the conversion."""
    if array.dtype == np.uint8:
        return array, ()
    if array.dtype == bool:
        return array.astype(np.uint8) * 255, ()
    if array.dtype.kind not in "uif" or not bool(np.isfinite(array).all()):
        raise ImageError(f"Pixels must be finite numbers, not {array.dtype}." if array.dtype.kind not in "uif" else
                         "The image has pixels that are NaN or infinite.")  # fmt: skip
    low, high = float(array.min()), float(array.max())
    return _scaled(array, low, high)


def _scaled(array: np.ndarray, low: float, high: float) -> tuple[np.ndarray, tuple[str, ...]]:
    if array.dtype.kind == "f":
        scale: Callable[[np.ndarray], np.ndarray] = lambda values: values * 255.0  # noqa: E731
        fits, said = low >= 0 and high <= 1, "The pixels were between 0 and 1, so they were multiplied by 255."
    elif array.dtype.itemsize > 1 and (array.dtype == np.uint16 or high > 255):
        fits, said = low >= 0 and high <= 65_535, "The pixels had 16 bits, so they were divided by 257."
        scale = lambda values: values / _BIT_DEPTH  # noqa: E731
    else:
        fits, said, scale = low >= 0 and high <= 255, "", lambda values: values
    if not fits:
        raise ImageError(
            f"The pixels of the image are between {low:g} and {high:g}. attnviz reads whole numbers "
            "from 0 to 255 or from 0 to 65,535, and fractions from 0 to 1."
        )
    return np.rint(scale(array.astype(np.float64))).astype(np.uint8), (said,) if said else ()


def _laid_on_white(pixels: np.ndarray) -> ReadImage:
    """Blend pixels with an alpha channel onto white, as transformers' processors that convert images do."""
    alpha = pixels[..., 3:].astype(np.float64) / 255
    if bool((pixels[..., 3] == 255).all()):
        return ReadImage(np.ascontiguousarray(pixels[..., :3]))
    blended = pixels[..., :3] * alpha + 255 * (1 - alpha)
    return ReadImage(np.rint(blended).astype(np.uint8), (WHITE,))
