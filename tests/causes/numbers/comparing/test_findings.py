"""Numbers side by side: two that differ are never printed alike, and the difference is that of the printed ones."""

import math
import re
from itertools import product

import pytest
import torch

from attnviz.causes.corpus.numbers.change_counts import ChangeCount, Interval
from attnviz.causes.numbers.chances import AskedTokens, Chances
from attnviz.causes.numbers.effects import HeadEffects
from attnviz.causes.numbers.findings import (
    change_in_nats,
    count_findings,
    effect_findings,
    percents,
    run_findings,
    text_findings,
)
from attnviz.text.tokens import Token
from tests.each_case import each_case


def numbers(text: str) -> list[str]:
    return re.findall(r"−?\d+\.\d+", text)


@each_case("change", [-3.0, -0.4, -0.0046, -1e-5, 2e-6, 0.6])
def test_two_values_are_told_apart_and_their_change_is_the_printed_one(change) -> None:
    for before, least in product((-0.05, -0.0514, -7.0, -1e-7), (2, 3)):
        first, second, told = numbers(change_in_nats(before, before + change, least=least))
        assert first != second
        printed = [float(each.replace("−", "-")) for each in (first, second, told)]
        assert printed[1] - printed[0] == pytest.approx(printed[2], abs=1e-9)
        assert printed[2] == pytest.approx(change, rel=0.1, abs=1e-6)


def test_what_no_digit_shows_is_printed_once() -> None:
    assert change_in_nats(-0.05, -0.05) == "−0.05 nats, unchanged"
    assert numbers(change_in_nats(-0.05, -0.05 - 1e-9)) == ["−0.05", "0.000001"]


@each_case(
    ("before", "after", "told"),
    [
        (0.945, 0.944999, ("94.500%", "94.4999%")),
        (0.906, 1e-5, ("90.6%", "<0.1%")),
        (4e-4, 1e-4, ("0.04%", "0.01%")),
        (0.99999, 0.9997, (">99.9%", "99.97%")),
        (0.5, 0.5, ("50.0%", "50.0%")),
    ],
)
def test_two_shares_are_told_apart(before, after, told) -> None:
    here, there = percents(before, after)
    assert (here != there) == (before != after)
    if len(told[0]) == len(here):
        assert here == told[0]


def token(text: str, id_: int = 1) -> Token:
    return Token(text, id_, 0, len(text))


def effects(mean: list[float], before: list[float]) -> HeadEffects:
    places = tuple(("cross", 0, head) for head in range(len(mean)))
    logs = torch.tensor(before)
    return HeadEffects(places, tuple(map(token, "abc"[: len(before)])), logs, logs + torch.tensor(mean).unsqueeze(-1))


def chances(logs: list[float], *, rivals: list[int] | None = None, of_rivals: list[float] | None = None) -> Chances:
    asked = AskedTokens(tuple(range(len(logs))), tuple(token(text, at) for at, text in enumerate("abc"[: len(logs)])))
    others = rivals or [9] * len(logs)
    return Chances(asked, torch.tensor(logs), torch.tensor(others), torch.tensor(of_rivals or [-5.0] * len(logs)))


def test_the_head_that_costs_most_is_told_with_the_digits_of_the_difference() -> None:
    first = effect_findings(effects([-0.0046, 0.0], [-0.0514, -0.0514]), None)[0]
    assert "0.5% less likely on average (−0.0514 → −0.0560 nats, a change of −0.0046)" in first
    tiny = effect_findings(effects([-0.0002], [-0.05]), None)[0]
    assert "<0.1% less likely on average" in tiny, "never 0.0%"
    assert "100.0%" not in effect_findings(effects([-12.0], [-0.05]), None)[0]
    assert "No single head matters" in effect_findings(effects([0.0, 0.1], [-0.05]), None)[0]


def test_what_only_gains_is_not_said_to_lose() -> None:
    said = run_findings(chances([-1.0, -2.0]), chances([-0.9, -1.5]))
    assert said[1].startswith("No token gets less likely; “b” gains most: 13.5% → 22.3%")
    assert run_findings(chances([-1.0]), chances([-1.0]))[0].endswith("No probability changed.")
    nearly = run_findings(chances([-0.05]), chances([-0.05 - 5e-9]))
    assert "changes by 0.000001 % or more" in nearly[1]
    assert "1 of 2 tokens have no probability" in run_findings(chances([-1.0, -1.0]), chances([-1.0, math.nan]))[0]


def test_margins_are_told_only_of_what_either_run_found_likeliest() -> None:
    start, own, other = token("<bos>", 5), token("a", 0), token("z", 9)
    before, after = chances([-0.5], of_rivals=[-0.503]), chances([-1.0], of_rivals=[-0.6])
    (said,) = text_findings(before, after, ((start, own), (start, other)))
    assert "by 0.0030 nats" in said, "no margin is 0.00"
    (said,) = text_findings(before, chances([-1.0], rivals=[4], of_rivals=[-0.6]), ((start, own), (start, other)))
    assert said == "The first difference is at “a”: the model now writes “z”."
    (said,) = text_findings(chances([-0.5], of_rivals=[-0.1]), after, ((start, own), (start, other)))
    assert "ahead" not in said, "a token that may not be written was likelier"


def test_a_count_over_many_adds_up_as_it_is_printed() -> None:
    said = count_findings(ChangeCount(200, 136, -0.7214, Interval(-0.0014, -0.00143, -0.00137), 45))[1]
    before, after, change, low, high = (float(each.replace("−", "-")) for each in numbers(said)[:5])
    assert after - before == pytest.approx(change, abs=1e-9)
    assert low < change < high
