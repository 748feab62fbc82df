"""Candidates for the next token: the likeliest of each step, and the distribution that a sampler draws from."""

from collections.abc import Callable
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from attnviz.models.protocol import StopRules
from attnviz.transformer.decoding import Sampling


@dataclass(frozen=True)
class NextToken:
    """A candidate: its id, its probability among the tokens that may be written, and the one it is drawn with."""

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
    """List the `count` likeliest tokens after each step, likeliest first, and those of `with_ids(step)` besides.

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
