"""Make batches of tensors from a task's lines: the inputs, the labels, and which labels belong to the answer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

import torch
from torch import Tensor

from attnviz.toys.experiment import Experiment
from attnviz.toys.tasks.task import Example, ToyTask, distinct
from attnviz.toys.words import BOS, EOS, PAD, ToyWords

BATCH = 32  # lines per update: twice as many cost twice as much and learn no faster


@dataclass(frozen=True)
class ToyBatch:
    """Lines as padded tensors: `src (batch, k_len)`, `tgt_in` and `labels (batch, q_len)`.

    A label is the id that a position has to output. `answers` are the labels without those of the prompt, which become
    padding. `begun` are the ids with which decoding starts. `expected` are the correct ids after them, including the
    end.
    """

    examples: tuple[Example, ...]
    src: Tensor
    tgt_in: Tensor
    labels: Tensor
    answers: Tensor
    begun: Tensor
    expected: tuple[tuple[int, ...], ...]

    @property
    def longest_answer(self) -> int:
        """Number of ids in the longest answer."""
        return max(map(len, self.expected))


def toy_batch(words: ToyWords, examples: Sequence[Example], *, shifted: bool = True) -> ToyBatch:
    """Return a batch of these lines.

    Without `shifted`, the labels are the inputs themselves, without `<bos>`.
    """
    alone = words.task.is_decoder_only
    sources, targets = [words.ids(example.src) for example in examples], [words.ids(each.tgt) for each in examples]
    expected = [target if alone else [*target, EOS] for target in targets]
    given = [source if alone else [] for source in sources]
    wholes = [[*first, *rest] for first, rest in zip(given, expected, strict=True)]
    tgt_in = pad_rows([[BOS, *whole[:-1]] for whole in wholes])
    labels = pad_rows(wholes) if shifted else tgt_in.where(tgt_in != BOS, PAD)
    answers = labels.clone()
    answers[:, : len(given[0])] = PAD  # a prompt is equally long in every line
    src = torch.empty(len(sources), 0, dtype=torch.long) if alone else pad_rows([[*source, EOS] for source in sources])
    return ToyBatch(
        tuple(examples), src, tgt_in, labels, answers, tgt_in[:, : 1 + len(given[0])], tuple(map(tuple, expected)),
    )  # fmt: skip


def add_padding(batch: ToyBatch, count: int) -> ToyBatch:
    """Return the same batch with `count` more `<pad>` after each source."""
    return replace(batch, src=torch.nn.functional.pad(batch.src, (0, count), value=PAD))


def one_line(batch: ToyBatch, row: int) -> ToyBatch:
    """Return a batch that has only one line of this batch, without padding."""
    src, tgt_in = int((batch.src[row] != PAD).sum()), int((batch.tgt_in[row] != PAD).sum())
    one = slice(row, row + 1)
    return ToyBatch(
        batch.examples[one], batch.src[one, :src], batch.tgt_in[one, :tgt_in], batch.labels[one, :tgt_in],
        batch.answers[one, :tgt_in], batch.begun[one], batch.expected[one],
    )  # fmt: skip


def pad_rows(rows: Sequence[Sequence[int]]) -> Tensor:
    """Join rows of ids into one tensor `(batch, length)`, with padding after shorter rows."""
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[PAD] * (longest - len(row))] for row in rows])


def training_batches(experiment: Experiment, words: ToyWords) -> Iterator[ToyBatch]:
    """Yield training batches without end.

    The lines depend only on the task and the seed, so that runs with different switches see the same lines.
    """
    random, shifted = Random(f"{experiment.task} {experiment.seed}"), "shifted-labels" not in experiment.without
    pairs = None if experiment.pairs is None else seen_pairs(experiment)
    while True:
        if pairs is None:
            lines = [experiment.toy_task.example(random, held_out=False) for _ in range(BATCH)]
        else:
            lines = random.choices(pairs, k=BATCH)
        yield toy_batch(words, lines, shifted=shifted)


def seen_pairs(experiment: Experiment, most: int = 10**9) -> list[Example]:
    """Return at most `most` lines that the experiment's training uses."""
    count = min(most, most if experiment.pairs is None else experiment.pairs)
    return distinct(experiment.toy_task, Random(f"{experiment.task} pairs"), count, held_out=False)


def held_out_lines(about: ToyTask, count: int) -> list[Example]:
    """Return held-out lines, which training never sees; they are the same for every run of a task."""
    return distinct(about, Random(f"{about.name} held out"), count, held_out=True)
