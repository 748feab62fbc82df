"""The task of reading handwritten digits: images of 8 x 8 grey values, cut into patches (`assets/digits/README.md`)."""

from functools import cached_property, lru_cache
from random import Random

import numpy as np

from attnviz.places import ASSETS
from attnviz.toys.tasks.task import Defaults, Example, ToyTask, Words

FILE = ASSETS / "digits" / "digits.npz"
SIDE, PATCH = 8, 2  # pixels of the side of an image and of a patch
GRID = SIDE // PATCH
INK = 16  # the grey value of a pixel that is all ink
CLASSES = 10


@lru_cache(maxsize=1)
def digit_images() -> tuple[np.ndarray, np.ndarray]:
    """Return all images `(count, 8, 8)`, with values from 0 (paper) to 16 (ink), and their digits `(count,)`."""
    with np.load(FILE, allow_pickle=False) as file:
        return file["images"], file["digits"]


def drawn_pixels(values: Words | np.ndarray) -> np.ndarray:
    """Return the pixels `(8, 8, 3)` in which grey values are drawn: paper white, ink black."""
    grey = np.asarray(values, dtype=np.uint8).reshape(SIDE, SIDE, 1)
    return np.repeat(np.rint(255 - grey * (255 / INK)).astype(np.uint8), 3, axis=-1)


class Digits(ToyTask):
    """The task of reading a digit. The words of a line are its image's 64 grey values, row by row."""

    name, title, sample = "digits", "Read digits (images)", ""
    words = tuple(map(str, range(INK + 1)))
    spaced = True
    is_image = True
    held_out = 0.2
    n_answers = CLASSES
    defaults = Defaults(n_layers=2, n_heads=4, steps=1_000)

    def draw(self, random: Random) -> Words:
        return self._lines[random.randrange(len(self._lines))]

    def answer(self, src: Words) -> Words | None:
        return self._digits.get(src)

    def watched(self) -> list[Example]:
        """Return the images whose answers every run records: the first held-out image of each digit.

        A 3 comes first, so that its maps are recorded: its horizontal strokes and gaps show much.
        """
        found = {line.tgt: line for line in reversed(self.examples(held_out=True))}
        return [found[str(digit),] for digit in (3, 8, 9, 4, 7, 1, 2, 6, 5, 0)]

    def examples(self, *, held_out: bool) -> list[Example]:
        """Return all images that are held out, or all others, in the order of the file."""
        return [Example(src, self._digits[src]) for src in self._lines if self.is_held_out(src) is held_out]

    @cached_property
    def _lines(self) -> list[Words]:
        return [tuple(map(str, image)) for image in digit_images()[0].reshape(-1, SIDE * SIDE).tolist()]

    @cached_property
    def _digits(self) -> dict[Words, Words]:
        return {src: (str(digit),) for src, digit in zip(self._lines, digit_images()[1].tolist(), strict=True)}
