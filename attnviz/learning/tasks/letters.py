"""Reversing letters, which is about places, and sorting them, which is about content."""

from random import Random
from string import ascii_lowercase

from attnviz.learning.tasks.task import Example, ToyTask, Words

LETTERS = tuple(ascii_lowercase[:16])
SHORTEST, LONGEST = 3, 10


class Reverse(ToyTask):
    """Three to ten letters, written backwards."""

    name, title, sample, words = "reverse", "Reverse letters", "c a f e b a d", LETTERS

    def draw(self, random: Random) -> Words:
        return tuple(random.choices(self.words, k=random.randint(SHORTEST, LONGEST)))

    def answer(self, src: Words) -> Words | None:
        return src[::-1] or None

    def aligned_places(self, example: Example) -> frozenset[tuple[int, int]]:
        last = len(example.src) - 1
        return frozenset((place, last - place) for place in range(last + 1))

    def is_clear(self, example: Example) -> bool:
        return len(example.src) == 7


class Sort(ToyTask):
    """Three to ten different letters, in the order of the alphabet."""

    name, title, sample, words = "sort", "Sort letters", "g c a k f b n", LETTERS

    def draw(self, random: Random) -> Words:
        return tuple(random.sample(self.words, k=random.randint(SHORTEST, LONGEST)))

    def answer(self, src: Words) -> Words | None:
        return tuple(sorted(src)) if src and len(set(src)) == len(src) else None

    def aligned_places(self, example: Example) -> frozenset[tuple[int, int]]:
        return frozenset((place, example.src.index(letter)) for place, letter in enumerate(example.tgt))

    def is_clear(self, example: Example) -> bool:
        return len(example.src) == 7
