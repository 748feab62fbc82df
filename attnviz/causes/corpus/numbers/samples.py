"""Sample sentences for one head: those with its largest outputs, and a few from each fifth of the corpus.

The top alone would mislead, because the extremes of a head are not typical of it.
"""

from dataclasses import dataclass

import numpy as np

from attnviz.analysis.corpus.lines import CorpusLine
from attnviz.analysis.runs import HeadPlace
from attnviz.causes.corpus.numbers.profiles import HeadProfiles


@dataclass(frozen=True)
class CorpusSample:
    """A sentence, the largest output norm of a head in it, and the row of that norm.

    `item` is the index in the corpus. `bucket` counts the fifths from 0, the smallest outputs; -1 means a top sentence.
    """

    item: int
    line: CorpusLine
    written: float
    row: int
    bucket: int = -1


def top_sentences(profiles: HeadProfiles, place: HeadPlace, *, count: int = 10) -> tuple[CorpusSample, ...]:
    """Return the sentences with the largest output norm ‖z_h W_o^h‖ of a head in one row, largest first.

    Raise ValueError if output norms are unknown for this model, or if there is no such head.
    """
    ranked, nth = _rank(profiles, place)
    return tuple(_sample(profiles, nth, int(item)) for item in ranked[::-1][:count])


def quantile_samples(
    profiles: HeadProfiles, place: HeadPlace, *, buckets: int = 5, each: int = 3, seed: int = 0
) -> tuple[CorpusSample, ...]:
    """Return random sentences from each of `buckets` equal parts of the corpus, sorted by a head's output norm.

    The same seed gives the same sentences. A part with fewer than `each` sentences returns all of them. Raise
    ValueError like `top_sentences`.
    """
    ranked, nth = _rank(profiles, place)
    dice = np.random.default_rng(seed)
    found = []
    for bucket, part in enumerate(np.array_split(ranked, buckets)):
        drawn = np.sort(dice.choice(len(part), size=min(each, len(part)), replace=False))
        found += [_sample(profiles, nth, int(part[at]), bucket) for at in drawn]
    return tuple(found)


def _rank(profiles: HeadProfiles, place: HeadPlace) -> tuple[np.ndarray, int]:
    """Return the corpus items sorted by the head's output norm, smallest first, and the index of the head."""
    if profiles.why_not:
        raise ValueError(f"How much a head writes is not known for this model: {profiles.why_not}.")
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
