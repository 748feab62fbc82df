"""Run an experiment: train a toy step by step and take sixty snapshots. `image_run` has the toys that read images.

A run uses one thread, however many the process has, so that the same experiment gives bit-identical results in every
process on one machine.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnviz.toys.batches import (
    ToyBatch,
    add_padding,
    held_out_lines,
    one_line,
    seen_pairs,
    toy_batch,
    training_batches,
)
from attnviz.toys.experiment import Experiment
from attnviz.toys.head_scores import WantedKeys, look, maps
from attnviz.toys.network import ToyNetwork, network_of
from attnviz.toys.packing import to_8_bits
from attnviz.toys.tasks.french import French
from attnviz.toys.tasks.task import Example
from attnviz.toys.words import PAD, ToyWords
from attnviz.tracing.causes.edits import write
from attnviz.transformer.decoding import Choose, Sampling, Stepper, Vocabulary, likeliest_ids
from attnviz.transformer.probe import Kind

OVER = 4  # tokens that a toy may write past the correct end, to show how it continues
MOMENTS = 60  # number of snapshots of a run, including its beginning and its end
HELD_OUT, LOOKED_AT = 128, 32  # lines that are scored, and lines whose heads are scored
_LAST = 20  # number of updates over which the final loss is averaged
_CLIP, _BETAS, _BEND = 1.0, (0.9, 0.98), 1.3


@dataclass(frozen=True)
class Moment:
    """A snapshot of a run after `step` updates.

    `losses` are those of the updates since the previous snapshot, in nats per token. `teacher_prefix` and `own_prefix`
    are the shares of held-out lines with a correct answer (see `Evaluation`), `held_out_loss` is the loss of their
    answers. `heads` has each head score as `(layers, heads)`, `maps` the weights of each kind for the first watched
    line in 8 bits, `(layers, heads, q_len, k_len)`, and `wrote` the ids that the toy writes for each watched line.

    A toy that reads images writes one word, so that there is no prefix: `teacher_prefix` and `own_prefix` are both its
    accuracy. `confusion` counts its held-out images `(right class, class that it says)`; None for other toys.
    """

    step: int
    losses: tuple[float, ...]
    held_out_loss: float
    teacher_prefix: float
    own_prefix: float
    heads: Mapping[str, np.ndarray]
    maps: Mapping[Kind, np.ndarray]
    wrote: tuple[tuple[int, ...], ...]
    confusion: np.ndarray | None = None


Network = TypeVar("Network", bound=nn.Module)


class ToyTraining(ABC, Generic[Network]):
    """The training of a network. Iterating over it trains the network and yields each `Moment`, from the untrained
    network to the end.
    """

    def __init__(self, experiment: Experiment, network: Network) -> None:
        self.experiment, self.network = experiment, network
        self._optimizer = torch.optim.AdamW(
            network.parameters(), lr=experiment.size.learning_rate, betas=_BETAS, fused=True
        )
        self._step, self._losses = 0, list[float]()

    def __iter__(self) -> Iterator[Moment]:
        for step in moments(self.experiment.size.steps):
            with one_thread():
                moment = self._moment_at(step)
            yield moment

    @property
    def loss(self) -> float:
        """The mean loss of the last updates, in nats per token."""
        return float(np.mean(self._losses[-_LAST:])) if self._losses else float("nan")

    @property
    @abstractmethod
    def watched_lines(self) -> tuple[Example, ...]:
        """The held-out lines whose answers are recorded at each snapshot."""

    @abstractmethod
    def at_the_end(self) -> dict[str, float]:
        """Return scores that are measured once, after the last update."""

    @abstractmethod
    def batch_loss(self) -> Tensor:
        """Return the mean loss of the next batch, in nats per token."""

    @abstractmethod
    def snapshot(self, step: int, losses: tuple[float, ...]) -> Moment:
        """Score the network after `step` updates. `losses` are those since the snapshot before."""

    def update(self) -> None:
        """Update the weights on the next batch. `one_thread` limits the number of threads."""
        for group in self._optimizer.param_groups:
            group["lr"] = self._rate(self._step + 1)
        loss = self.batch_loss()
        if not math.isfinite(loss.item()):
            raise ValueError(f"After {self._step} updates the loss is NaN or infinite. Use a smaller learning rate.")
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), _CLIP, foreach=True)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        self._step += 1
        self._losses.append(loss.item())

    def _moment_at(self, step: int) -> Moment:
        before = self._step
        while self._step < step:
            self.update()
        if step == self.experiment.size.steps:
            _round_weights(self.network)
        return self.snapshot(step, tuple(self._losses[before:step]))

    def _rate(self, step: int) -> float:
        """Return the learning rate of a step: it rises over the warm-up, stays constant, and falls to zero at the end.

        Without the fall, the task "reverse" stays at nine correct lines of ten, however long it is trained.
        """
        size = self.experiment.size
        left = (size.steps - step) / max(size.decay * size.steps, 1)
        return size.learning_rate * min(1.0, step / size.warm_up, left)


class TrainingRun(ToyTraining[ToyNetwork]):
    """The training of a toy that reads and writes words."""

    def __init__(self, experiment: Experiment) -> None:
        self.words = ToyWords(experiment.toy_task)
        shifted = "shifted-labels" not in experiment.without
        with one_thread():
            super().__init__(experiment, network_of(experiment, len(self.words.pieces)))
            held_out = held_out_lines(experiment.toy_task, HELD_OUT)
            self.held_out = toy_batch(self.words, held_out, shifted=shifted)
            watched = toy_batch(self.words, experiment.toy_task.watched(), shifted=shifted)
            if "padding-mask" in experiment.without:  # padded to the length of its training batches
                watched = add_padding(watched, self.held_out.src.shape[1] - watched.src.shape[1])
            self.watched = watched
            looked_at = toy_batch(self.words, held_out[:LOOKED_AT], shifted=shifted)
            self._wanted = WantedKeys.from_pairs(
                looked_at, [experiment.toy_task.aligned_places(line) for line in held_out[:LOOKED_AT]]
            )
            self._first = replace(watched, src=watched.src[:1], tgt_in=watched.tgt_in[:1])
        self._batches = training_batches(experiment, self.words)

    @property
    def watched_lines(self) -> tuple[Example, ...]:
        """The held-out lines whose answers are recorded at each snapshot."""
        return self.watched.examples

    def at_the_end(self) -> dict[str, float]:
        """Return the scores that are measured only after the last update: on training lines, and for the switched-off
        parts.
        """
        with one_thread():
            seen = seen_pairs(self.experiment, HELD_OUT)
            found = evaluation(self.network, toy_batch(self.words, seen), self.words.rules)
            scores = {"own_prefix_seen": sum(found.own) / len(found.own)}
            if "padding-mask" in self.experiment.without:
                scores |= padding_scores(self.network, self.held_out, self.words.rules)
            if self.experiment.task == "french":
                scores["grammatical"] = grammatical_share(self.network, self.held_out, self.words)
        return scores

    def snapshot(self, step: int, losses: tuple[float, ...]) -> Moment:
        """Score the network on the held-out lines, and let it write the watched lines."""
        found = evaluation(self.network, self.held_out, self.words.rules)
        teacher, own = float(np.mean(found.teacher)), float(np.mean(found.own))
        heads = {name: score.numpy() for name, score in self._wanted.scores(self.network).items()}
        weights = maps(look(self.network, self._first))
        return Moment(
            step, losses, found.loss, teacher, own, heads,
            {kind: to_8_bits(attn) for kind, attn in weights.items()},
            tuple(write_lines(self.network, self.watched, self.words.rules)),
        )  # fmt: skip

    def batch_loss(self) -> Tensor:
        """Return the mean loss of the next batch, in nats per token."""
        batch, network = next(self._batches), self.network
        src_mask = network.src_mask(batch.src)
        hidden = network.decode(batch.tgt_in, network.encode(batch.src, src_mask), src_mask)
        return mean_loss(network.logits(hidden), batch.labels)


def moments(steps: int) -> tuple[int, ...]:
    """Return the updates after which snapshots are taken; they are closer together at the beginning, where most
    happens.
    """
    return tuple(dict.fromkeys(round(steps * (at / (MOMENTS - 1)) ** _BEND) for at in range(MOMENTS)))


@contextmanager
def one_thread() -> Iterator[None]:
    """Use one thread inside the context, because sums over several threads differ in their last bits."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@torch.no_grad()
def _round_weights(network: nn.Module) -> None:
    """Round the weights to half precision, so that the final scores belong to the weights in the recording."""
    for parameter in network.parameters():
        parameter.copy_(parameter.half())


@dataclass(frozen=True)
class Evaluation:
    """For each line, whether the whole answer is correct, and the loss of the answers in nats per token.

    `teacher` is the result with teacher forcing, `own` the result if each position is fed what the toy wrote before.
    """

    loss: float
    teacher: tuple[bool, ...]
    own: tuple[bool, ...]


@torch.inference_mode()
def evaluation(network: ToyNetwork, batch: ToyBatch, rules: Vocabulary) -> Evaluation:
    """Score a network on a batch: the loss of the answers, and whether each answer is correct, decoded in two ways.

    The ways are greedy choices under teacher forcing, and greedy decoding. In both, suppressed ids cannot be chosen.
    """
    src_mask = network.src_mask(batch.src)
    logits = network.logits(network.decode(batch.tgt_in, network.encode(batch.src, src_mask), src_mask))
    said = rules.forbid(logits.flatten(0, 1)).view_as(logits).argmax(dim=-1)
    teacher = ((said == batch.answers) | (batch.answers == PAD)).all(dim=1)
    rows = write_lines(network, batch, rules)
    own = tuple(row == right for row, right in zip(rows, batch.expected, strict=True))
    return Evaluation(float(mean_loss(logits, batch.answers)), tuple(teacher.tolist()), own)


def mean_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Compute the cross-entropy in nats per label, ignoring padding."""
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD)


@torch.inference_mode()
def write_lines(
    network: ToyNetwork, batch: ToyBatch, rules: Vocabulary, *, choose: Choose = likeliest_ids
) -> list[tuple[int, ...]]:
    """Decode each line of a batch, including the end if it comes, up to the length of the longest answer plus `OVER`.

    A toy that cannot write an end stops at the length of the longest answer.
    """
    writes_end = rules.eos_id not in rules.suppressed_ids
    limit = batch.longest_answer + (OVER if writes_end else 0)
    src_mask = network.src_mask(batch.src)
    memory = network.encode(batch.src, src_mask)
    stepper = Stepper(network, memory, src_mask, capacity=limit + batch.begun.shape[1])
    return [tuple(row) for row in write(stepper, batch.begun, rules, limits=limit, choose=choose)]


def padding_scores(network: ToyNetwork, batch: ToyBatch, rules: Vocabulary) -> dict[str, float]:
    """Return the share of correct lines with more `<pad>` after each source, and with each line alone without
    padding.
    """
    found = {
        f"own_prefix_{count}_more_pad": _right_share(network, add_padding(batch, count), rules) for count in (1, 5, 20)
    }
    rows = [one_line(batch, row) for row in range(len(batch.src))]
    return found | {"own_prefix_alone": sum(_right_share(network, row, rules) for row in rows) / len(rows)}


def grammatical_share(network: ToyNetwork, batch: ToyBatch, words: ToyWords) -> float:
    """Return the share of grammatical sentences among those that the network writes when each word is sampled."""
    assert isinstance(words.task, French)
    draw = Sampling(torch.Generator().manual_seed(0))
    rows = write_lines(network, batch, words.rules, choose=draw)
    ended = [row[-1] == words.rules.eos_id and words.task.is_grammatical(words.words(row)) for row in rows]
    return sum(ended) / len(ended)


def _right_share(network: ToyNetwork, batch: ToyBatch, rules: Vocabulary) -> float:
    rows = write_lines(network, batch, rules)
    return sum(row == right for row, right in zip(rows, batch.expected, strict=True)) / len(rows)
