"""The list of tasks: translation (`french.py`), reversing or sorting letters, repeating a line, adding numbers, and
reading images of digits (`digits.py`).
"""

from math import log
from random import Random
from string import ascii_lowercase

from attnviz.toys.tasks.digits import Digits
from attnviz.toys.tasks.french import French
from attnviz.toys.tasks.task import Defaults, Example, ToyTask, Words

LETTERS = tuple(ascii_lowercase[:16])
SHORTEST, LONGEST = 3, 10  # letters to reverse or sort
LENGTH = 12  # letters of the line that the task "twice" repeats


class Reverse(ToyTask):
    """The task of writing three to ten letters backwards."""

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
    """The task of sorting three to ten different letters."""

    name, title, sample, words = "sort", "Sort letters", "g c a k f b n", LETTERS

    def draw(self, random: Random) -> Words:
        return tuple(random.sample(self.words, k=random.randint(SHORTEST, LONGEST)))

    def answer(self, src: Words) -> Words | None:
        return tuple(sorted(src)) if src and len(set(src)) == len(src) else None

    def aligned_places(self, example: Example) -> frozenset[tuple[int, int]]:
        return frozenset((place, example.src.index(letter)) for place, letter in enumerate(example.tgt))

    def is_clear(self, example: Example) -> bool:
        return len(example.src) == 7


class Twice(ToyTask):
    """Induction in a decoder-only model: given twelve different letters and one of them again, write the other eleven.

    The answer continues the line after the repeated letter and wraps around at its end. If the repeat always began with
    the first letter, the model could copy by position. As it is, it needs a head that finds the token before (Olsson et
    al. 2022, "In-context Learning and Induction Heads").
    """

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
        """Return `floor`, or, for few pairs, the loss of a model that knows all lines and only has to identify the
        line.
        """
        return floor(len(self.words), LENGTH) if pairs is None else log(pairs) / (2 * LENGTH)


def floor(alphabet: int, length: int) -> float:
    """Return the entropy of a line and its repeat in nats per letter, which no model without leaks can beat on average.

    The first letter is one of `alphabet`, the second is one of the remaining letters, and so on. The repeat begins at
    one of `length` positions, and the rest of it is determined. All lines are equally likely.
    """
    line = sum(log(left) for left in range(alphabet - length + 1, alphabet + 1))
    return (line + log(length)) / (2 * length)


class Add(ToyTask):
    """The task of adding two numbers of two digits; the sum is written from its last digit on, as by hand: 47+85 is
    231.
    """

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
        """Return the two digits above each digit of the sum; the carry comes from the tens."""
        columns = ((1, 4), (0, 3), (0, 3))
        return frozenset((place, digit) for place, both in enumerate(columns) for digit in both)

    def split_key(self, src: Words) -> Words:
        """Return both numbers sorted, so that 47+85 and 85+47, which are the same sum, are held out together or not."""
        first, second = sorted("".join(src).split("+"))
        return (first, second)


TASKS: dict[str, ToyTask] = {task.name: task for task in (French(), Reverse(), Sort(), Twice(), Add(), Digits())}


def task(name: str) -> ToyTask:
    """Return the task with this name. Raises ValueError for an unknown name."""
    if not isinstance(name, str) or name not in TASKS:
        raise ValueError(f"There is no task {str(name)[:40]!r}. The tasks are {', '.join(TASKS)}.")
    return TASKS[name]
