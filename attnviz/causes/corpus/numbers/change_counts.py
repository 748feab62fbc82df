"""Effects of interventions over many sentences: how many texts change, and how much less likely the targets get."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from attnviz.analysis.cancellable import TO_THE_END, Cancellable
from attnviz.analysis.corpus.lines import CorpusLine
from attnviz.analysis.corpus.reading import ReadCorpus, read_corpus, require_targets
from attnviz.causes.corpus.numbers.bootstrap import Interval, draw_sentences, interval
from attnviz.causes.corpus.numbers.intervened_runs import log_probabilities_under, written_under
from attnviz.models.protocol import Model
from attnviz.tracing.causes.intervention import Intervention


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
