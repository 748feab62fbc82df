"""Shapes of a mask beside the scores: `unsqueeze(1)`, broadcasting, and torch's own words where the axes do not fit."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool
from torch import Tensor


@dataclass(frozen=True)
class Attempt:
    """One line of code on shapes: what came out and whether it is right, or what torch said."""

    code: str
    shape: tuple[int, ...] | None
    said: str = ""


def attempts(mask: Bool[Tensor, "..."], scores: tuple[int, int, int, int]) -> tuple[Attempt, ...]:
    """Mask scores of this shape `(batch, heads, q_len, k_len)` with a three-axis mask, with and without a head axis."""
    blank = torch.zeros(scores)
    ways = {
        "scores.masked_fill(~mask.unsqueeze(1), fill)": mask.unsqueeze(1),
        "scores.masked_fill(~mask, fill)": mask,
        "scores.masked_fill(~mask.unsqueeze(0), fill)": mask.unsqueeze(0),
        "scores.masked_fill(~mask.unsqueeze(-1), fill)": mask.unsqueeze(-1),
    }
    right = blank.masked_fill(~mask.unsqueeze(1), 1.0)
    return tuple(_attempt(code, blank, shaped, right) for code, shaped in ways.items())


def axes(shape: tuple[int, ...]) -> str:
    """Write a shape as Python does: `(2, 1, 7)`."""
    return f"({', '.join(map(str, shape))})"


def _attempt(code: str, scores: Tensor, mask: Tensor, right: Tensor) -> Attempt:
    try:
        out = scores.masked_fill(~mask, 1.0)
    except RuntimeError as refusal:
        return Attempt(code, None, str(refusal).splitlines()[0])
    if out.shape == right.shape and torch.equal(out, right):
        return Attempt(code, tuple(out.shape), "every head has its sentence's mask")
    return Attempt(code, tuple(out.shape), "no error: sizes fit by chance, and other cells are masked than were meant")
