"""Colour scales for weights: a sequential and a diverging scale, each for light and dark, with 256 RGB entries.

A scale is a smooth curve through four colours in OKLab (Björn Ottosson, "A perceptual color space for image
processing", 2020), in steps of equal perceived difference. Lightness is monotonic, so that the order of values is
visible in grey print and with every kind of colour blindness. Value 0 has the colour of the page's panel.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

Rgb = tuple[int, int, int]
Scale = tuple[Rgb, ...]
ENTRIES = 256

_TO_CONE = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
_LUMINANCE = np.array([0.2126, 0.7152, 0.0722])  # weights of linear red, green and blue


def oklab(rgb: Float[np.ndarray, "*any 3"]) -> Float[np.ndarray, "*any 3"]:
    """Convert sRGB, 0 to 255, to OKLab: lightness from 0 to 1, and the axes green–red and blue–yellow around 0."""
    return np.cbrt(_linear(rgb) @ _TO_CONE.T) @ _TO_LAB.T


def _linear(rgb: Float[np.ndarray, "*any 3"]) -> Float[np.ndarray, "*any 3"]:
    """Convert sRGB, 0 to 255, to linear light, 0 to 1."""
    rgb = np.asarray(rgb, dtype=float) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def contrast(one: Rgb, other: Rgb) -> float:
    """Compute the contrast ratio of two colours, 1 to 21 (WCAG 2.2); small text needs 4.5."""
    low, high = sorted(float(_linear(np.array(rgb)) @ _LUMINANCE) for rgb in (one, other))
    return (high + 0.05) / (low + 0.05)


def ink_on(rgb: Rgb) -> str:
    """Return black or white, whichever has more contrast with a colour; the contrast is always at least 4.5."""
    is_black = contrast(rgb, (0, 0, 0)) >= contrast(rgb, (255, 255, 255))
    return "#000000" if is_black else "#ffffff"


def srgb(lab: Float[np.ndarray, "*any 3"]) -> Float[np.ndarray, "*any 3"]:
    """Convert OKLab to sRGB, 0 to 255; values outside this range are colours that no screen can show."""
    linear = (np.asarray(lab) @ np.linalg.inv(_TO_LAB).T) ** 3 @ np.linalg.inv(_TO_CONE).T
    return 255 * np.where(linear <= 0.0031308, linear * 12.92, 1.055 * np.abs(linear) ** (1 / 2.4) - 0.055)


def sequential_scale(knots: tuple[str, str, str, str], entries: int = ENTRIES) -> Scale:
    """Make a colour scale through four colours such as "#1f115e", the first for 0, in steps of equal OKLab distance."""
    curve = _interpolate(oklab(np.array([_parse_hex(knot) for knot in knots])), np.linspace(0, 1, 4001))
    walked = np.concatenate([[0], np.linalg.norm(np.diff(curve, axis=0), axis=1).cumsum()])
    steps = np.linspace(0, walked[-1], entries)
    even = np.stack([np.interp(steps, walked, curve[:, axis]) for axis in range(3)], axis=1)
    return tuple((int(r), int(g), int(b)) for r, g, b in srgb(even).round().clip(0, 255))


def diverging_scale(below: tuple[str, str, str, str], above: tuple[str, str, str, str]) -> Scale:
    """Make a scale from two sequential scales that share their first colour in the middle."""
    return sequential_scale(below, ENTRIES // 2)[::-1] + sequential_scale(above, ENTRIES // 2)


def plotly_scale(scale: Scale) -> list[list[float | str]]:
    """Convert a scale to Plotly's format: every fifth entry and the middle, between which Plotly interpolates."""
    last = len(scale) - 1
    stops = sorted({*range(0, last + 1, 5), last // 2, last // 2 + 1, last})
    return [[at / last, "#{:02x}{:02x}{:02x}".format(*scale[at])] for at in stops]


def _parse_hex(colour: str) -> Rgb:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _interpolate(knots: Float[np.ndarray, "4 3"], at: Float[np.ndarray, " steps"]) -> Float[np.ndarray, "steps 3"]:
    """Interpolate four knots at 0, 1/3, 2/3 and 1 with a cubic (Lagrange)."""
    places = np.arange(4) / 3
    weights = [
        np.prod([(at - other) / (place - other) for other in places if other != place], axis=0) for place in places
    ]
    return np.stack(weights, axis=1) @ knots


_PANEL_LIGHT, _PANEL_DARK = "#ffffff", "#161a22"
SEQUENTIAL_LIGHT = sequential_scale((_PANEL_LIGHT, "#a9c0f3", "#505ed0", "#1f115e"))
SEQUENTIAL_DARK = sequential_scale((_PANEL_DARK, "#414699", "#8a82e6", "#f9f5ff"))
# Amber below 0, indigo above: distinguishable with every kind of colour blindness.
DIVERGING_LIGHT = diverging_scale(
    (_PANEL_LIGHT, "#f2be93", "#bf6d2b", "#68350c"), (_PANEL_LIGHT, "#b3c4f4", "#5f70d8", "#2b2487")
)
DIVERGING_DARK = diverging_scale(
    (_PANEL_DARK, "#684a34", "#b5763f", "#f9bd8a"), (_PANEL_DARK, "#3f447f", "#736dcb", "#c0b9fb")
)


@dataclass(frozen=True)
class Theme:
    """The colours of a figure: background, text, muted text, lines, accent, and the two scales."""

    panel: str
    text: str
    muted: str
    line: str
    accent: str
    sequential: Scale
    diverging: Scale


_THEMES = {
    "light": Theme(_PANEL_LIGHT, "#1a1c25", "#6b7080", "#e4e6ee", "#4f46e5", SEQUENTIAL_LIGHT, DIVERGING_LIGHT),
    "dark": Theme(_PANEL_DARK, "#e7e9f0", "#9297a6", "#262c38", "#8b81f4", SEQUENTIAL_DARK, DIVERGING_DARK),
}


def theme(name: str) -> Theme:
    """Return the colours of "light" or "dark". Raise ValueError for any other name."""
    if name not in _THEMES:
        raise ValueError(f"theme must be 'light' or 'dark', not {name!r}.")
    return _THEMES[name]
