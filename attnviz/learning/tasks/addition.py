"""Adding two numbers of two digits; the sum is written from its last digit on, as one adds by hand."""

from random import Random

from attnviz.learning.tasks.task import Defaults, Example, ToyTask, Words


class Add(ToyTask):
    """47+85 is 231: 132, its last digit first."""

    name, title, sample, words = "add", "Add two numbers", "4 7 + 8 5", (*"0123456789", "+")
    defaults = Defaults(n_heads=4, d_model=64, steps=3_000)

    def draw(self, random: Random) -> Words:
        return tuple(f"{random.randrange(100):02}+{random.randrange(100):02}")

    def answer(self, src: Words) -> Words | None:
        parts = "".join(src).split("+")
        if len(parts) != 2 or any(len(part) != 2 or not part.isdecimal() for part in parts):
            return None
        return tuple(f"{int(parts[0]) + int(parts[1]):03}"[::-1])

    def aligned_places(self, example: Example) -> frozenset[tuple[int, int]]:
        """Each digit comes from the two above it; the first of the sum, a carry, from those of the tens."""
        columns = ((1, 4), (0, 3), (0, 3))
        return frozenset((place, digit) for place, both in enumerate(columns) for digit in both)

    def split_key(self, src: Words) -> Words:
        """47+85 and 85+47 are one sum."""
        first, second = sorted("".join(src).split("+"))
        return (first, second)
