"""A small image with weights that are made up, for tests of every picture: it needs no vision model."""

import numpy as np
import torch

from attnviz.text.tokens import Token
from attnviz.tracing.external.from_tensors import from_tensors
from attnviz.tracing.record import SeenImage, Sentence
from attnviz.tracing.trace_like import TraceLike

_ROWS, _COLUMNS, _SIDE = 3, 4, 6  # patches, and the pixels of a patch's side


def example_trace() -> TraceLike:
    """Make a trace of an image of 3 x 4 patches, in 2 layers of 3 heads."""
    from dataclasses import replace

    height, width = _ROWS * _SIDE + 2, _COLUMNS * _SIDE  # the last two rows of pixels belong to no patch
    y, x = np.mgrid[0:height, 0:width]
    pixels = np.stack([8 * y, 10 * x, 200 - 4 * (x + y) % 256], axis=-1).astype(np.uint8)
    tokens = [Token("[CLS]", -1, 0, 0, is_special=True)]
    places = [(row, column) for row in range(_ROWS) for column in range(_COLUMNS)]
    text = " ".join(f"r{row}c{column}" for row, column in places)
    for number, (row, column) in enumerate(places):
        tokens.append(Token(f"r{row}c{column}", -1, 5 * number, 5 * number + 4, place=(0, row, column)))
    image = SeenImage(pixels.tobytes(), (height, width), (_ROWS, _COLUMNS), (_SIDE, _SIDE))
    scores = torch.randn(2, 3, len(tokens), len(tokens), generator=torch.Generator().manual_seed(3))
    trace = from_tensors((2 * scores).softmax(-1), [token.text for token in tokens], kind="encoder_self")
    return replace(trace, sentences=(Sentence(tuple(tokens), src_text=text, images=(image,)),))
