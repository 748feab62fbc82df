"""Sentences to look at for one head: those in which it writes most, and some of every fifth of the corpus.

The top alone misleads: what a head does at its extremes is rarely what it does.
"""

from dataclasses import dataclass

import numpy as np

from attnviz.analysis.corpus.lines import CorpusLine
from attnviz.analysis.runs import HeadPlace
from attnviz.causes.corpus.numbers.profiles import HeadProfiles


@dataclass(frozen=True)
class CorpusSample:
    """A sentence (`item` of the corpus), how much a head writes in it at most, and the row in which it does.

    `bucket` counts from 0, the least first; -1 for one of the top.
    """

    item: int
    line: CorpusLine
    written: float
    row: int
    bucket: int = -1


def top_sentences(profiles: HeadProfiles, place: HeadPlace, *, count: int = 10) -> tuple[CorpusSample, ...]:
    """Return the sentences in which a head writes most, ‖z_h W_o^h‖ of one row, the most first.

    Raises ValueError where what heads write is not known, or there is no such head.
    """
    ranked, nth = _rank(profiles, place)
    return tuple(_sample(profiles, nth, int(item)) for item in ranked[::-1][:count])


def quantile_samples(
    profiles: HeadProfiles, place: HeadPlace, *, buckets: int = 5, each: int = 3, seed: int = 0
) -> tuple[CorpusSample, ...]:
    """Return some sentences of each of `buckets` equally large parts of the corpus, ordered by how much a head writes.

    Drawn at random: the same seed draws the same. A part of fewer than `each` gives what it has. Raises ValueError as
    `top_sentences`.
    """
    ranked, nth = _rank(profiles, place)
    dice = np.random.default_rng(seed)
    found = []
    for bucket, part in enumerate(np.array_split(ranked, buckets)):
        drawn = np.sort(dice.choice(len(part), size=min(each, len(part)), replace=False))
        found += [_sample(profiles, nth, int(part[at]), bucket) for at in drawn]
    return tuple(found)


def _rank(profiles: HeadProfiles, place: HeadPlace) -> tuple[np.ndarray, int]:
    """Items by how much the head writes, the least first; and the head's number."""
    if profiles.why_not:
        raise ValueError(f"How much a head writes is not known of this model: {profiles.why_not}.")
    if place not in profiles.places:
        kind, layer, head = place
        raise ValueError(f"There is no head {kind} L{layer} H{head} in this model.")
    nth = profiles.places.index(place)
    items = profiles.measured.nonzero()[:, 0].numpy()
    return items[np.argsort(profiles.written[items, nth].numpy(), kind="stable")], nth


def _sample(profiles: HeadProfiles, nth: int, item: int, bucket: int = -1) -> CorpusSample:
    return CorpusSample(
        item, profiles.corpus.lines[item], float(profiles.written[item, nth]),
        int(profiles.written_at[item, nth]), bucket,
    )  # fmt: skip
