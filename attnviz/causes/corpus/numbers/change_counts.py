"""Effects of interventions over many sentences: how many texts change, and how much less likely the targets get."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from attnviz.analysis.cancellable import TO_THE_END, Cancellable
from attnviz.analysis.corpus.lines import CorpusLine
from attnviz.analysis.corpus.reading import ReadCorpus, log_probabilities, read_corpus, require_targets
from attnviz.analysis.rerun import write_again
from attnviz.models.protocol import Model
from attnviz.tracing.causes.intervention import Intervention

Done = Sequence[Intervention]
DRAWS = 1_000
_EDGES = (2.5, 97.5)


class Interval(NamedTuple):
    """A score with the bounds of its 95 % bootstrap interval."""

    value: float
    low: float
    high: float


def draw_sentences(sentences: int, *, draws: int = DRAWS, seed: int = 0) -> np.ndarray:
    """Draw sentence indices with replacement, `(draws, sentences)`. The same seed gives the same indices."""
    return np.random.default_rng(seed).integers(sentences, size=(draws, sentences))


def interval(value: float, scores: np.ndarray) -> Interval:
    """Return a score with its 95 % interval, computed from the scores of the bootstrap resamples `(draws,)`."""
    return Interval(float(value), *map(float, np.percentile(scores, _EDGES)))


@dataclass(frozen=True, eq=False)
class Untouched:
    """Results of the unchanged model on a corpus.

    `log_probabilities` `(sentences,)` is each target's summed log-probability in nats. `texts` are the texts that the
    model writes, or None if it writes no targets.
    """

    corpus: ReadCorpus
    log_probabilities: Tensor
    texts: tuple[str, ...] | None


@dataclass(frozen=True)
class ChangeCount:
    """Effects of interventions over `sentences` sentences.

    `less_likely` counts the targets that get less likely, `differ` the written texts that change (None for a model that
    writes no targets). `before` is the mean log-probability of a target token of the unchanged model, in nats, and
    `change` the difference that the interventions make.
    """

    sentences: int
    less_likely: int
    before: float
    change: Interval
    differ: int | None = None


def run_untouched(
    model: Model, lines: Sequence[CorpusLine], *, to: str = "", stop: Cancellable = TO_THE_END
) -> Untouched:
    """Score the lines with the unchanged model, and let it write its own targets.

    Lines that are too long for the model are left out. Raise ValueError if every line is, or if a sentence has no
    target.
    """
    corpus = read_corpus(model, lines, to=to, whole=False, stop=stop)
    require_targets(corpus)
    likely = log_probabilities_under(model, corpus, (), stop=stop)
    writes = model.writes and model.inputs.takes_target
    return Untouched(corpus, likely, tuple(written_under(model, corpus, (), stop=stop)) if writes else None)


def count_changes(
    model: Model, before: Untouched, done: Sequence[Intervention], *, stop: Cancellable = TO_THE_END
) -> ChangeCount:  # fmt: skip
    """Count the effects of the interventions `done`, which must be possible in every sentence."""
    lost = (log_probabilities_under(model, before.corpus, done, stop=stop) - before.log_probabilities).numpy()
    tokens = before.corpus.target_tokens.numpy()
    draws = draw_sentences(len(lost))
    change = interval(lost.sum() / tokens.sum(), lost[draws].sum(axis=1) / tokens[draws].sum(axis=1))
    differ = None
    if before.texts is not None:
        after = written_under(model, before.corpus, done, stop=stop)
        differ = sum(one != other for one, other in zip(before.texts, after, strict=True))
    start = float(before.log_probabilities.numpy().sum() / tokens.sum())
    return ChangeCount(len(lost), int((lost < 0).sum()), start, change, differ)


def log_probabilities_under(model: Model, corpus: ReadCorpus, done: Done, *, stop: Cancellable = TO_THE_END) -> Tensor:
    """Return each target's summed log-probability in nats under interventions, `(sentences,)`, float64.

    Sentences that were not reached are NaN. Every sentence needs a target.
    """
    found = torch.full((len(corpus.sentences),), torch.nan, dtype=torch.double)
    for batch in stop.iterate(corpus.batches(model), corpus.batch_count()):
        logits = model.rerun(replace(batch.trace, interventions=tuple(done))).logits
        assert logits is not None  # every sentence has a target
        found[list(batch.items)] = log_probabilities(corpus, batch, logits).cpu()
    return found


def written_under(model: Model, corpus: ReadCorpus, done: Done, *, stop: Cancellable = TO_THE_END) -> list[str]:
    """Write a target for each source by greedy decoding under interventions; "" for sentences that were not reached."""
    texts, count = [""] * len(corpus.sentences), corpus.batch_count()
    for number, batch in enumerate(stop.iterate(corpus.batches(model), count)):
        changed = replace(batch.trace, interventions=tuple(done))
        again = write_again(model, changed, None, work=stop.inside_step(number, count))
        for item, written in zip(batch.items, again, strict=True):
            texts[item] = written.text
    return texts
