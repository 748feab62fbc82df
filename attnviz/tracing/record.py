"""The labels of a trace's maps: the two sentences of each batch item, and their tokens."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np

from attnviz.text.tokens import Span, Token
from attnviz.transformer.probe import Kind

Side = Literal["src", "tgt"]
CUT = "(cut)"


@dataclass(frozen=True)
class SeenImage:
    """An image as the model saw it, after its image processor resized and cropped it.

    `pixels` are `height * width * 3` bytes, row by row. Patches of `patch` `(height, width)` pixels form a `grid`
    `(rows, columns)` from the upper left corner; pixels after the last whole patch belong to no patch.
    """

    pixels: bytes
    size: tuple[int, int]
    grid: tuple[int, int]
    patch: tuple[int, int]

    @property
    def array(self) -> np.ndarray:
        """The pixels as an array `(height, width, 3)`."""
        return np.frombuffer(self.pixels, dtype=np.uint8).reshape(*self.size, 3)


@dataclass(frozen=True)
class TokenOrder:
    """The order of an image's tokens: the names of the tokens before and after the patches, and the size of a patch."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    patch: tuple[int, int]

    def count(self, grid: tuple[int, int]) -> int:
        """Return the number of tokens for an image with a grid of patches `(rows, columns)`."""
        return len(self.before) + grid[0] * grid[1] + len(self.after)

    @lru_cache(maxsize=32)  # noqa: B019  # an order is a small constant, which a model keeps anyway
    def tokens(self, grid: tuple[int, int]) -> tuple[tuple[Token, ...], str]:
        """Return an image's tokens, and the text to which their offsets refer: the names of all patches, row by row."""
        made, text = [_special(name, 0) for name in self.before], ""
        for row in range(grid[0]):
            for column in range(grid[1]):
                text += " " if text else ""
                start, name = len(text), f"r{row}c{column}"
                text += name
                made.append(Token(name, -1, start, len(text), place=(0, row, column)))
        made += [_special(name, len(text)) for name in self.after]
        return tuple(made), text

    def seen(self, pixels: np.ndarray) -> SeenImage:
        """Return the image that the model sees: its pixels with the grid of patches."""
        height, width = pixels.shape[:2]
        grid = (height // self.patch[0], width // self.patch[1])
        return SeenImage(np.ascontiguousarray(pixels).tobytes(), (height, width), grid, self.patch)


def _special(name: str, at: int) -> Token:
    return Token(name, -1, at, at, is_special=True)


@dataclass(frozen=True)
class Sentence:
    """The texts and tokens of one batch item. `tgt` holds `<bos:…>` and, unless it was cut, `<eos>`.

    `first_row` is the target position of the first computed row; it is above 0 if earlier rows are in a cache. `spans`
    name tokens of a decoder's text, such as the turns of a conversation. `images` are the images to which tokens with a
    `place` belong.
    """

    src: tuple[Token, ...] = ()
    tgt: tuple[Token, ...] = ()
    src_text: str = ""
    tgt_text: str = ""
    cut: bool = False
    first_row: int = 0
    spans: tuple[Span, ...] = ()
    images: tuple[SeenImage, ...] = ()

    @property
    def tgt_in(self) -> tuple[Token, ...]:
        """The decoder's input tokens, one for each row."""
        return self.tgt if self.cut else self.tgt[:-1]

    @property
    def tgt_out(self) -> tuple[Token, ...]:
        """The output token of each row: the next token, or "(cut)" if decoding stopped at its limit."""
        end = len(self.tgt_text)
        return (*self.tgt[1:], Token(CUT, -1, end, end, is_special=True)) if self.cut else self.tgt[1:]

    def as_one_pass(self) -> "Sentence":
        """Return the same sentence with rows from 0, as one pass over the whole target computes them."""
        return replace(self, first_row=0)

    def queries(self, kind: Kind) -> tuple[Token, ...]:
        """Return the input token of each row of a kind's maps."""
        return self.src if kind == "encoder_self" else self.tgt_in[self.first_row :]

    def keys(self, kind: Kind) -> tuple[Token, ...]:
        """Return the token of each column of a kind's maps."""
        return self.tgt_in if kind == "decoder_self" else self.src

    def outputs(self, kind: Kind) -> tuple[Token, ...] | None:
        """Return the output token of each row of a kind's maps, or None for an encoder, which outputs no tokens."""
        return None if kind == "encoder_self" else self.tgt_out[self.first_row :]


@dataclass(frozen=True)
class RunInfo:
    """The origin of a trace: the model id, language, device and dtype, and notes on the input.

    `forward_seconds` is the time of the recorded pass, `decoding_seconds` the time of the step-by-step decoding before
    it, including passes over rejected drafts.
    """

    model_id: str = ""
    to: str = ""
    device: str = "cpu"
    dtype: str = "float32"
    forward_seconds: float = 0.0
    decoding_seconds: float = 0.0
    notes: tuple[str, ...] = ()
