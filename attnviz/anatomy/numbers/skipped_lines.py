"""Lines of the shape walk left out or changed, each with the resulting error or wrong result."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from inspect import signature

import torch
from torch import Tensor

from attnviz.analysis.outcome import Raised, SiteResult, outcome
from attnviz.implementations.site_inputs import SiteInputs
from attnviz.implementations.steps import RIGHT, AttentionSteps, SteppedAttention
from attnviz.implementations.weights import SiteWeights


@dataclass(frozen=True)
class Skip:
    """One changed line: the correct line, its replacement, and an explanation of the result."""

    title: str
    right: str
    instead: str
    steps: AttentionSteps
    why: str
    of_scale: bool = False  # changes the line that divides by √d_k, which some models lack


def _no_contiguous(context: Tensor) -> Tensor:
    return context.transpose(1, 2).view(context.shape[0], context.shape[2], -1)


def _no_transpose_back(context: Tensor) -> Tensor:
    return context.contiguous().view(context.shape[0], context.shape[2], -1)


def _no_transpose(x: Tensor, n_heads: int, size: int) -> Tensor:
    return x.view(x.shape[0], x.shape[1], n_heads, size)


def _leave_scale_out(query: Tensor, key: Tensor, d_model: int) -> Tensor:
    return query @ key.transpose(-2, -1)


def _mask_at(dim: int) -> Callable[[Tensor, Tensor | None], Tensor]:
    def weigh(scores: Tensor, mask: Tensor | None) -> Tensor:
        if mask is None:
            return scores.softmax(dim=-1)
        return scores.masked_fill(~mask.squeeze(1).unsqueeze(dim), -math.inf).softmax(dim=-1)

    return weigh


def _softmax_over(dim: int) -> Callable[[Tensor, Tensor | None], Tensor]:
    def weigh(scores: Tensor, mask: Tensor | None) -> Tensor:
        return (scores if mask is None else scores.masked_fill(~mask, -math.inf)).softmax(dim=dim)

    return weigh


_BACK = "context.transpose(1, 2).contiguous().view(batch, q_len, -1)"
_WIDE = "mask.unsqueeze(1)"
_SOFT = "masked_scores.softmax(dim=-1)"
SKIPS: Mapping[str, Skip] = {
    "contiguous": Skip(
        "no contiguous",
        _BACK,
        "context.transpose(1, 2).view(batch, q_len, -1)",
        replace(RIGHT, merge=_no_contiguous),
        "A view needs numbers at regular steps in memory. After the transpose, the steps over heads and d_v are not "
        "regular, unless there is one head or one query.",
    ),
    "transpose back": Skip(
        "no transpose back",
        _BACK,
        "context.view(batch, q_len, -1)",
        replace(RIGHT, merge=_no_transpose_back),
        "The sizes fit and the memory is contiguous, so torch raises no error. But each row now "
        "contains several tokens of one head.",
    ),
    "transpose": Skip(
        "no transpose",
        "query.view(batch, q_len, heads, d_k).transpose(1, 2)",
        "query.view(batch, q_len, heads, d_k)",
        replace(RIGHT, split=_no_transpose),
        "The last two axes are then heads and d_k: each token's heads attend to each other, and the scores are "
        "(batch, length, heads, heads).",
    ),
    "unsqueeze 0": Skip(
        "mask unsqueezed at 0",
        _WIDE,
        "mask.unsqueeze(0)",
        replace(RIGHT, weigh=_mask_at(0)),
        "The batch axis of the mask is then matched with the head axis of the scores. If the batch "
        "had one item, or as many items as there are heads, torch would raise no error.",
    ),
    "unsqueeze -1": Skip(
        "mask unsqueezed at -1",
        _WIDE,
        "mask.unsqueeze(-1)",
        replace(RIGHT, weigh=_mask_at(-1)),
        "A negative dim counts from the end, so the new axis becomes the last one. The key axis of "
        "the mask is then matched with the query axis of the scores.",
    ),
    "scale": Skip(
        "no scale",
        "query @ key.transpose(-2, -1) / √d_k",
        "query @ key.transpose(-2, -1)",
        replace(RIGHT, scores=_leave_scale_out),
        "Every shape is correct and rows sum to 1, but the weights are sharper than the weights that "
        "the model was trained with.",
        of_scale=True,
    ),
    "softmax 2": Skip(
        "softmax over the queries",
        _SOFT,
        "masked_scores.softmax(dim=2)",
        replace(RIGHT, weigh=_softmax_over(2)),
        "Columns sum to 1 instead of rows. A key that no query may see gives NaN, because every score "
        "in its column is −∞.",
    ),
    "softmax 1": Skip(
        "softmax over the heads",
        _SOFT,
        "masked_scores.softmax(dim=1)",
        replace(RIGHT, weigh=_softmax_over(1)),
        "Heads compete for each cell. A hidden cell is −∞ in every head, and softmax of nothing but −∞ is NaN.",
    ),
    "softmax 0": Skip(
        "softmax over the batch",
        _SOFT,
        "masked_scores.softmax(dim=0)",
        replace(RIGHT, weigh=_softmax_over(0)),
        "The items of the batch compete for each cell. In a batch of one item, every weight would be exactly 1.",
    ),
}


def skips_of(weights: SiteWeights) -> Mapping[str, Skip]:
    """Return the changes that apply to a site."""
    return {name: skip for name, skip in SKIPS.items() if weights.scoring.scale is None or not skip.of_scale}


def run_skipped(name: str, inputs: SiteInputs) -> SiteResult | Raised:
    """Run a site with one changed line. Raise ValueError for a name that is not in `SKIPS`."""
    return outcome(SteppedAttention(inputs.weights, _skip(name).steps), inputs)


@dataclass(frozen=True, eq=False)
class Given:
    """The tensors that the changed line received in its first call, and the tensor that it returned.

    `made` is None if the line itself raised an error; a later line may raise one too.
    """

    tensors: Mapping[str, Tensor]
    made: Tensor | None


@torch.inference_mode()
def tensor_before_line(name: str, inputs: SiteInputs) -> Given:
    """Run a site, and return the inputs of the changed line. Raise ValueError for a name that is not in `SKIPS`."""
    steps, calls = _skip(name).steps, list[Given]()
    step = next(step for step in vars(RIGHT) if getattr(steps, step) is not getattr(RIGHT, step))
    changed = getattr(steps, step)

    def keep(*arguments: object) -> Tensor:
        named = {
            # The stepped attention passes a mask with a head dimension, which the changed line adds itself.
            of: tensor.squeeze(1) if of == "mask" else tensor
            for of, tensor in zip(signature(changed).parameters, arguments, strict=True)
            if isinstance(tensor, Tensor)
        }
        calls.append(Given(named, None))
        made = changed(*arguments)
        calls[-1] = Given(named, made)
        return made

    outcome(SteppedAttention(inputs.weights, replace(steps, **{step: keep})), inputs)
    return calls[0]


def _skip(name: str) -> Skip:
    if name not in SKIPS:
        raise ValueError(f"The line to skip must be one of {', '.join(SKIPS)}, not {name!r}.")
    return SKIPS[name]
