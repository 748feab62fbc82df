"""Example images for vision models: six that this file draws (CC0), and ten digits for toys that read digits.

The digits come from the toys' data set (CC BY 4.0, see `assets/digits/README.md`).
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

SIZE = (240, 320)  # height and width, neither square nor a multiple of most patches
_FINE = 4  # drawn so many times as large, then made smaller, so that edges are smooth

_GREEN, _BLUE, _RED, _YELLOW, _WHITE, _DARK = (
    (96, 148, 88), (88, 140, 196), (200, 70, 60), (240, 196, 70), (244, 244, 240), (44, 48, 60),
)  # fmt: skip


def _ball(pen: Any) -> None:
    pen.rectangle((0, 150, 320, 240), fill=_GREEN)
    pen.ellipse((108, 84, 212, 188), fill=_RED)
    pen.ellipse((132, 100, 160, 128), fill=(236, 150, 140))


def _house(pen: Any) -> None:
    pen.rectangle((0, 180, 320, 240), fill=_GREEN)
    pen.rectangle((90, 100, 230, 200), fill=_WHITE)
    pen.polygon([(74, 104), (160, 44), (246, 104)], fill=_RED)
    pen.rectangle((146, 140, 176, 200), fill=(120, 80, 50))
    for left in (104, 190):
        pen.rectangle((left, 120, left + 28, 148), fill=_BLUE)


def _cat(pen: Any) -> None:
    fur = (150, 110, 76)
    pen.polygon([(100, 100), (112, 36), (150, 76)], fill=fur)
    pen.polygon([(170, 76), (208, 36), (220, 100)], fill=fur)
    pen.ellipse((92, 56, 228, 196), fill=fur)
    for left in (122, 170):
        pen.ellipse((left, 96, left + 28, 128), fill=_YELLOW)
        pen.ellipse((left + 10, 98, left + 18, 126), fill=_DARK)
    pen.polygon([(152, 142), (168, 142), (160, 152)], fill=(230, 150, 150))
    for lift in (-8, 0, 8):
        pen.line((148, 154, 84, 150 + lift), fill=_WHITE, width=8)
        pen.line((172, 154, 236, 150 + lift), fill=_WHITE, width=8)


def _boat(pen: Any) -> None:
    pen.rectangle((0, 160, 320, 240), fill=(60, 100, 150))
    pen.polygon([(90, 160), (230, 160), (206, 196), (114, 196)], fill=(130, 80, 50))
    pen.line((158, 46, 158, 160), fill=_DARK, width=16)
    pen.polygon([(164, 52), (164, 150), (226, 150)], fill=_WHITE)
    pen.ellipse((24, 22, 72, 70), fill=_YELLOW)


def _shapes(pen: Any) -> None:
    pen.rectangle((34, 40, 118, 124), fill=_BLUE)
    pen.ellipse((190, 34, 286, 130), fill=_YELLOW)
    pen.polygon([(120, 220), (172, 132), (224, 220)], fill=_RED)


def _stripes(pen: Any) -> None:
    for at in range(0, 160, 20):
        pen.rectangle((at, 0, at + 10, 240), fill=_DARK)
    for at in range(0, 240, 20):
        pen.rectangle((160, at, 320, at + 10), fill=_RED)


# Each image's title, its background at the top and at the bottom, and what is drawn on it.
_DRAWN: Mapping[str, tuple[str, tuple[int, ...], tuple[int, ...], Callable[[Any], None]]] = {
    "ball": ("A ball on grass", (170, 205, 235), (214, 230, 242), _ball),
    "house": ("A house", (160, 200, 235), (220, 232, 240), _house),
    "cat": ("A cat’s face", (214, 214, 206), (184, 188, 190), _cat),
    "boat": ("A boat", (250, 214, 170), (190, 214, 236), _boat),
    "shapes": ("Three shapes", _WHITE, (226, 226, 222), _shapes),
    "stripes": ("Stripes of two directions", _WHITE, _WHITE, _stripes),
}
TITLES: Mapping[str, str] = {name: title for name, (title, *_) in _DRAWN.items()}
DIGITS: Mapping[str, str] = {f"digit-{digit}": f"A handwritten {digit}" for digit in range(10)}
ALL_TITLES: Mapping[str, str] = {**TITLES, **DIGITS}


def offered_titles(model: str) -> Mapping[str, str]:
    """Return the titles of the examples that are offered for a model: for a toy, digits first."""
    return {**DIGITS, **TITLES} if model.startswith("toy:") else TITLES


def draw_example(name: str) -> np.ndarray:
    """Draw an example image, `(240, 320, 3)`, by its name; a digit is `(8, 8, 3)`.

    Raises ValueError if there is no such example.
    """
    from PIL import Image, ImageDraw

    if name in DIGITS:
        return _digit(name.removeprefix("digit-"))
    if name not in _DRAWN:
        raise ValueError(f"There is no example image {name[:40]!r}: choose one of {', '.join(_DRAWN)}.")
    _, top, bottom, draw = _DRAWN[name]
    height, width = SIZE
    share = np.linspace(0, 1, height * _FINE)[:, None, None]
    ground = np.broadcast_to((1 - share) * np.array(top) + share * np.array(bottom), (height * _FINE, width * _FINE, 3))
    image = Image.fromarray(ground.round().astype(np.uint8))
    draw(_FinePen(ImageDraw.Draw(image)))
    return np.asarray(image.resize((width, height), Image.Resampling.BOX))


def _digit(digit: str) -> np.ndarray:
    """Return the held-out image of a digit that the recordings of toys watch."""
    from attnviz.toys.tasks.catalogue import TASKS
    from attnviz.toys.tasks.digits import drawn_pixels

    (line,) = (line for line in TASKS["digits"].watched() if line.tgt == (digit,))
    return drawn_pixels(line.src)


class _FinePen:
    """A Pillow pen that takes coordinates of the small image and draws on an enlarged one."""

    def __init__(self, pen: Any) -> None:
        self._pen = pen

    def __getattr__(self, name: str) -> Callable[..., None]:
        stroke = getattr(self._pen, name)

        def fine(places: Any, **how: Any) -> None:
            if name == "polygon":
                stroke([(x * _FINE, y * _FINE) for x, y in places], **how)
            else:
                stroke(tuple(place * _FINE for place in places), **how)

        return fine
