"""What pictures of an image share: its pixels, the grid of its patches, and its tokens (read by `js/seen_image.js`)."""

from typing import Any

import numpy as np

from attnviz.tracing.record import SeenImage
from attnviz.tracing.trace_like import TraceLike

NO_IMAGE = "{picture} needs an image: trace one with a model that reads images, model.trace(image)."


def image_of(trace: TraceLike, picture: str) -> SeenImage:
    """Return the image of a trace. Raise ValueError, which names the picture, for a trace of a text."""
    images = trace.sentences[0].images
    if not images:
        raise ValueError(NO_IMAGE.format(picture=picture))
    return images[0]


def image_data(image: SeenImage, trace: TraceLike) -> dict[str, Any]:
    """Return an image, its tokens and the heads that read it, by the names that the scripts use."""
    kind = trace.kinds[0]
    layers, heads = trace.shape(kind)
    tokens = trace.query_tokens(kind)
    return {
        "tokens": [token.text for token in tokens],
        "places": [list(token.place[1:]) if token.place else None for token in tokens],
        "grid": list(image.grid),
        "patch": list(image.patch),
        "size": list(image.size),
        "pixels": predicted(image.array),
        "layers": layers,
        "heads": heads,
        "names": [trace.layer_name(kind, at) for at in range(layers)],
    }


def predicted(pixels: np.ndarray) -> np.ndarray:
    """Replace each byte of an image by its difference from the mean of its left and upper neighbours.

    This is one of PNG's filters: a photo then deflates to two thirds.
    """
    wide = pixels.astype(np.int16)
    left, above = np.zeros_like(wide), np.zeros_like(wide)
    left[:, 1:], above[1:] = wide[:, :-1], wide[:-1]
    return ((wide - (left + above) // 2) % 256).astype(np.uint8)
