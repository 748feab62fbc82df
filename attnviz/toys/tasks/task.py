"""Tasks that toys learn: how lines are drawn, the right answers, and the lines that training never sees."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

Words = tuple[str, ...]


@dataclass(frozen=True)
class Example:
    """A line: what is given, and what is to be written. A decoder alone is given `src` as its prompt."""

    src: Words
    tgt: Words


@dataclass(frozen=True)
class Defaults:
    """Sizes and schedule with which a task is learned within some seconds (measured over five seeds each).

    The learning rate rises over `warm_up` steps and falls to nothing over the last share `decay` of them.
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
    """A task. `words` is its vocabulary, `spaced` whether its words are typed with spaces between them or are single
    characters. `held_out` is the share of lines that is kept from training: which ones, a hash of the line decides.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    sample: ClassVar[str]  # a line to begin with, as a visitor types it
    words: Words
    spaced: ClassVar[bool] = False
    is_decoder_only: ClassVar[bool] = False
    held_out: ClassVar[float] = 0.1
    defaults: ClassVar[Defaults] = Defaults()

    @abstractmethod
    def draw(self, random: Random) -> Words:
        """Draw the given words of a line, evenly."""

    @abstractmethod
    def answer(self, src: Words) -> Words | None:
        """Return the right answer to a line; None for words that are no line of this task."""

    def aligned_places(self, example: Example) -> frozenset[tuple[int, int]]:
        """Return pairs of places (in `tgt`, in `src`): the words of the given line that a written word comes from."""
        return frozenset()

    def loss_floor(self, pairs: int | None = None) -> float | None:
        """Return the bound that no honest loss stays below on average, in nats a token, learned from so many pairs
        (None: from all lines that are drawn); None where the task has none worth drawing.
        """
        return None

    def split_key(self, src: Words) -> Words:
        """Return the words whose hash decides whether a line is held out: lines of one meaning share them."""
        return src

    def is_held_out(self, src: Words) -> bool:
        """Check whether training never sees this line."""
        digest = hashlib.blake2b(" ".join(self.split_key(src)).encode(), digest_size=4).digest()
        return int.from_bytes(digest, "little") < self.held_out * 2**32

    def is_clear(self, example: Example) -> bool:
        """Check whether a line is fit for being watched: neither too short to show anything nor too long."""
        return True

    def example(self, random: Random, *, held_out: bool) -> Example:
        """Draw a line of the one or the other side of the split."""
        while self.is_held_out(src := self.draw(random)) is not held_out:
            pass
        tgt = self.answer(src)
        assert tgt is not None  # it was drawn
        return Example(src, tgt)


def distinct(task: ToyTask, random: Random, count: int, *, held_out: bool, clear: bool = False) -> list[Example]:
    """Draw so many different lines of one side of the split; `clear` ones only, if asked.

    Raises ValueError where there are not so many.
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
    """Compute the share of true values, 0 to 1; 0 of none."""
    return sum(found) / len(found) if found else 0.0
