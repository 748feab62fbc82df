"""Beam search for one sentence, one step at a time (Sutskever et al. 2014, section 3.2)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from attnviz.transformer.decoding import BatchStepping, Ids, Logits, Vocabulary


@dataclass(frozen=True)
class Beam:
    """Settings of a beam search: keep the `size` most likely sentences, scored by log-probability / `length **
    length_penalty`.
    """

    size: int = 4
    length_penalty: float = 1.0

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError(f"A beam keeps at least 1 hypothesis, not {self.size}.")


@dataclass(frozen=True)
class Hypothesis:
    """A partial sentence in a beam: ids without the first token, summed log-probability, and whether it is finished."""

    ids: tuple[int, ...]
    log_probability: float
    finished: bool = False

    def score(self, length_penalty: float) -> float:
        """Return the log-probability divided by `length ** length_penalty`."""
        return self.log_probability / max(len(self.ids), 1) ** length_penalty


def beam_steps(
    stepper: BatchStepping, first: Ids, vocabulary: Vocabulary, *, max_tokens: int, beam: Beam = Beam()
) -> Iterator[tuple[Hypothesis, ...]]:
    """Search one sentence with a beam; yield the hypotheses after each step, finished ones first, each group best
    first.

    `first` and the stepper hold a batch of one. A sentence ends only if `<eos>` is among the `size` most likely tokens,
    so that a beam of one is greedy decoding. The search stops when `size` sentences have ended and no unfinished one
    has a higher score.
    """
    live, ended, ids = [Hypothesis((), 0.0)], [], first
    size, length_penalty = beam.size, beam.length_penalty
    for _ in range(max_tokens):
        log_probs = vocabulary.forbid(stepper.step(ids)).float().log_softmax(dim=-1)
        live, parents, done = _extend_hypotheses(live, log_probs, vocabulary.eos_id, size)
        ended = sorted((*ended, *done), key=lambda h: -h.score(length_penalty))[:size]
        yield _rank_hypotheses(live, ended, length_penalty)
        if not live or (len(ended) == size and ended[-1].score(length_penalty) >= live[0].score(length_penalty)):
            return
        stepper.select_rows(torch.tensor(parents, device=first.device))
        ids = torch.tensor([hypothesis.ids[-1] for hypothesis in live], device=first.device)


def _extend_hypotheses(
    live: Sequence[Hypothesis], log_probs: Logits, eos_id: int, size: int
) -> tuple[list[Hypothesis], list[int], list[Hypothesis]]:
    totals = log_probs + torch.tensor([h.log_probability for h in live], device=log_probs.device).unsqueeze(1)
    best = totals.flatten().topk(min(2 * size, totals.numel()))
    going, parents, done = [], [], []
    for rank, (total, index) in enumerate(zip(best.values.tolist(), best.indices.tolist(), strict=True)):
        parent, id_ = divmod(index, totals.shape[1])
        if total == float("-inf"):
            continue
        hypothesis = Hypothesis((*live[parent].ids, id_), total, finished=id_ == eos_id)
        if hypothesis.finished and rank < size:
            done.append(hypothesis)
        elif not hypothesis.finished and len(going) < size:
            going.append(hypothesis)
            parents.append(parent)
    return going, parents, done


def _rank_hypotheses(live: list[Hypothesis], ended: list[Hypothesis], length_penalty: float) -> tuple[Hypothesis, ...]:
    return tuple(sorted((*ended, *live), key=lambda h: (not h.finished, -h.score(length_penalty))))
