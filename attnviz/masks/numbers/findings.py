"""Findings about the effect of a fill on the rows of a map, as values and as sentences."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz.analysis.fills import DTYPES, FILLS, FillChoice, FilledScores, fill_scores
from attnviz.text.entries import columns_of
from attnviz.transformer.probe import AttentionCall

SUBTRACTED = "the softmax subtracts the largest score first, and"
# Allowed deviation of a row sum from 1 by rounding.
ROUNDING = {"float32": 1e-5, "float16": 2e-3, "bfloat16": 2e-2}


@dataclass(frozen=True, eq=False)
class Rows:
    """Properties of one head's rows, each `(q_len,)`.

    `sums` is the sum of weights, and `leaked` the weight on masked keys. `nan`, `no_keys` and `uniform` are True for
    rows that are NaN, see no key, or are uniform. With a sink, a row sums to less than 1 under any mask.
    """

    sums: Float[Tensor, " q_len"]
    leaked: Float[Tensor, " q_len"]
    nan: Bool[Tensor, " q_len"]
    no_keys: Bool[Tensor, " q_len"]
    uniform: Bool[Tensor, " q_len"]
    has_sink: bool = False


def rows_of(attn: Float[Tensor, "q_len k_len"], mask: Bool[Tensor, "q_len k_len"]) -> Rows:
    """Describe every row. A row counts as uniform if it sees no key and yet has equal weight on all keys."""
    no_keys, sums = ~mask.any(dim=-1), attn.sum(dim=-1)
    # Equal scores give bitwise equal weights, whereas comparing with 1 / k_len would fail in half precision.
    even = (attn.amax(dim=-1) == attn.amin(dim=-1)) & (sums > 0)
    return Rows(
        sums=sums,
        leaked=attn.masked_fill(mask, 0.0).sum(dim=-1),
        nan=attn.isnan().any(dim=-1),
        no_keys=no_keys,
        uniform=no_keys & even & (attn.shape[-1] > 1),
    )


def findings(filled: FilledScores) -> tuple[str, ...]:
    """Return sentences about the effect of a fill, the most serious first; for a correct map, one that says so."""
    if filled.attn is None:
        return (f"torch refuses {_value(filled.choice)} in {filled.choice.dtype}: “{filled.error}”.",)
    rows = replace(rows_of(filled.attn, filled.mask), has_sink=filled.sink is not None)
    of_rows = (tell(rows, filled.choice) for tell in _TELLERS)
    said = [*_nan(filled), *_overflow_finding(filled), *filter(None, of_rows), *_silent(filled, rows)]
    if said:
        return tuple(said)
    hidden = "every masked weight is exactly 0" if not bool(filled.mask.all()) else "nothing is masked"
    every = "The row" if len(rows.sums) == 1 else "Every row"
    if rows.has_sink:
        most = float(1 - rows.sums.min())
        return (
            f"{every} sums to less than 1: the head's sink, which is not a token, takes up to {most:.4g}; {hidden}.",
        )
    return (f"{every} sums to 1, within {filled.choice.dtype}'s rounding, and {hidden}.",)


def comparison(call: AttentionCall, mask: Bool[Tensor, "q_len k_len"], row: int, number: float) -> pd.DataFrame:
    """Return a table of one row of one head's call under every fill in every dtype.

    The columns are fill, dtype, fill value, sum, masked weight, smallest, largest, weights, finding.
    """
    return pd.DataFrame(
        [_compare_fill(call, mask, row, FillChoice(fill, dtype, number)) for fill in FILLS for dtype in DTYPES]
    )


def cells_table(filled: FilledScores, rows: Sequence[tuple[str, str | None]], keys: Sequence[str]) -> pd.DataFrame:
    """Return one head's pipeline as a table with one row per cell.

    `filled` has no batch and head dimensions. `rows` are (input, output or None) and `keys` are texts. The columns are
    row, row_in, row_out ("" without an output), key_position, key, may_attend, score, masked_score, and weight, which
    is missing if torch refused. Token pieces and ids follow if they are known.
    """
    q_len, k_len = filled.scores.shape
    table = {
        "row": np.repeat(np.arange(q_len), k_len),
        "row_in": [str(put_in) for put_in, _ in rows for _ in range(k_len)],
        "row_out": [str(put_out or "") for _, put_out in rows for _ in range(k_len)],
        "key_position": np.tile(np.arange(k_len), q_len),
        "key": list(map(str, keys)) * q_len,
        "may_attend": filled.mask.flatten().numpy(),
        "score": filled.scores.flatten().numpy(),
        "masked_score": filled.masked_scores.flatten().numpy(),
    }
    made = pd.DataFrame(table if filled.attn is None else table | {"weight": filled.attn.flatten().numpy()})
    of_rows = columns_of("row_in", [put_in for put_in, _ in rows])
    of_rows |= columns_of("row_out", [put_out or "" for _, put_out in rows])
    each = {name: np.repeat(values, k_len) for name, values in of_rows.items()}
    return made.assign(**each, **{name: np.tile(values, q_len) for name, values in columns_of("key", keys).items()})


def _compare_fill(call: AttentionCall, mask: Tensor, row: int, choice: FillChoice) -> dict[str, Any]:
    one = fill_scores(_only_row(call, row), mask[row : row + 1], choice)
    single = FilledScores(
        choice, one.mask[0, 0], one.scores[0, 0], one.masked_scores[0, 0], _first_head(one.attn), error=one.error
    )
    told: dict[str, Any] = {
        "fill": choice.fill,
        "dtype": choice.dtype,
        "fill value": _held_value(single),
        "finding": " ".join(findings(single)),
    }
    if single.attn is None:
        return told
    told["weights"] = single.attn[0].nan_to_num(nan=0.0).tolist()
    rows = rows_of(single.attn, single.mask)
    numbers = {
        "sum": rows.sums,
        "masked weight": rows.leaked,
        "smallest": single.attn.amin(),
        "largest": single.attn.amax(),
    }
    return told | {name: float(value) for name, value in numbers.items()}


def _only_row(call: AttentionCall, row: int) -> AttentionCall:
    bias = None if call.bias is None else call.bias[..., row : row + 1, :]
    return replace(call, query=call.query[:, :, row : row + 1], bias=bias)


def _first_head(attn: Tensor | None) -> Tensor | None:
    return None if attn is None else attn[0, 0]


def _held_value(filled: FilledScores) -> str:
    """Return the fill value as it ends up in the masked cells; half precision rounds it or makes it infinite."""
    if filled.choice.value is None:
        return "(after)"
    if filled.attn is None:
        return "(refused)"
    put = torch.tensor(filled.choice.value, dtype=torch.float64).to(filled.choice.torch_dtype)
    return f"{float(put):.4g}".replace("-", "−").replace("inf", "∞")


def _value(choice: FillChoice) -> str:
    return "the fill" if choice.value is None else f"{choice.value:.6g}".replace("-", "−").replace("inf", "∞")


def _nan(filled: FilledScores) -> list[str]:
    """Return a sentence for each cause of NaN, with the rows that it concerns."""
    causes = nan_causes(filled)
    rows_by_cause = {cause: [row for row, own in causes.items() if own == cause] for cause in causes.values()}
    return [f"{_rows(rows, len(filled.mask))} NaN: {cause}." for cause, rows in rows_by_cause.items()]


def _overflow_finding(filled: FilledScores) -> list[str]:
    if not (rows := overflowed_contexts(filled)):
        return []
    held = _rows(rows, len(filled.mask)).removesuffix(" is").removesuffix(" are")
    return [f"{held}: the weights are numbers, but a value is too large for {filled.choice.dtype}."]


def _rows(rows: Sequence[int], of: int) -> str:
    """Return words such as "Rows 2 and 3 are". If the map has only one row, its number is left out."""
    if of == 1:
        return "The row is"
    if len(rows) == 1:
        return f"Row {rows[0]} is"
    if len(rows) <= 4:
        return f"Rows {', '.join(map(str, rows[:-1]))} and {rows[-1]} are"
    return f"{len(rows)} of {of} rows are"


def _uniform(rows: Rows, choice: FillChoice) -> str:
    if not bool(rows.uniform.any()):
        return ""
    rows_told = _count(rows.uniform, "row", "rows")
    return f"{rows_told} without any visible key became uniform: all scores are the same, so all keys share the weight."


def _leak_finding(rows: Rows, choice: FillChoice) -> str:
    leaking = (rows.leaked > 0) & ~rows.uniform & ~rows.nan
    if not bool(leaking.any()):
        return ""
    most = float(rows.leaked[leaking].max())
    why = "exp(0) is 1, not 0" if choice.fill == "zero before" else f"exp({_value(choice)} − largest score) is not 0"
    where = "" if len(leaking) == 1 else f" in {_count(leaking, 'row', 'rows')}"
    return f"Masked keys still get weight, up to {most:.3g}{where}: {why}."


def _row_sum_finding(rows: Rows, choice: FillChoice) -> str:
    off = ((rows.sums - 1).abs() > ROUNDING[choice.dtype]) & ~rows.nan & ~_empty_rows(rows)
    if rows.has_sink or not bool(off.any()):
        return ""
    least = float(rows.sums[off].min())
    if len(off) == 1:
        return f"The row no longer sums to 1, but to {least:.4g}."
    return f"{_count(off, 'row no longer sums', 'rows no longer sum')} to 1 (the least: {least:.4g})."


def _empty_rows_finding(rows: Rows, choice: FillChoice) -> str:
    if not bool(_empty_rows(rows).any()):
        return ""
    many = _count(_empty_rows(rows), "row has", "rows have")
    return f"{many} no visible key (“no keys”): all weights are 0, and so is the context."


def _empty_rows(rows: Rows) -> Tensor:
    return rows.no_keys & (rows.sums == 0)


def _silent(filled: FilledScores, rows: Rows) -> list[str]:
    where = filled.choice.fill == "-1e9 by where" and filled.choice.dtype == "float16"
    if not where or bool(filled.mask.all()) or bool(rows.nan.any()):
        return []
    return ["torch.where raises no error, but float16 ends at −65504, so the fill has become −∞."]


_TELLERS: Sequence[Callable[[Rows, FillChoice], str]] = (_uniform, _leak_finding, _row_sum_finding, _empty_rows_finding)


def _count(which: Tensor, one: str, many: str) -> str:
    """Return a count in words, such as "2 rows"; "The row" if the map has only one row."""
    count = int(which.sum())
    if len(which) == 1:
        return f"The {one}"
    return f"{count} {one if count == 1 else many}"


def nan_causes(filled: FilledScores) -> dict[int, str]:
    """Return the reason for each NaN row, by row number.

    The reason is the first step from scores to weights whose result is not finite. `filled` has no batch and head
    dimensions.
    """
    if filled.attn is None:
        return {}
    rows = filled.attn.isnan().any(dim=-1).nonzero().flatten().tolist()
    return {row: _cause(filled, row) for row in rows}


def overflowed_contexts(filled: FilledScores) -> list[int]:
    """Return the rows with finite weights but a non-finite context, because a value exceeds the dtype's range."""
    if filled.attn is None or filled.context is None:
        return []
    lost = ~filled.context.isfinite().all(dim=-1) & ~filled.attn.isnan().any(dim=-1)
    return lost.nonzero().flatten().tolist()


def _cause(filled: FilledScores, row: int) -> str:
    scores, masked, choice = filled.scores[row], filled.masked_scores[row], filled.choice
    if bool(scores.isnan().any()):
        return f"the scores are NaN before any mask{_range_note(choice)}"
    if bool((masked == math.inf).any()):
        return f"a score is ∞{_range_note(choice)}; {SUBTRACTED} ∞ − ∞ is NaN"
    if bool((masked == -math.inf).all()):
        return f"{_all_minus_infinity(choice, filled.mask[row])}; {SUBTRACTED} −∞ − (−∞) is NaN"
    return "the weights that the mask leaves sum to 0, and 0 / 0 is NaN"


def _all_minus_infinity(choice: FillChoice, sees: Tensor) -> str:
    if bool(sees.any()):
        return f"every score that it sees is −∞{_range_note(choice)}"
    if choice.value is not None and math.isfinite(choice.value):
        return f"no key is left, and every score became −∞{_range_note(choice, 'the fill')}"
    return "no key is left, so every score is −∞"


def _range_note(choice: FillChoice, what: str = "a number") -> str:
    """Return the end of a sentence: that a value is beyond the largest number of the dtype; "" for float32."""
    largest = torch.finfo(choice.torch_dtype).max
    return "" if choice.dtype == "float32" else f": {what} is beyond ±{largest:.5g}, the largest {choice.dtype}"
