"""Convert runs of consecutive integers to slices.

Indexing with a list copies the list to the device and waits for it, at each token and each edit; a slice needs no copy.
"""

from collections.abc import Iterable


def runs(numbers: Iterable[int]) -> list[slice]:
    """Join consecutive integers to slices, in their order."""
    return [here for here, _ in paired_runs((number, number) for number in numbers)]


def paired_runs(pairs: Iterable[tuple[int, int]]) -> list[tuple[slice, slice]]:
    """Join pairs of integers that both increase by one to pairs of slices, in their order."""
    found: list[tuple[slice, slice]] = []
    for here, there in pairs:
        if found and (found[-1][0].stop, found[-1][1].stop) == (here, there):
            here, there = found[-1][0].start, found[-1][1].start
            length = found.pop()[0].stop - here + 1
        else:
            length = 1
        found.append((slice(here, here + length), slice(there, there + length)))
    return found
