"""Each NaN row is explained by its own cause, and a sentence about one row does not speak of all rows."""

import math

import pytest
import torch
from torch.nn import functional

from attnviz.analysis.fills import DTYPES, FILLS, FillChoice, FilledScores, fill_scores
from attnviz.masks.numbers.findings import comparison, findings, nan_causes, rows_of
from attnviz.transformer.probe import AttentionCall
from tests.each_case import each_case

SHUT = 2
NO_KEY, OVERFLOW, ZERO_BY_ZERO = "no key is left", "the largest float16", "0 / 0"


def call(*, times: float = 1.0, values: float = 1.0) -> AttentionCall:
    draws = torch.Generator().manual_seed(3)
    query, key, value = (torch.randn(1, 1, size, 3, generator=draws) for size in (5, 7, 7))
    return AttentionCall(query * times, key * times, value * values, scale=0.7)


def mask() -> torch.Tensor:
    seen = torch.ones(5, 7, dtype=torch.bool).tril(1)
    seen[SHUT] = False
    return seen


def run(choice: FillChoice, one: AttentionCall | None = None, seen: torch.Tensor | None = None) -> FilledScores:
    made = fill_scores(one or call(), mask() if seen is None else seen, choice)
    parts = (made.mask, made.scores, made.masked_scores, made.attn, made.context)
    return FilledScores(choice, *(None if part is None else part[0, 0] for part in parts), error=made.error)  # type: ignore[arg-type]


@each_case("fill", FILLS)
def test_every_row_that_is_nan_has_a_cause_and_no_other_row_has(fill: str) -> None:
    for dtype in DTYPES:
        made = run(FillChoice(fill, dtype))
        lost = set() if made.attn is None else set(made.attn.isnan().any(dim=-1).nonzero().flatten().tolist())
        assert set(nan_causes(made)) == lost, dtype
        assert sum("NaN" in sentence for sentence in findings(made)) == len(lost), "one sentence for the one row"


@each_case(
    ("choice", "named", "not_named"),
    [
        (FillChoice("-inf"), (NO_KEY, "−∞ − (−∞)"), (OVERFLOW, ZERO_BY_ZERO)),
        (FillChoice("-inf", "float16"), (NO_KEY, "−∞ − (−∞)"), (OVERFLOW, ZERO_BY_ZERO)),
        (FillChoice("-1e9 by where", "float16"), (NO_KEY, OVERFLOW, "−∞ − (−∞)"), (ZERO_BY_ZERO,)),
        (FillChoice("zero after, renormalised"), (ZERO_BY_ZERO,), (NO_KEY, OVERFLOW, "∞ − ")),
    ],
)
def test_a_row_without_keys_is_nan_for_the_reason_of_its_fill(choice: FillChoice, named, not_named) -> None:
    (cause,) = nan_causes(run(choice)).values()
    assert all(part in cause for part in named), cause
    assert not any(part in cause for part in not_named), cause


def test_scores_that_half_precision_cannot_hold_are_the_cause_where_keys_are_seen() -> None:
    made = run(FillChoice("-inf", "float16"), call(times=400.0), torch.ones(5, 7, dtype=torch.bool))
    assert bool((made.scores == math.inf).any())
    causes = nan_causes(made)
    assert causes
    for cause in causes.values():
        assert OVERFLOW in cause
        assert NO_KEY not in cause
    assert not nan_causes(run(FillChoice("-inf"), call(times=400.0), torch.ones(5, 7, dtype=torch.bool)))


def test_a_value_that_half_precision_cannot_hold_is_told_apart_from_the_weights() -> None:
    made = run(FillChoice("-1e9 by where", "bfloat16"), call(values=1e6))
    assert findings(made) == findings(run(FillChoice("-1e9 by where", "bfloat16")))
    said = " ".join(findings(run(FillChoice("finfo.min", "float16"), call(values=1e6))))
    assert "a value is too large for float16" in said
    assert "NaN:" not in said


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_row_without_keys_is_uniform_whatever_its_length_and_precision(dtype: str) -> None:
    for keys in (3, 6, 7, 11, 49):
        scores = torch.randn(2, keys, generator=torch.Generator().manual_seed(keys)).to(getattr(torch, dtype))
        seen = torch.ones(2, keys, dtype=torch.bool)
        seen[1] = False
        attn = scores.masked_fill(~seen, -1e4).softmax(dim=-1).float()
        assert rows_of(attn, seen).uniform.tolist() == [False, True], keys


def test_what_is_said_of_one_row_speaks_of_one_row() -> None:
    for row in (0, SHUT):
        for sentence in comparison(call(), mask(), row, -10.0)["finding"]:
            assert "very row" not in sentence
            assert "1 row" not in sentence


def test_the_silent_overflow_of_where_is_told_only_where_something_is_masked() -> None:
    choice = FillChoice("-1e9 by where", "float16")
    assert "the fill has become −∞" in " ".join(findings(run(choice, seen=mask() | torch.eye(5, 7).bool())))
    assert findings(run(choice, seen=torch.ones(5, 7, dtype=torch.bool)))[0].startswith("Every row sums to 1")


def test_the_three_answers_are_pytorchs_own() -> None:
    one, seen = call(), mask()
    table = comparison(one, seen, SHUT, -10.0).query("dtype == 'float32'").set_index("fill")
    fused = functional.scaled_dot_product_attention(one.query, one.key, one.value, seen[None, None], scale=one.scale)
    assert torch.equal(fused[0, 0, SHUT], torch.zeros(3)), "the fused kernel's context is 0"
    assert table.loc["fused", "weights"] == [0.0] * 7
    scores = (one.query * one.scale @ one.key.transpose(-2, -1))[0, 0]
    assert bool(scores.masked_fill(~seen, -math.inf).softmax(-1)[SHUT].isnan().all())
    assert math.isnan(float(table.loc["-inf", "sum"]))  # type: ignore[arg-type]
    uniform = scores.masked_fill(~seen, -1e9).softmax(-1)[SHUT].tolist()
    assert table.loc["-1e9", "weights"] == uniform == pytest.approx([1 / 7] * 7)
