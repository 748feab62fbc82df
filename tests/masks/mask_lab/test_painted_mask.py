"""A painted mask goes through a link and comes back."""

import contextlib
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from attnviz.masks.masks import PaintingError, painting_of_text, painting_to_text
from tests.each_case import each_case

MASKS = arrays.arrays(bool, st.tuples(st.integers(1, 40), st.integers(1, 40)))


@given(MASKS)
def test_a_painting_comes_back_from_its_text(painted: np.ndarray) -> None:
    back = painting_of_text(painting_to_text(painted))
    assert np.array_equal(back if back is not None else np.ones_like(painted), painted)


@given(MASKS)
def test_the_text_needs_no_escaping_in_an_address(painted: np.ndarray) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]*", painting_to_text(painted))


def test_an_unpainted_mask_is_written_as_an_empty_text() -> None:
    assert painting_to_text(np.ones((3, 4), dtype=bool)) == ""
    assert painting_of_text("") is None


def test_a_known_painting_has_this_text() -> None:
    """Links that were shared must keep their meaning, and the script in the browser writes the same."""
    painted = np.array([[True, False, True], [False, False, True]])
    assert painting_to_text(painted) == "AgMBAQECAQ"


def test_a_painted_stroke_of_a_long_text_stays_short() -> None:
    painted = np.ones((256, 256), dtype=bool)
    painted[40:60, 100:140] = False
    assert len(painting_to_text(painted)) < 120


@given(st.text(max_size=60))
def test_any_other_text_is_a_clear_error_or_a_mask(text: str) -> None:
    with contextlib.suppress(PaintingError):
        painted = painting_of_text(text)
        assert painted is None or painted.dtype == bool


# Wrong sums; no rows; a number without an end; half a byte; no base64; a number of six bytes; a known painting with the
# beginning of another number, and with signs between that base64 does not have.
@each_case("text", ["AgMBAQECAg", "AAAA", "gICAgICAgIA", "A", "###", "AQGBgICAgAA", "AgMBAQECAYA", "AgMBAQECAQ!!!!"])
def test_a_text_whose_runs_do_not_fill_it_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="cannot be read"):
        painting_of_text(text)
