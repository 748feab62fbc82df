"""Each fill against a reference written from its definition, in every dtype; wrong results are kept as they are."""

import math
from dataclasses import replace

import pytest
import torch

from attnviz.analysis.fills import DTYPES, FILLS, FillChoice, FilledScores, Weighing, fill_scores
from attnviz.masks.numbers.findings import cells_table, comparison, findings, rows_of
from attnviz.transformer.attention import attend, call_attn
from attnviz.transformer.probe import AttentionCall

TOLERANCE = {"float32": 2e-6, "float16": 3e-3, "bfloat16": 3e-2}
PUT = {"-inf": -math.inf, "fused": -math.inf, "-1e9": -1e9, "-1e9 by where": -1e9, "number": -4.0, "zero before": 0.0}
REFUSED = {("-1e9", "float16")}
EMPTY = 2  # the row of the mask that sees no key


@pytest.fixture
def call() -> AttentionCall:
    query, key, value = torch.randn(1, 1, 4, 3), torch.randn(1, 1, 5, 3), torch.randn(1, 1, 5, 3)
    return AttentionCall(query, key, value, scale=0.7)


@pytest.fixture
def mask() -> torch.Tensor:
    return torch.tensor([[1, 0, 0, 0, 0], [1, 1, 0, 1, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]], dtype=torch.bool)


def reference(call: AttentionCall, mask: torch.Tensor, choice: FillChoice) -> list[list[float]]:
    """Softmax by its definition, in Python's own numbers, on scores as the dtype rounds them."""
    query, key = (part.to(choice.torch_dtype) for part in (call.query, call.key))
    scores = ((query * call.scale) @ key.transpose(-2, -1))[0, 0].double().tolist()
    return [_row(row, seen, choice) for row, seen in zip(scores, mask.tolist(), strict=True)]


def _row(scores: list[float], seen: list[bool], choice: FillChoice) -> list[float]:
    put = PUT.get(choice.fill, float(torch.finfo(choice.torch_dtype).min))
    if choice.fill == "-1e9 by where" and choice.dtype == "float16":
        put = -math.inf
    if choice.fill.startswith("zero after"):
        weights = [weight * see for weight, see in zip(_softmax(scores), seen, strict=True)]
        total = sum(weights)
        renormalised = [weight / total if total else math.nan for weight in weights]
        return weights if choice.fill == "zero after" else renormalised
    weights = _softmax([score if see else put for score, see in zip(scores, seen, strict=True)])
    return [0.0] * len(seen) if choice.fill == "fused" and not any(seen) else weights


def _softmax(scores: list[float]) -> list[float]:
    most = max(scores)
    if most == -math.inf:
        return [math.nan] * len(scores)
    exps = [math.exp(score - most) for score in scores]
    return [exp / sum(exps) for exp in exps]


@pytest.mark.parametrize("fill", FILLS)
def test_a_fill_is_its_definition(fill, call: AttentionCall, mask: torch.Tensor) -> None:
    for dtype in DTYPES:
        choice = FillChoice(fill, dtype, number=-4.0)
        result = fill_scores(call, mask, choice)
        if (fill, dtype) in REFUSED:
            assert result.attn is None
            continue
        assert result.attn is not None
        expected = torch.tensor(reference(call, mask, choice), dtype=torch.float32)
        torch.testing.assert_close(result.attn[0, 0], expected, atol=TOLERANCE[dtype], rtol=0, equal_nan=True)


@pytest.mark.parametrize("fill", FILLS)
def test_a_row_without_keys_becomes_what_the_fill_makes_of_it(fill, call, mask) -> None:
    for dtype in DTYPES:
        result = fill_scores(call, mask, FillChoice(fill, dtype))
        if (fill, dtype) in REFUSED:
            assert "overflow" in result.error
            continue
        assert result.attn is not None
        row = rows_of(result.attn[0, 0], mask)
        nan = fill in ("-inf", "zero after, renormalised") or (fill, dtype) == ("-1e9 by where", "float16")
        zero = fill in ("zero after", "fused")
        assert bool(row.nan[EMPTY]) == nan, dtype
        assert bool(row.uniform[EMPTY]) == (not nan and not zero), dtype
        assert (float(row.sums[EMPTY]) == 0) == zero, dtype
        assert bool(row.no_keys[EMPTY]), dtype


def test_nan_rows_reach_the_context_and_no_other_row(call: AttentionCall, mask: torch.Tensor) -> None:
    context = fill_scores(call, mask, FillChoice("-inf")).context
    assert context is not None
    assert context[0, 0].isnan().all(dim=-1).tolist() == [False, False, True, False]


def test_torch_is_quoted_where_it_refuses(call: AttentionCall, mask: torch.Tensor) -> None:
    result = fill_scores(call, mask, FillChoice("-1e9", "float16"))
    with pytest.raises(RuntimeError) as refusal:
        torch.zeros(1, dtype=torch.float16).masked_fill(torch.tensor([True]), -1e9)
    assert result.error == str(refusal.value).splitlines()[0]
    assert result.error in findings(result)[0]


def test_a_finite_fill_lets_a_little_weight_through(call: AttentionCall, mask: torch.Tensor) -> None:
    one = _first(fill_scores(call, mask, FillChoice("number", number=-4.0)))
    assert one.attn is not None
    assert 0 < float(rows_of(one.attn, mask).leaked[1]) < 0.2
    assert any(sentence.startswith("Masked keys still get weight") for sentence in findings(one))


def test_zero_before_the_softmax_is_no_mask(call: AttentionCall, mask: torch.Tensor) -> None:
    one = _first(fill_scores(call, mask, FillChoice("zero before")))
    assert one.attn is not None
    assert bool((one.attn > 0).all())
    assert "exp(0) is 1" in " ".join(findings(one))


def test_zero_after_leaves_rows_that_do_not_sum_to_one(call: AttentionCall, mask: torch.Tensor) -> None:
    one = _first(fill_scores(call, mask, FillChoice("zero after")))
    assert one.attn is not None
    assert float(rows_of(one.attn, mask).sums[0]) < 0.99
    assert any("longer sum" in sentence for sentence in findings(one))


def test_a_map_as_it_should_be_is_said_to_be_so(call: AttentionCall) -> None:
    causal = torch.ones(4, 5, dtype=torch.bool).tril()
    assert findings(_first(fill_scores(call, causal, FillChoice("-inf"))))[0].startswith("Every row sums to 1")


def test_fused_is_what_the_package_and_pytorch_compute(call: AttentionCall, mask: torch.Tensor) -> None:
    masked = replace(call, mask=mask[None, None])
    result = fill_scores(call, mask, FillChoice("fused"))
    assert result.attn is not None
    assert result.context is not None
    torch.testing.assert_close(result.attn, call_attn(masked))
    torch.testing.assert_close(result.context, attend(masked), atol=1e-6, rtol=0)


@pytest.mark.parametrize("fill", ["-inf", "zero before", "zero after"])
def test_a_run_weighs_as_the_pipeline_shows(fill, call: AttentionCall, mask: torch.Tensor) -> None:
    shown = fill_scores(call, mask, FillChoice(fill)).attn
    run = Weighing(FillChoice(fill))(replace(call, mask=mask[None, None]))
    torch.testing.assert_close(run, shown, equal_nan=True)


def test_the_comparison_has_every_fill_in_every_dtype(call: AttentionCall, mask: torch.Tensor) -> None:
    table = comparison(call, mask, 1, -4.0)
    assert len(table) == len(FILLS) * len(DTYPES)
    refused = table[table["sum"].isna()]
    assert set(zip(refused["fill"], refused["dtype"], strict=True)) == REFUSED
    exact = {(fill, dtype): weight for fill, dtype, weight in table[["fill", "dtype", "masked weight"]].to_numpy()}
    assert exact["-inf", "float32"] == 0
    assert exact["zero before", "float32"] > 0.1


def test_every_cell_of_the_map_has_a_line(call: AttentionCall, mask: torch.Tensor) -> None:
    one = _first(fill_scores(call, mask, FillChoice("number", number=-4.0)))
    assert one.attn is not None
    table = cells_table(one, [("a", "b"), ("b", None), ("c", "d"), ("d", "e")], ["v", "w", "x", "y", "z"])
    assert len(table) == 20
    line = table.iloc[1 * 5 + 2]
    assert line[["row", "row_in", "row_out", "key_position", "key"]].tolist() == [1, "b", "", 2, "x"]
    assert (bool(line["may_attend"]), line["masked_score"]) == (False, -4.0)
    assert line["weight"] == pytest.approx(float(one.attn[1, 2]))


def test_where_torch_refused_the_cells_have_no_weights(call: AttentionCall, mask: torch.Tensor) -> None:
    refused = _first(fill_scores(call, mask, FillChoice("-1e9", "float16")))
    assert "weight" not in cells_table(refused, [("a", None)] * 4, ["k"] * 5)


@pytest.mark.parametrize("fields", [{"fill": "nought"}, {"dtype": "int8"}, {"number": math.inf}])
def test_an_impossible_choice_is_a_clear_error(fields: dict) -> None:
    with pytest.raises(ValueError, match=r"must be one of|finite"):
        FillChoice(**fields)


def _first(result: FilledScores) -> FilledScores:
    """Return the one head's maps, without batch and head axes."""
    return replace(
        result,
        mask=result.mask[0, 0],
        scores=result.scores[0, 0],
        masked_scores=result.masked_scores[0, 0],
        attn=None if result.attn is None else result.attn[0, 0],
    )
