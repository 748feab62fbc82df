"""The scales that every map is drawn in: even, ordered by lightness, and readable whatever cones an eye has."""

import numpy as np
import pytest

from attnviz.kit.views import colour
from tests.each_case import each_case

SEQUENTIAL = ["SEQUENTIAL_LIGHT", "SEQUENTIAL_DARK"]
DIVERGING = ["DIVERGING_LIGHT", "DIVERGING_DARK"]
PANELS = {"LIGHT": (0xFF, 0xFF, 0xFF), "DARK": (0x16, 0x1A, 0x22)}

# Full dichromacy as matrices on linear RGB: Machado, Oliveira and Fernandes, "A Physiologically-based Model for
# Simulation of Color Vision Deficiency" (2009), severity 1.
BLINDNESS = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def scale(name: str) -> np.ndarray:
    return np.array(getattr(colour, name))


def oklab_seen(rgb: np.ndarray, blindness: str) -> np.ndarray:
    """OKLab of the colours as a dichromat sees them."""
    share = rgb / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    linear = (linear @ np.array(BLINDNESS[blindness]).T).clip(0, 1)
    back = np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)
    return colour.oklab(back * 255)


def steps(lab: np.ndarray) -> np.ndarray:
    return np.linalg.norm(np.diff(lab, axis=0), axis=1)


def test_oklab_of_colours_that_its_author_gives() -> None:
    assert colour.oklab(np.array([255, 255, 255])) == pytest.approx([1, 0, 0], abs=1e-6)
    assert colour.oklab(np.array([0, 0, 0])) == pytest.approx([0, 0, 0])
    # Red, from the CSS Color 4 specification's conversions: 0.628 0.225 0.126.
    assert colour.oklab(np.array([255, 0, 0])) == pytest.approx([0.62796, 0.22486, 0.12585], abs=1e-4)


def test_oklab_there_and_back() -> None:
    rgb = np.random.default_rng(0).integers(0, 256, (101, 3))
    assert colour.srgb(colour.oklab(rgb)) == pytest.approx(rgb, abs=1e-4)


@each_case("name", SEQUENTIAL + DIVERGING)
def test_a_scale_is_256_rgb_entries(name: str) -> None:
    entries = getattr(colour, name)
    assert len(entries) == 256
    assert all(len(entry) == 3 and all(type(c) is int and 0 <= c <= 255 for c in entry) for entry in entries)


@pytest.mark.parametrize("name", SEQUENTIAL)
def test_zero_is_the_colour_of_the_panel(name: str) -> None:
    assert tuple(scale(name)[0]) == PANELS[name.split("_")[1]]


@pytest.mark.parametrize("name", DIVERGING)
def test_no_difference_is_the_colour_of_the_panel(name: str) -> None:
    assert tuple(scale(name)[127]) == tuple(scale(name)[128]) == PANELS[name.split("_")[1]]


@pytest.mark.parametrize("name", SEQUENTIAL)
def test_neighbouring_colours_of_a_scale_look_equally_far_apart(name: str) -> None:
    lab = colour.oklab(scale(name))
    # Over 15 entries rounding to 8 bits no longer matters: the straight distance varies little.
    chords = np.linalg.norm(lab[15:] - lab[:-15], axis=1)
    assert chords.max() < 1.15 * chords.min()
    assert steps(lab).min() > 0


@pytest.mark.parametrize("name", SEQUENTIAL)
def test_lightness_runs_one_way_and_far(name: str) -> None:
    lightness = colour.oklab(scale(name))[:, 0]
    direction = np.sign(lightness[-1] - lightness[0])
    assert (direction * np.diff(lightness) > 0).all()
    assert abs(lightness[-1] - lightness[0]) > 0.7


@each_case("blindness", BLINDNESS)
@each_case("name", SEQUENTIAL)
def test_colour_blind_readers_see_the_same_order(name: str, blindness: str) -> None:
    lab = oklab_seen(scale(name), blindness)
    direction = np.sign(lab[-1, 0] - lab[0, 0])
    assert (direction * np.diff(lab[::3, 0]) > 0).all()
    assert (direction * np.diff(lab[:, 0]) > -1e-3).all()  # one 8-bit step of one channel
    assert steps(lab).min() > 0
    assert steps(lab[::15]).min() > 0.02  # 17 bands that can be told apart


@pytest.mark.parametrize("name", DIVERGING)
def test_both_signs_are_equally_strong(name: str) -> None:
    lightness = colour.oklab(scale(name))[:, 0]
    assert np.abs(lightness[:128][::-1] - lightness[128:]).max() < 0.05
    away = np.sign(lightness[-1] - lightness[128])
    assert (away * np.diff(lightness[128:]) > 0).all()
    assert (away * np.diff(lightness[:128]) < 0).all()


@each_case("blindness", BLINDNESS)
@each_case("name", DIVERGING)
def test_colour_blind_readers_tell_the_signs_apart(name: str, blindness: str) -> None:
    lab = oklab_seen(scale(name), blindness)
    below, above = lab[:128][::-1], lab[128:]
    apart = np.linalg.norm((below - above)[:, 1:], axis=1)  # by colour alone: both are equally light
    assert (apart[32:] > 0.05).all()  # from a quarter of the range on


def test_plotly_takes_the_same_colours() -> None:
    stops = colour.plotly_scale(colour.SEQUENTIAL_LIGHT)
    assert stops[0] == [0.0, "#ffffff"]
    assert stops[-1] == [1.0, "#1f115e"]
    assert [place for place, _ in stops] == sorted(place for place, _ in stops)


def test_plotlys_diverging_scale_is_the_panel_in_the_middle() -> None:
    stops = dict(map(tuple, colour.plotly_scale(colour.DIVERGING_DARK)))
    assert stops[127 / 255] == stops[128 / 255] == "#161a22"


def test_an_unknown_theme_is_refused() -> None:
    with pytest.raises(ValueError, match="not 'sepia'"):
        colour.theme("sepia")


def test_a_theme_draws_text_that_can_be_read_on_its_panel() -> None:
    for name in ("light", "dark"):
        chosen = colour.theme(name)
        hexes = np.array(
            [[int(c[at : at + 2], 16) for at in (1, 3, 5)] for c in (chosen.panel, chosen.text, chosen.muted)]
        )
        share = hexes / 255
        linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
        panel, text, muted = linear @ [0.2126, 0.7152, 0.0722] + 0.05
        assert max(panel / text, text / panel) > 7
        assert max(panel / muted, muted / panel) > 4.5


def test_contrast_is_that_of_wcag() -> None:
    assert colour.contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    assert colour.contrast((119, 119, 119), (255, 255, 255)) == pytest.approx(4.48, abs=0.005)  # #777, the known miss


@pytest.mark.parametrize("scale", [colour.SEQUENTIAL_LIGHT, colour.SEQUENTIAL_DARK], ids=["light", "dark"])
def test_numbers_are_read_on_every_shade(scale: colour.Scale) -> None:
    for shade in scale:
        ink = (0, 0, 0) if colour.ink_on(shade) == "#000000" else (255, 255, 255)
        assert colour.contrast(shade, ink) >= 4.5
