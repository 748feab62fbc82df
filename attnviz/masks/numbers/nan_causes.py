"""Why a row of weights is NaN: for each such row the one cause that its own numbers show."""

import math

import torch
from torch import Tensor

from attnviz.analysis.fills import FillChoice, FilledScores

SUBTRACTED = "the softmax subtracts the largest score first, and"


def nan_causes(filled: FilledScores) -> dict[int, str]:
    """Return the cause of each row that is NaN, by its number; `filled` without batch and head axes.

    A row is followed from its scores to its weights: what first is no number any more is the cause.
    """
    if filled.attn is None:
        return {}
    rows = filled.attn.isnan().any(dim=-1).nonzero().flatten().tolist()
    return {row: _cause(filled, row) for row in rows}


def overflowed_contexts(filled: FilledScores) -> list[int]:
    """Rows whose weights are numbers and whose context is none: a value was too large for the dtype."""
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
    """Say that a number lies beyond the dtype's range; an empty text for float32."""
    largest = torch.finfo(choice.torch_dtype).max
    return "" if choice.dtype == "float32" else f": {what} lies beyond ±{largest:.5g}, where {choice.dtype} ends"
