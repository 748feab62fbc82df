"""Measures of masks for questions: a row's weights under a fill value, and leaks without a causal mask."""

from collections.abc import Callable

import torch

from attnviz.analysis.fills import FillChoice, FilledScores, fill_scores, one_head
from attnviz.analysis.mask_spec import RULES, MaskSpec
from attnviz.lessons.picture import LinkedPicture
from attnviz.lessons.question import Question
from attnviz.masks.numbers.leakage import leak_test


def _fill(picture: LinkedPicture, question: Question) -> FilledScores:
    """Apply the mask and fill value from the question's `with` to the scores of the head in focus.

    `blind` in `with` names a row whose keys are all masked.
    """
    said = question.more or {}
    layer, head = picture.one_head()
    call = one_head(picture.trace.call(picture.kind, layer), head)
    q_len, k_len = call.query.shape[-2], call.key.shape[-2]
    rules = [name for name in said.get("mask", "causal").split("~") if name != "none"]
    for name in rules:
        if name not in RULES:
            raise ValueError(f"The mask must be none or one of {', '.join(RULES)}, not “{name[:40]}”.")
    mask = MaskSpec({name: RULES[name].defaults for name in rules}).build(q_len, k_len)[0].clone()
    if said.get("blind"):
        mask[picture.row(said["blind"])] = False
    return fill_scores(call, mask, FillChoice(said.get("fill", "-inf"), said.get("dtype", "float32")))


def _row(picture: LinkedPicture, question: Question) -> torch.Tensor:
    found = _fill(picture, question)
    if found.attn is None:
        raise ValueError(f"torch refuses this: {found.error}")
    return found.attn[..., picture.row(question.row), :].flatten()


def _nan(picture: LinkedPicture, question: Question) -> float:
    return float(_row(picture, question).isnan().sum())


def _sum(picture: LinkedPicture, question: Question) -> float:
    return float(_row(picture, question).sum())


def _largest_share(picture: LinkedPicture, question: Question) -> float:
    return float(_row(picture, question).max())


def _hidden_share(picture: LinkedPicture, question: Question) -> float:
    """Compute the share of a row's weight on cells that the mask hides."""
    found, row = _fill(picture, question), _row(picture, question)
    hidden = ~found.mask.flatten(0, -3)[0][picture.row(question.row)]
    return float(row[hidden].sum())


def _refusal(picture: LinkedPicture, question: Question) -> float:
    return float(bool(_fill(picture, question).error))


def _outcome(picture: LinkedPicture, question: Question) -> float:
    """Classify a row's weights: 0 if all are zero, 1 if all are equal, 2 for NaN, 3 otherwise, 4 if torch raises."""
    if _fill(picture, question).error:
        return 4.0
    row = _row(picture, question)
    if bool(row.isnan().any()):
        return 2.0
    even = torch.full_like(row, 1 / len(row))
    return 0.0 if not bool(row.any()) else 1.0 if torch.allclose(row, even, atol=1e-3) else 3.0


def _leaks(*, causal: bool) -> Callable[[LinkedPicture, Question], float]:
    """Return a measure that counts the positions before the replaced token whose hidden states change."""

    def compute(picture: LinkedPicture, question: Question) -> float:
        said = question.more or {}
        position = picture.row(said["at"])
        tokens = picture.model.encode_target(said["instead"], to=picture.link.texts.get("to", ""))
        if not tokens:
            raise ValueError("“instead” is a word that stands in the place of the token “at”.")
        with_mask, without = leak_test(picture.model, picture.trace, position, tokens[0])
        change = (with_mask if causal else without).change
        return float((change[-1, :position] > 0).sum())

    return compute


MEASURES = {
    "nan_weights": ("weights of a row that are NaN, under a fill", ("row",), _nan),
    "filled_row_sum": ("the sum of a row, under a fill", ("row",), _sum),
    "filled_largest": ("the largest weight of a row, under a fill", ("row",), _largest_share),
    "hidden_weight": ("weight of a row on hidden keys, under a fill", ("row",), _hidden_share),
    "row_outcome": (
        "what a fill makes of a row: 0 zeros, 1 an even share, 2 NaN, 3 anything else, 4 an error",
        ("row",),
        _outcome,
    ),
    "refused": ("1 where torch refuses a fill", (), _refusal),
    "leak": ("earlier positions that change when a token is replaced", ("at", "instead"), _leaks(causal=True)),
    "leak_without_mask": ("the same without that mask", ("at", "instead"), _leaks(causal=False)),
}  # fmt: skip
