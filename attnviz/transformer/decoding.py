"""Generate a target one token at a time, greedily or by sampling, with a stepper; `beam` has the beam search."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attnviz.transformer.cache import KVCache
from attnviz.transformer.config import ModelConfig
from attnviz.transformer.device import runs
from attnviz.transformer.dropout import Dropout
from attnviz.transformer.embedding import Embedding
from attnviz.transformer.layers import ForwardContext
from attnviz.transformer.matvec import MatVec
from attnviz.transformer.one_token import OneTokenDecoder
from attnviz.transformer.probe import Probe
from attnviz.transformer.transformer import Transformer

Logits = Float[Tensor, "batch vocab_size"]
Ids = Int[Tensor, " batch"]
Choose = Callable[[Logits], Ids]


@runtime_checkable
class BatchStepping(Protocol):
    """The methods of a stepper that decoding calls, also implemented by steppers that record each step."""

    def step(self, ids: Ids, /) -> Logits:
        """Feed the next token of every row and return the logits of the token after it."""
        ...

    def select_rows(self, rows: Int[Tensor, " kept"], /) -> None:
        """Keep only these batch rows, in this order."""
        ...


@runtime_checkable
class DecoderNetwork(Protocol):
    """The parts of a network that a stepper uses."""

    config: ModelConfig
    embedding: Embedding

    @property
    def is_causal(self) -> bool:
        """Whether no position sees a later position."""
        ...

    def decode(
        self, tgt_in: Tensor, memory: Tensor, src_mask: Tensor | None, run: ForwardContext = ForwardContext(), /
    ) -> Tensor:
        """Compute hidden states of the target tokens; with a cache in `run`, of the newest tokens only."""
        ...


class Stepper:
    """A decoder that is fed one token at a time and returns the logits of the next.

    With `cached`, it keeps keys and values and computes one row per step. Otherwise it runs the whole prefix at each
    step, and always does so for a network that is not causal, because with a cache earlier positions could not see
    later ones. `prefix` `(batch, length)` holds the tokens fed so far.
    """

    def __init__(
        self,
        model: DecoderNetwork,
        memory: Float[Tensor, "batch k_len d_model"],
        src_mask: Bool[Tensor, "..."] | None,
        *,
        capacity: int,
        cached: bool = True,
    ) -> None:
        self.model, self.memory, self.src_mask = model, memory, src_mask
        cached = cached and model.is_causal
        self.cache = KVCache.allocate(model.config, capacity) if cached else None
        self.row_decoder = OneTokenDecoder(model.decoder) if cached and isinstance(model, Transformer) else None
        self.logits = MatVec.from_weight(model.embedding.weight)
        self.prefix = torch.empty(len(memory), 0, dtype=torch.long, device=memory.device)

    def step(self, ids: Tensor, *, probe: Probe | None = None, dropout: Dropout | None = None) -> Logits:
        """Feed the next token of every row `(batch,)`, or several `(batch, length)`, and return the logits
        after them.
        """
        new = ids.unsqueeze(1) if ids.dim() == 1 else ids
        self.prefix = torch.cat((self.prefix, new), dim=1)
        run = ForwardContext(probe, dropout, self.cache)
        if self.row_decoder is not None and self.cache is not None and new.shape[1] == 1 and dropout is None:
            x = self.model.embedding(new, self.cache.length)
            return self.logits(self.row_decoder(x, self.memory, self.src_mask, run)[:, -1])
        tgt_in = self.prefix if self.cache is None else new
        return self.logits(self.model.decode(tgt_in, self.memory, self.src_mask, run)[:, -1])

    def select_rows(self, rows: Int[Tensor, " kept"]) -> None:
        """Keep only these batch rows, in this order."""
        self.prefix, self.memory = self.prefix[rows], self.memory[rows]
        self.src_mask = None if self.src_mask is None else self.src_mask[rows]
        if self.cache is not None:
            self.cache.reorder(rows)


COLDEST = 1e-3  # a temperature below which logits divided by it overflow


@dataclass(frozen=True)
class Sampling:
    """Sample the next token: scale by a temperature, keep the `top_k` most likely tokens, then the top-p nucleus.

    The nucleus is the most likely tokens that together have probability `top_p`. `generator` makes a run repeatable.
    """

    generator: torch.Generator
    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None

    def __post_init__(self) -> None:
        if not COLDEST <= self.temperature < float("inf"):
            raise ValueError(
                f"temperature must be a number of at least {COLDEST}, not {self.temperature}; for no randomness decode "
                "greedily."
            )
        if self.top_k is not None and self.top_k < 1:
            raise ValueError(f"top_k must be at least 1, not {self.top_k}.")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise ValueError(f"top_p must be above 0 and at most 1, not {self.top_p}.")

    def __call__(self, logits: Logits) -> Ids:
        """Sample one id per row from the truncated distribution."""
        return torch.multinomial(self.probabilities(logits), 1, generator=self.generator).squeeze(1)

    def probabilities(self, logits: Logits) -> Logits:
        """Return the distribution from which ids are sampled: zero outside `top_k` and `top_p`, with sum 1."""
        ordered, order = (logits.float() / self.temperature).sort(dim=-1, descending=True)
        probabilities = ordered.softmax(dim=-1)
        if self.top_k is not None:
            probabilities[:, self.top_k :] = 0
        if self.top_p is not None:
            probabilities = probabilities / probabilities.sum(dim=-1, keepdim=True)
            outside = probabilities.cumsum(dim=-1) - probabilities >= self.top_p
            probabilities[:, 1:][outside[:, 1:]] = 0  # the most likely token stays, however small `top_p`
        probabilities = probabilities / probabilities.sum(dim=-1, keepdim=True)
        return torch.zeros_like(probabilities).scatter(1, order, probabilities)


def likeliest_ids(logits: Logits) -> Ids:
    """Return the most likely id of each row (greedy decoding)."""
    return logits.argmax(dim=-1)


def forbid_ids(logits: Logits, ids: Sequence[int]) -> Logits:
    """Return the logits with minus infinity for these ids."""
    if not ids:
        return logits
    left = logits.clone()
    for run in runs(ids):
        left[:, run].fill_(float("-inf"))
    return left


@dataclass(frozen=True)
class Vocabulary:
    """The special ids of decoding: the one that ends a sentence, and those that are never generated."""

    eos_id: int
    suppressed_ids: tuple[int, ...] = ()

    @property
    def ends(self) -> frozenset[int]:
        """The ids that end a sentence."""
        return frozenset((self.eos_id,))

    def forbid(self, logits: Logits) -> Logits:
        """Return the logits with minus infinity for the suppressed ids."""
        return forbid_ids(logits, self.suppressed_ids)

    def likeliest_ids(self, logits: Logits) -> list[int]:
        """Return the most likely allowed id of each row. Logits are copied only if a suppressed id is the most
        likely.
        """
        chosen = likeliest_ids(logits).tolist()
        return chosen if set(self.suppressed_ids).isdisjoint(chosen) else likeliest_ids(self.forbid(logits)).tolist()


@dataclass(frozen=True)
class BatchStep:
    """One decoding step of a batch: the rows that are still running, and the id chosen for each."""

    rows: tuple[int, ...]
    ids: tuple[int, ...]


def decode_steps(
    stepper: BatchStepping,
    first: Ids,
    vocabulary: Vocabulary,
    *,
    max_tokens: int | Sequence[int],
    choose: Choose = likeliest_ids,
    teacher: Int[Tensor, "batch steps"] | None = None,
) -> Iterator[BatchStep]:
    """Decode each row until `<eos>` or `max_tokens` (one limit, or one per row), one step at a time.

    Rows that have ended leave the batch, so that short sentences do not wait for long ones. With teacher forcing, the
    tokens of `teacher` (`tgt_out`, or its beginning) are fed instead of the choices and decide where a row ends.
    """
    limits = [max_tokens] * len(first) if isinstance(max_tokens, int) else list(max_tokens)
    rows, fed, length = tuple(row for row, limit in enumerate(limits) if limit > 0), first, 0
    if 0 < len(rows) < len(first):
        kept = torch.tensor(rows, device=first.device)
        fed, teacher = first[kept], None if teacher is None else teacher[kept]
        stepper.select_rows(kept)
    while rows:
        chosen, length = choose(vocabulary.forbid(stepper.step(fed))), length + 1
        ids = tuple(chosen.tolist())  # the only time a step waits for the device
        yield BatchStep(rows, ids)
        if teacher is not None and length <= teacher.shape[1]:
            fed = teacher[:, length - 1]
            ids = tuple(fed.tolist())
        else:
            fed = chosen
        ends = [id_ == vocabulary.eos_id or length >= limits[row] for row, id_ in zip(rows, ids, strict=True)]
        going = [place for place, end in enumerate(ends) if not end]
        if 0 < len(going) < len(rows):
            kept = torch.tensor(going, device=fed.device)
            fed, teacher = fed[kept], None if teacher is None else teacher[kept]
            stepper.select_rows(kept)
        rows = tuple(rows[place] for place in going)


def decode(
    stepper: BatchStepping,
    first: Ids,
    vocabulary: Vocabulary,
    *,
    max_tokens: int | Sequence[int],
    choose: Choose = likeliest_ids,
) -> list[list[int]]:
    """Decode to the end; return each row's ids without the first token, including `<eos>` if reached."""
    written: list[list[int]] = [[] for _ in first]
    for step in decode_steps(stepper, first, vocabulary, max_tokens=max_tokens, choose=choose):
        for row, id_ in zip(step.rows, step.ids, strict=True):
            written[row].append(id_)
    return written
