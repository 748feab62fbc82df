"""Numbers read as they are: compared with exact decimal arithmetic, halves away from zero."""

import math
from decimal import ROUND_HALF_UP, Context, Decimal

import numpy as np
import pytest

from tests.heads.component.heads_page import NEEDS_A_BROWSER

pytestmark = NEEDS_A_BROWSER

FIVE_DIGITS = Context(prec=5, rounding=ROUND_HALF_UP)
EDGES = [0.0, -0.0, 1e-5, 9.99996, 0.000099999, 0.0000999996, 1e-4, 99999.6, 1234.25, -0.5, 1e-320, 1e300, 5e-324, 1.0]


def many_numbers() -> list[float]:
    draws = np.random.default_rng(5)
    sizes = draws.normal(size=1500) * 10 ** draws.uniform(-9, 7, 1500)
    weights = np.float32(draws.dirichlet(np.full(500, 0.05)))
    return [*EDGES, *(-value for value in EDGES), *sizes.tolist(), *map(float, weights)]


def five_digits(value: float) -> str:
    if value == 0:
        return "0"
    number = FIVE_DIGITS.plus(Decimal(value))
    if abs(value) < 1e-4 or number.adjusted() >= 5:
        return f"{number:.4e}"
    return f"{number:.{4 - number.adjusted()}f}"


def round_half_up(value: float, decimals: int) -> Decimal:
    return Decimal(value).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)


@pytest.fixture(scope="module")
def text(module):
    return module("kit/js/text.js")


def test_an_exact_number_has_five_digits(text) -> None:
    values = many_numbers()
    said = text("({ exactText }, values) => values.map(exactText)", values)
    assert dict(zip(values, said, strict=True)) == {value: five_digits(value) for value in values}


def test_what_is_no_finite_number_says_so(text) -> None:
    said = text("({ exactText }, values) => values.map(exactText)", [math.nan, math.inf, -math.inf])
    assert said == ["NaN", "Infinity", "-Infinity"]


def test_a_short_number_has_two_decimals_or_one_and_no_zero_is_below_zero(text) -> None:
    values = [value for value in many_numbers() if abs(value) < 1e15]
    said = text("({ shortText }, values) => values.map(shortText)", values)
    for value, shown in zip(values, said, strict=True):
        number = round_half_up(value, 1 if abs(value) >= 10 else 2)
        assert shown == (str(number).replace("-", "−") if number else "0.00"), value
    nothing = text("({ shortText }) => [null, undefined, NaN].map(shortText)")
    assert nothing == ["–"] * 3


def test_a_percentage_of_something_is_never_zero(text) -> None:
    shares = [0.0, 5e-324, 0.00009, 0.0001, 0.0123456, 0.09996, 0.1, 0.5, 0.99949, 0.9995, 1.0]
    said = text("({ percentText }, shares) => shares.map(percentText)", shares)
    assert said == ["0%", "<0.01%", "<0.01%", "0.01%", "1.23%", "10.00%", "10.0%", "50.0%", "99.9%", "100%", "100%"]


def test_sites_and_rows_have_names(text) -> None:
    sites = [[0, 3], ["mean", 2], [1, "mean"], ["mean", "mean"]]
    names = ["L0 H3", "H2 mean over layers", "L1 mean over heads", "mean of all heads"]
    assert text("({ siteName }, sites) => sites.map((site) => siteName(...site))", sites) == names
    rows = [["in", "out"], ["in", None], [None, "out"]]
    assert text("({ rowName }, rows) => rows.map(rowName)", rows) == ["in → out", "in", "out"]


def test_a_hybrids_layers_are_said_with_the_models_own_numbers(text) -> None:
    assert text("({ attendingNote }) => attendingNote([1, 4])") == (
        "only layers with attention are counted: L0 is layer 1, L1 is layer 4 in the model’s own numbering"
    )
    columns = "({ layerNames, layerCells }, own) => [layerNames(own), layerCells(own, 1)]"
    assert text(columns, [1, 4]) == [["layer", "model_layer"], [1, 4]]
    assert text(columns, []) == [["layer"], [1]]


def test_two_shares_side_by_side_are_never_printed_alike_where_they_differ(text) -> None:
    pairs = [(0.945, 0.944999), (0.99999, 0.9997), (1.23e-6, 1.24e-6), (0.5, 0.4), (0.5, 0.5), (0.9, None)]
    said = text("({ percentTexts }, pairs) => pairs.map((pair) => percentTexts(...pair))", pairs)
    assert all((one == other) == (before == after) for (one, other), (before, after) in zip(said, pairs, strict=True))
    assert said[0] == ["94.500%", "94.4999%"] or said[0] == ["94.5000%", "94.4999%"]
    assert said[3:] == [["50.0%", "40.0%"], ["50.0%", "50.0%"], ["90.0%", "NaN"]]
