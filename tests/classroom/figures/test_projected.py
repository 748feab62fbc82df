"""A figure of a class's answers for the projector: letters for the last row, and nothing is lost."""

import pytest
import torch

from attnviz.classroom.figures.answers_chart import (
    PROJECTED_LETTERS,
    bars_of_choices,
    clicks_on_map,
    enlarge_for_projector,
    rows_compared,
)
from attnviz.maps.grouping import ColLabel, RowLabel
from attnviz.maps.maps import EagerMaps

NASTY = "<b>$x$&amp;"


def make_maps(rows: int, cols: int = 5) -> EagerMaps:
    return EagerMaps(
        kind="cross",
        attn=torch.rand(1, 1, rows, cols),
        mask=torch.ones(1, 1, rows, cols, dtype=torch.bool),
        rows=tuple(RowLabel(str(at), str(at), (at,)) for at in range(rows)),
        cols=tuple(ColLabel(NASTY, (at,)) for at in range(cols)),
    )


@pytest.mark.parametrize("rows", [3, 11, 97])
def test_a_map_keeps_its_name_and_gives_rows_letters_that_they_have_room_for(rows: int) -> None:
    figure = enlarge_for_projector(clicks_on_map(make_maps(rows), (0, 0), {(2, 4): 17}, [(2, 4)], theme="light"))
    assert "L0 H0 · key → (source token)" in figure.layout.xaxis.title.text
    assert figure.layout.font.size == (PROJECTED_LETTERS if rows <= 11 else 9)
    assert figure.layout.height is None, "as high as its place"
    assert "<b>" not in "".join(figure.layout.xaxis.ticktext)
    discs = next(part for part in figure.data if part.name == "clicked")
    assert discs.text == ("17",)


@pytest.mark.parametrize(("rows", "cols"), [(6, 7), (21, 18), (3, 40)])
def test_a_disc_and_its_frame_leave_the_right_cell_in_sight(rows: int, cols: int) -> None:
    page = clicks_on_map(make_maps(rows, cols), (0, 0), {(2, 4): 17}, [(2, 4)], theme="light")
    discs = next(part for part in page.data if part.name == "clicked")
    assert discs.marker.size[0] <= 0.75 * 34
    figure = enlarge_for_projector(page)
    discs, frame = (next(part for part in figure.data if part.name == name) for name in ("clicked", "right"))
    sides = 290 / rows, 700 / cols
    assert discs.marker.size[0] <= max(0.75 * min(sides), 0.5 * max(sides))
    assert frame.line.width <= 0.3 * min(sides)


@pytest.mark.parametrize(
    ("names", "slanted"), [(["a", "red", "dog"], False), (["<bos:fr>", "considerations"] * 5, True)]
)
def test_names_of_keys_do_not_overlap(names: list[str], slanted: bool) -> None:
    even = [1 / len(names)] * len(names)
    axis = enlarge_for_projector(rows_compared(names, even, even, theme="light")).layout.xaxis
    assert (axis.tickangle == -40) == slanted
    assert slanted or max(map(len, names)) * axis.tickfont.size * 0.62 <= 700 / len(names)
    many = enlarge_for_projector(rows_compared(["token"] * 60, [0.1] * 60, [0.1] * 60, theme="light")).layout.xaxis
    assert many.tickfont.size < PROJECTED_LETTERS


def test_a_long_option_stands_in_lines_and_none_is_markup() -> None:
    long = (
        "Less than a tenth of it, for this head looks at <b>neighbours</b> and at nothing else that there is anywhere"
    )
    figure = enlarge_for_projector(bars_of_choices([long, "b"], [1, 3], 1, theme="light"))
    first = figure.layout.yaxis.ticktext[0].split("<br>")
    assert len(first) == 3
    assert first[-1].endswith("…")
    assert "<b>" not in "".join(first)
    assert figure.data[0].textfont.size == PROJECTED_LETTERS
