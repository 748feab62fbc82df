"""Induction: twelve different letters, then the same line begun elsewhere and read in a circle; a decoder alone.

Begun at the same place, the line could be copied by position; only a line that begins elsewhere forces a head that
finds the letter before (Olsson et al. 2022, "In-context Learning and Induction Heads").
"""

from math import log
from random import Random
from string import ascii_lowercase

from attnviz.learning.tasks.task import Defaults, ToyTask, Words

LENGTH = 12


class Twice(ToyTask):
    """Given are the twelve letters and the first of their repeat; eleven are to be written."""

    name, title, sample = "twice", "Say it twice (induction)", "m a t h o l d e r s i k d"
    words = tuple(ascii_lowercase)
    is_decoder_only = True
    defaults = Defaults(n_layers=2, d_model=64, steps=2_200, warm_up=100, decay=0.2)

    def draw(self, random: Random) -> Words:
        line = random.sample(self.words, k=LENGTH)
        return (*line, random.choice(line))

    def answer(self, src: Words) -> Words | None:
        *line, first = src or ("",)
        if len(line) != LENGTH or len(set(line)) != LENGTH or first not in line:
            return None
        begun = line.index(first)
        return (*line[begun + 1 :], *line[:begun])

    def loss_floor(self, pairs: int | None = None) -> float:
        """As `floor`; of few pairs, what remains for who knows them by heart is which of them it is."""
        return floor(len(self.words), LENGTH) if pairs is None else log(pairs) / (2 * LENGTH)


def floor(alphabet: int, length: int) -> float:
    """Compute the entropy of a line and its repeat, in nats a letter: what an honest loss cannot fall below on average.

    The first letter is one of `alphabet`, the second one of those that are left, and so on; the repeat begins at one
    of `length` places, and the rest of it is certain. All lines are equally likely.
    """
    line = sum(log(left) for left in range(alphabet - length + 1, alphabet + 1))
    return (line + log(length)) / (2 * length)
