"""The script that writes paint into a link, and reads it, does both as Python does."""

import numpy as np
import torch

from attnviz.analysis.mask_spec import fit_mask
from attnviz.masks.masks import painting_to_text
from tests.heads.component.heads_page import NEEDS_A_BROWSER

pytestmark = NEEDS_A_BROWSER


def paintings() -> list[np.ndarray]:
    """Masks of many shapes, and single hidden cells after runs whose numbers take one byte, two, and every sign."""
    draws = np.random.default_rng(7)
    shapes = ((1, 1), (2, 3), (3, 2), (5, 7), (13, 11), (40, 300))
    drawn = [draws.random(shape) < keep for shape in shapes for keep in (0.0, 0.03, 0.5, 0.97, 1.0)]
    return drawn + [np.arange(62 * 63).reshape(62, 63) != cell for cell in (0, 127, 128, 129, 192, 250, 62 * 63 - 1)]


def test_the_script_writes_and_reads_paint_as_python_does(module) -> None:
    script = module("masks/js/painting.js")
    texts = [painting_to_text(painted) for painted in paintings()]
    assert {"-", "_"} <= set("".join(texts)), "the signs in which the two alphabets differ"
    for painted, text in zip(paintings(), texts, strict=True):
        (rows, cols), cells = painted.shape, painted.astype(int).ravel().tolist()
        assert script("({ textOf }, [cells, q, k]) => textOf(cells, q, k)", [cells, rows, cols]) == text
        assert script("({ paintOf }, [text, q, k]) => [...paintOf(text, q, k)]", [text, rows, cols]) == cells


def test_the_script_fits_paint_of_another_length_as_python_does(module) -> None:
    script = module("masks/js/painting.js")
    painted = np.random.default_rng(3).random((4, 6)) < 0.5
    for q, k in ((4, 6), (2, 9), (7, 3)):
        cells = script("({ paintOf }, [text, q, k]) => [...paintOf(text, q, k)]", [painting_to_text(painted), q, k])
        assert cells == fit_mask(torch.from_numpy(painted), q, k).int().flatten().tolist()
