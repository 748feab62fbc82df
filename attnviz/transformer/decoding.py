"""Writing a target one token at a time: greedy, sampled or beam search, on one `Stepper`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attnviz.transformer.cache import KVCache
from attnviz.transformer.dropout import Dropout
from attnviz.transformer.layers import Run
from attnviz.transformer.probe import Probe
from attnviz.transformer.transformer import Transformer

Logits = Float[Tensor, "batch vocab_size"]
Ids = Int[Tensor, " batch"]
Choose = Callable[[Logits], Ids]


class Stepper:
    """A decoder that is fed one token at a time and answers with the logits of the next.

    With `cached` it keeps keys and values and computes one row a step; without, it runs the whole prefix again.
    `prefix` `(batch, length)` holds the tokens fed so far.
    """

    def __init__(
        self,
        model: Transformer,
        memory: Float[Tensor, "batch k_len d_model"],
        src_mask: Bool[Tensor, "..."] | None,
        *,
        capacity: int,
        cached: bool = True,
    ) -> None:
        self.model, self.memory, self.src_mask = model, memory, src_mask
        self.cache = KVCache.for_config(model.config, capacity) if cached else None
        self.prefix = torch.empty(len(memory), 0, dtype=torch.long, device=memory.device)

    def step(self, ids: Ids, *, probe: Probe | None = None, dropout: Dropout | None = None) -> Logits:
        """Feed the next token of every row; returns the logits of the one after it."""
        self.prefix = torch.cat((self.prefix, ids.unsqueeze(1)), dim=1)
        tgt_in = self.prefix if self.cache is None else ids.unsqueeze(1)
        hidden = self.model.decode(tgt_in, self.memory, self.src_mask, Run(probe, dropout, self.cache))
        return self.model.logits(hidden[:, -1])

    def keep(self, rows: Int[Tensor, " kept"]) -> None:
        """Go on with these rows of the batch only, in this order."""
        self.prefix, self.memory = self.prefix[rows], self.memory[rows]
        self.src_mask = None if self.src_mask is None else self.src_mask[rows]
        if self.cache is not None:
            self.cache.reorder(rows)


@dataclass(frozen=True)
class Sampling:
    """Draw the next token at random: a temperature, then the `top_k` likeliest, then the likeliest that together
    hold `top_p` of the probability. `generator` makes a run repeatable."""

    generator: torch.Generator
    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise ValueError(f"temperature must be above 0, not {self.temperature}; for no randomness decode greedily.")
        if self.top_k is not None and self.top_k < 1:
            raise ValueError(f"top_k must be at least 1, not {self.top_k}.")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise ValueError(f"top_p lies in (0, 1], not {self.top_p}.")

    def __call__(self, logits: Logits) -> Ids:
        """One id a row, drawn from the cut distribution."""
        return torch.multinomial(self.probabilities(logits), 1, generator=self.generator).squeeze(1)

    def probabilities(self, logits: Logits) -> Logits:
        """The distribution that is drawn from: zero outside `top_k` and `top_p`, sums to 1."""
        ordered, order = (logits.float() / self.temperature).sort(dim=-1, descending=True)
        probabilities = ordered.softmax(dim=-1)
        if self.top_k is not None:
            probabilities[:, self.top_k :] = 0
        if self.top_p is not None:
            probabilities = probabilities / probabilities.sum(dim=-1, keepdim=True)
            probabilities[probabilities.cumsum(dim=-1) - probabilities >= self.top_p] = 0
        probabilities = probabilities / probabilities.sum(dim=-1, keepdim=True)
        return torch.zeros_like(probabilities).scatter(1, order, probabilities)


def likeliest(logits: Logits) -> Ids:
    """Greedy choice."""
    return logits.argmax(dim=-1)


@dataclass(frozen=True)
class Vocabulary:
    """What decoding must know of the ids: where a sentence ends, and which ids are never written."""

    eos_id: int
    never: tuple[int, ...] = ()

    def forbid(self, logits: Logits) -> Logits:
        """Logits with the ids that are never written at minus infinity."""
        if not self.never:
            return logits
        return logits.index_fill(1, torch.tensor(self.never, device=logits.device), float("-inf"))


def decode(
    stepper: Stepper,
    first: Ids,
    vocabulary: Vocabulary,
    *,
    max_tokens: int | Sequence[int],
    choose: Choose = likeliest,
) -> list[list[int]]:
    """Write each row until `<eos>` or `max_tokens` (one number, or one a row); returns ids without the first token,
    `<eos>` included if reached.

    Rows that have ended leave the batch, so that short sentences do not wait for long ones.
    """
    limits = [max_tokens] * len(first) if isinstance(max_tokens, int) else list(max_tokens)
    written: list[list[int]] = [[] for _ in first]
    rows, ids = list(range(len(first))), first
    while rows:
        ids = choose(vocabulary.forbid(stepper.step(ids)))
        going = []
        for place, (row, id_) in enumerate(zip(rows, ids.tolist(), strict=True)):
            written[row].append(id_)
            if id_ != vocabulary.eos_id and len(written[row]) < limits[row]:
                going.append(place)
        if 0 < len(going) < len(rows):
            kept = torch.tensor(going, device=ids.device)
            ids = ids[kept]
            stepper.keep(kept)
        rows = [rows[place] for place in going]
    return written


@dataclass(frozen=True)
class Hypothesis:
    """A beam's sentence so far: ids without the first token, their summed log-probability, and whether it has ended."""

    ids: tuple[int, ...]
    log_probability: float
    ended: bool = False

    def score(self, length_penalty: float) -> float:
        """Log-probability divided by `length ** length_penalty`."""
        return self.log_probability / max(len(self.ids), 1) ** length_penalty


def beam_steps(
    stepper: Stepper, first: Ids, vocabulary: Vocabulary, *, max_tokens: int, size: int = 4, length_penalty: float = 1.0
):
    """Beam search for one sentence, a step at a time: yields the live and ended hypotheses after each step, best first.

    `first` and the stepper hold a batch of one. Stops when no live hypothesis can still beat the best ended ones.
    """
    live, ended, ids = [Hypothesis((), 0.0)], [], first
    for _ in range(max_tokens):
        log_probs = vocabulary.forbid(stepper.step(ids)).float().log_softmax(dim=-1)
        live, parents, done = _extend(live, log_probs, vocabulary.eos_id, size)
        ended = sorted((*ended, *done), key=lambda h: -h.score(length_penalty))[:size]
        yield _ranked(live, ended, length_penalty)
        if not live or (len(ended) == size and ended[-1].score(length_penalty) >= live[0].score(length_penalty)):
            return
        stepper.keep(torch.tensor(parents, device=first.device))
        ids = torch.tensor([hypothesis.ids[-1] for hypothesis in live], device=first.device)


def _extend(
    live: Sequence[Hypothesis], log_probs: Logits, eos_id: int, size: int
) -> tuple[list[Hypothesis], list[int], list[Hypothesis]]:
    totals = log_probs + torch.tensor([h.log_probability for h in live], device=log_probs.device).unsqueeze(1)
    best = totals.flatten().topk(min(2 * size, totals.numel()))
    going, parents, done = [], [], []
    for total, index in zip(best.values.tolist(), best.indices.tolist(), strict=True):
        parent, id_ = divmod(index, totals.shape[1])
        if total == float("-inf"):
            continue
        hypothesis = Hypothesis((*live[parent].ids, id_), total, ended=id_ == eos_id)
        if hypothesis.ended:
            done.append(hypothesis)
        elif len(going) < size:
            going.append(hypothesis)
            parents.append(parent)
    return going, parents, done


def _ranked(live: list[Hypothesis], ended: list[Hypothesis], length_penalty: float) -> tuple[Hypothesis, ...]:
    return tuple(sorted((*ended, *live), key=lambda h: (not h.ended, -h.score(length_penalty))))
