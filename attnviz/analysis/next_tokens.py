"""Candidates for the next token: the most probable ones at each step, and their sampling probabilities."""

from collections.abc import Callable
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from attnviz.models.protocol import StopRules
from attnviz.transformer.decoding import Sampling


@dataclass(frozen=True)
class NextToken:
    """A candidate token: its id, its probability among the allowed tokens, and its sampling probability."""

    id: int
    probability: float
    drawn: float


def next_tokens(
    logits: Float[Tensor, "steps vocab_size"],
    vocabulary: StopRules,
    *,
    count: int = 8,
    sampling: Sampling | None = None,
    with_ids: Callable[[int], tuple[int, ...]] = lambda step: (),
) -> tuple[tuple[NextToken, ...], ...]:
    """Return the `count` most probable tokens after each step, and in addition those of `with_ids(step)`.

    Without `sampling`, `drawn` equals the probability.
    """
    allowed = vocabulary.forbid(logits)
    probabilities = allowed.softmax(dim=-1)
    drawn = probabilities if sampling is None else sampling.probabilities(allowed)
    best = probabilities.topk(min(count, logits.shape[-1]), dim=-1).indices.tolist()
    rows = []
    for step, ids in enumerate(best):
        wanted = list(dict.fromkeys((*ids, *with_ids(step))))
        rows.append(tuple(NextToken(i, float(probabilities[step, i]), float(drawn[step, i])) for i in wanted))
    return tuple(rows)
