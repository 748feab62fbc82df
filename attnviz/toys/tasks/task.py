"""The base class of toy tasks: how lines are drawn, their correct answers, and the lines that training never sees."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from attnviz.transformer.probe import Kind

_WATCHED = 5  # lines whose writing is recorded
Words = tuple[str, ...]


@dataclass(frozen=True)
class Example:
    """A line: the given words `src` and the words to write, `tgt`. A decoder-only toy gets `src` as its prompt."""

    src: Words
    tgt: Words


@dataclass(frozen=True)
class Defaults:
    """Sizes and schedule with which a task is learned within a few seconds (measured over five seeds each).

    The learning rate rises over `warm_up` steps and falls to zero over the last share `decay` of the steps.
    """

    n_layers: int = 1
    n_heads: int = 2
    d_model: int = 32
    d_ff: int = 64
    learning_rate: float = 3e-3
    steps: int = 1_500
    warm_up: int = 50
    decay: float = 0.3


class ToyTask(ABC):
    """A task. `words` is its vocabulary; `spaced` says whether words are typed with spaces or are single characters.

    `is_image` says whether the given words are the grey values of an image. `held_out` is the share of lines that
    training never sees; a hash of the line decides which lines these are. `n_answers` is the number of ids that a guess
    of the next word chooses among, or None for the whole vocabulary.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    sample: ClassVar[str]  # an example line, as a visitor would type it
    words: Words
    spaced: ClassVar[bool] = False
    is_decoder_only: ClassVar[bool] = False
    is_image: ClassVar[bool] = False
    held_out: ClassVar[float] = 0.1
    n_answers: ClassVar[int | None] = None
    defaults: ClassVar[Defaults] = Defaults()

    @abstractmethod
    def draw(self, random: Random) -> Words:
        """Sample the given words of a random line; all lines have equal probability."""

    @abstractmethod
    def answer(self, src: Words) -> Words | None:
        """Return the correct answer to a line, or None for words that are not a line of this task."""

    def aligned_places(self, example: Example) -> frozenset[tuple[int, int]]:
        """Return pairs of positions (in `tgt`, in `src`) that say from which given words a written word comes."""
        return frozenset()

    def loss_floor(self, pairs: int | None = None) -> float | None:
        """Return the lowest mean loss, in nats per token, that a model can reach without seeing later tokens; None if
        unknown.

        `pairs` is the number of lines in training; None means all.
        """
        return None

    @property
    def kinds(self) -> "tuple[Kind, ...]":
        """The kinds of attention in the task's model."""
        if self.is_image:
            return ("encoder_self",)
        return ("decoder_self",) if self.is_decoder_only else ("encoder_self", "decoder_self", "cross")

    def watched(self) -> list[Example]:
        """Return the held-out lines whose answers every run records at each snapshot; maps are recorded of the first
        line.
        """
        return distinct(self, Random(f"{self.name} watched"), _WATCHED, held_out=True, clear=True)

    def split_key(self, src: Words) -> Words:
        """Return the words whose hash decides whether a line is held out; lines with the same meaning share them."""
        return src

    def is_held_out(self, src: Words) -> bool:
        """Check whether training never sees this line."""
        digest = hashlib.blake2b(" ".join(self.split_key(src)).encode(), digest_size=4).digest()
        return int.from_bytes(digest, "little") < self.held_out * 2**32

    def is_clear(self, example: Example) -> bool:
        """Check whether a line is suitable for display during training: not too short and not too long."""
        return True

    def example(self, random: Random, *, held_out: bool) -> Example:
        """Sample a random line with its answer: one that is held out, or one that is not."""
        while self.is_held_out(src := self.draw(random)) is not held_out:
            pass
        tgt = self.answer(src)
        assert tgt is not None  # a drawn line has an answer
        return Example(src, tgt)


def distinct(task: ToyTask, random: Random, count: int, *, held_out: bool, clear: bool = False) -> list[Example]:
    """Sample `count` different lines, held out or not; with `clear`, only lines that are suitable for display.

    Raises ValueError if there are not enough lines.
    """
    found: dict[Words, Example] = {}
    for _ in range(50 * count + 1_000):
        example = task.example(random, held_out=held_out)
        if not clear or task.is_clear(example):
            found[example.src] = example
        if len(found) == count:
            return list(found.values())
    raise ValueError(f"{task.name} has fewer than {count:,} different lines to learn from. Use fewer pairs.")


def share(found: Sequence[bool]) -> float:
    """Return the share of true values, 0 to 1; 0 for an empty list."""
    return sum(found) / len(found) if found else 0.0
