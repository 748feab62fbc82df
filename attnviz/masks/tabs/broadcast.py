"""The tab Broadcast of Masks: how a mask gets its head dimension in this run, and torch's answers without it."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool
from torch import Tensor

from attnviz.masks.figures.tables import cells
from attnviz.masks.masks import MaskBench


def picture(bench: MaskBench) -> str:
    """Draw the padding mask, the rules with paint, and their combination, as HTML."""
    batch, heads, q_len, k_len = shape = _shape(bench)
    combined = bench.recipe.build(q_len, k_len, real=bench.real_keys)
    keys = cells(
        bench.real_keys.tolist(), note=f"padding {axes((batch, 1, k_len))}: which keys are real, for every query"
    )
    rules = {name: numbers for name, numbers in bench.recipe.rules.items() if name != "padding"}
    plain = type(bench.recipe)(rules, bench.recipe.painted).build(q_len, k_len)
    pattern = cells(plain[0].tolist(), note=f"rules and paint {axes((1, q_len, k_len))}: the same for every sentence")
    items = "".join(
        cells(one.tolist(), note=f"sentence {index}, heads 0 to {heads - 1}") for index, one in enumerate(combined)
    )
    joined = f"<figure class='group'>{items}<figcaption>& and unsqueeze(1): {axes((len(combined), 1, q_len, k_len))}, "
    joined += f"broadcast to {axes(shape)}</figcaption></figure>"
    first = [keys, "<span class='sign'>&amp;</span>"] if "padding" in bench.recipe.rules else []
    parts = [*first, pattern, "<span class='sign'>→</span>", joined]
    return f"<div class='broadcast'>{''.join(parts)}</div>"


def tried(bench: MaskBench) -> list[tuple[str, str, str]]:
    """Return (code, result, what happens) for each way of adding a dimension to the mask."""
    batch, heads, q_len, k_len = _shape(bench)
    mask = bench.recipe.build(q_len, k_len, real=bench.real_keys).expand(batch, q_len, k_len)
    return [
        (one.code, "raises" if one.shape is None else axes(one.shape), one.said)
        for one in attempts(mask, (batch, heads, q_len, k_len))
    ]


def explanation(bench: MaskBench) -> str:
    """Return sentences on how `unsqueeze(1)` adds a head dimension of size 1 to a mask, with the shapes of this run."""
    batch, heads, q_len, k_len = _shape(bench)
    chance = (
        "With a batch of one, unsqueeze(0) happens to fit as well: let a second sentence join the batch and see."
        if batch == 1
        else "With a batch of one, unsqueeze(0) would happen to fit as well."
    )
    return (
        f"unsqueeze(1) puts an axis of size 1 before axis 1: {axes((batch, q_len, k_len))} becomes "
        f"{axes((batch, 1, q_len, k_len))}, and broadcasting repeats it for all {heads} heads without copying. "
        f"A negative number counts from the end: unsqueeze(-1) puts it last. {chance}"
    )


def _shape(bench: MaskBench) -> tuple[int, int, int, int]:
    batch, heads = bench.trace.call(bench.view.kind, bench.view.layer).query.shape[:2]
    return (batch, heads, *bench.shape)


@dataclass(frozen=True)
class Attempt:
    """A line of code applied to shapes: the result's shape with a verdict, or torch's error message."""

    code: str
    shape: tuple[int, ...] | None
    said: str = ""


def attempts(mask: Bool[Tensor, "..."], scores: tuple[int, int, int, int]) -> tuple[Attempt, ...]:
    """Mask scores of shape `(batch, heads, q_len, k_len)` with a 3-D mask, with and without a head dimension."""
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
    """Return a shape as Python prints it: `(2, 1, 7)`."""
    return f"({', '.join(map(str, shape))})"


def _attempt(code: str, scores: Tensor, mask: Tensor, right: Tensor) -> Attempt:
    try:
        out = scores.masked_fill(~mask, 1.0)
    except RuntimeError as refusal:
        return Attempt(code, None, str(refusal).splitlines()[0])
    if out.shape == right.shape and torch.equal(out, right):
        return Attempt(code, tuple(out.shape), "every head has its sentence's mask")
    return Attempt(code, tuple(out.shape), "no error: the sizes fit by chance, but the wrong cells are masked")
