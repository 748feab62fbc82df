"""Colours of values are the entries of Python's scales."""

import numpy as np
import pytest

from attnviz.kit.views import colour
from tests.heads.component.heads_page import NEEDS_A_BROWSER

pytestmark = NEEDS_A_BROWSER

DRAWS = np.random.default_rng(9)
SCALES = {"sequential": colour.SEQUENTIAL_LIGHT, "diverging": colour.DIVERGING_LIGHT}
# An app with no more than a scale is looked up by.
APP = """(scales) => ({
  theme: { name: "light" }, payload: { header: { base: "" }, scales: { light: Object.fromEntries(
    Object.entries(scales).map(([name, rgb]) => [name, Uint8Array.from(rgb)])) } } })"""


@pytest.fixture(scope="module")
def theme(module):
    return module("kit/js/theme.js")


def steps(values: np.ndarray, low: float, high: float) -> np.ndarray:
    part = (values - low) / (high - low)
    return np.clip(np.floor(part * 255 + 0.5), 0, 255).astype(int)


@pytest.mark.parametrize(
    ("name", "low", "high"), [("sequential", 0, 1), ("diverging", -2.5, 2.5), ("sequential", 0, 255)]
)
def test_pixels_and_single_colours_are_pythons(theme, name, low, high) -> None:
    values = np.float32([*DRAWS.uniform(low - 0.2, high + 0.2, 194), low, high, (low + high) / 2, *([low - 1e6] * 3)])
    act = f"""({{ imageOf, scaleOf, stepOf, colourAt }}, [scales, name, values, bounds]) => {{
      const scale = scaleOf(({APP})(scales), name);
      const image = imageOf(Float32Array.from(values), [10, 20], scale, bounds);
      const colours = values.map((value) => colourAt(scale, stepOf(value, ...bounds)));
      return [[...image.data], image.width, image.height, colours];
    }}"""
    tables = {key: np.ravel(scale).tolist() for key, scale in SCALES.items()}
    pixels, width, height, colours = theme(act, [tables, name, values.tolist(), [low, high]])
    expected = np.array(SCALES[name])[steps(values.astype(float), low, high)]
    assert (width, height) == (20, 10)
    rgba = np.array(pixels).reshape(-1, 4)
    assert np.array_equal(rgba[:, :3], expected)
    assert (rgba[:, 3] == 255).all()
    assert np.array_equal(np.array(colours), expected)


def test_a_range_without_width_has_the_first_colour(theme) -> None:
    assert theme("({ stepOf }) => [stepOf(0, 0, 0), stepOf(0.2, 0.2, 0.2)]") == [0, 0]


def test_another_base_or_theme_has_scales_of_its_own(theme) -> None:
    act = f"""({{ scaleOf }}, scales) => {{
      const app = ({APP})(scales);
      const [first, again] = [scaleOf(app, "sequential"), scaleOf(app, "sequential")];
      app.payload = {{ ...app.payload, header: {{ base: "other" }} }};
      return [first === again, first === scaleOf(app, "sequential")];
    }}"""
    assert theme(act, {key: np.ravel(scale).tolist() for key, scale in SCALES.items()}) == [True, False]


def test_colours_are_mixed_weighed_and_written(theme) -> None:
    first, second = DRAWS.integers(0, 256, (2, 3)).tolist()
    mixed = theme("({ mix }, [a, b]) => [mix(a, b, 1), mix(a, b, 0), mix(a, b, 0.25)]", [first, second])
    quarter = np.floor(0.25 * np.array(first) + 0.75 * np.array(second) + 0.5).astype(int).tolist()
    assert mixed == [first, second, quarter]
    assert theme("({ luminance }) => [[0, 0, 0], [255, 255, 255], [0, 255, 0]].map(luminance)") == [
        0,
        pytest.approx(1),
        0.7152,
    ]
    assert theme("({ css }) => [css([1, 2, 3]), css([1, 2, 3], 0.5)]") == ["rgb(1,2,3)", "rgba(1,2,3,0.5)"]
