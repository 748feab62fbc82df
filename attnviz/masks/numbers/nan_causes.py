"""Reasons why a row of weights is NaN, each found from the row's own values."""

import math

import torch
from torch import Tensor

from attnviz.analysis.fills import FillChoice, FilledScores

SUBTRACTED = "the softmax subtracts the largest score first, and"


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
    return "no key is left, so that every score is −∞"


def _range_note(choice: FillChoice, what: str = "a number") -> str:
    """Return a note that a value is outside the dtype's range; "" for float32."""
    largest = torch.finfo(choice.torch_dtype).max
    return "" if choice.dtype == "float32" else f": {what} lies beyond ±{largest:.5g}, where {choice.dtype} ends"
