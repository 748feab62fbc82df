"""What a class answered, as figures: counts on the right cells, the truth told apart, nothing read as markup."""

import pytest
import torch

from attnviz.classroom.figures.answers_chart import bars_of_choices, clicks_on_map, dots_on_a_line, rows_compared
from attnviz.maps.grouping import ColLabel, RowLabel
from attnviz.maps.maps import EagerMaps
from tests.each_case import each_case

NASTY = "<b>$x$&amp;"


@pytest.fixture
def maps() -> EagerMaps:
    return EagerMaps(
        kind="cross",
        attn=torch.rand(1, 1, 3, 5),
        mask=torch.ones(1, 1, 3, 5, dtype=torch.bool),
        rows=tuple(RowLabel(str(at), str(at), (at,)) for at in range(3)),
        cols=tuple(ColLabel(NASTY, (at,)) for at in range(5)),
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_each_cell_has_a_disc_with_how_many_clicked_it(maps, theme: str) -> None:
    figure = clicks_on_map(maps, (0, 0), {(2, 4): 17, (1, 0): 3, (0, 0): 0}, [(2, 4)], theme=theme)
    discs = next(part for part in figure.data if part.name == "clicked")
    assert list(zip(discs.y, discs.x, discs.text, strict=True)) == [(1, 0, "3"), (2, 4, "17")]
    assert discs.marker.size[0] < discs.marker.size[1]
    frames = [part for part in figure.data if part.name == "right"]
    assert {part.line.color for part in frames} != {frames[0].line.color}, "two inks, seen on any cell"
    assert (frames[0].x[0], frames[0].y[0]) == pytest.approx((3.52, 1.52))


def test_nobody_clicked_is_a_map_without_discs(maps) -> None:
    figure = clicks_on_map(maps, ("mean", 0), {}, [], theme="light")
    assert next(part for part in figure.data if part.name == "clicked").x == ()


def test_the_right_option_is_told_by_a_tick_and_by_no_hatching() -> None:
    figure = bars_of_choices([NASTY, "b", "c"], [1, 3, 0], 1, theme="light")
    assert figure.data[0].text == ("1 · 25%", "3 · 75%", "0 · 0%")
    assert figure.data[0].marker.pattern.shape == ("/", "", "/")
    assert figure.layout.yaxis.ticktext == ("&lt;b&gt;&#36;x&#36;&amp;amp;", "✓ b", "c")


def test_where_nothing_is_known_to_be_right_nothing_is_marked() -> None:
    assert "✓" not in "".join(bars_of_choices(["a", "b"], [0, 0], None, theme="dark").layout.yaxis.ticktext)


def test_the_class_and_the_model_stand_side_by_side_with_their_weights() -> None:
    figure = rows_compared([NASTY, "b"], [0.25, 0.75], [0.5, 0.5], theme="light")
    own, model = figure.data
    assert (own.y, model.y) == ((0.25, 0.75), (0.5, 0.5))
    assert own.marker.pattern.shape == "/"
    assert figure.layout.barmode == "group"


def test_numbers_are_dots_and_what_lies_far_off_says_so() -> None:
    figure = dots_on_a_line([1.0, 1.0, 0.9, 10_000.0], 1.0, 0.001, unit="nats", theme="light")
    dots = figure.data[0]
    assert dots.y[:2] == (1, 2), "equal ones are stacked"
    assert dots.marker.symbol[3] == "triangle-right"
    assert dots.customdata[3] == 10_000
    assert "beyond this axis" in figure.layout.xaxis.title.text
    assert figure.layout.xaxis.range[1] < 2


@each_case("values", [[], [3.0], [3.0, 3.0], [-1e300, 1e300]])
def test_any_numbers_can_be_drawn(values: list[float]) -> None:
    low, high = dots_on_a_line(values, 3.0, 0.0, unit="", theme="light").layout.xaxis.range
    assert low < 3.0 < high
