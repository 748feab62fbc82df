"""Effects of interventions over many sentences: how many texts they change, and what they cost the targets."""

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
    """A corpus as the unchanged model reads it: each target's summed log-probability in nats `(sentences,)`, and the
    texts that the model writes; None for a model that writes no targets.
    """

    corpus: ReadCorpus
    log_probabilities: Tensor
    texts: tuple[str, ...] | None


@dataclass(frozen=True)
class ChangeCount:
    """Effects of interventions on so many `sentences`: in how many the target gets less likely, and how many texts that
    the model writes by itself `differ` (None of one that writes none).

    `before` is the log-probability of a target token in nats, with nothing done, and `change` what is added to it.
    """

    sentences: int
    less_likely: int
    before: float
    change: Interval
    differ: int | None = None


def run_untouched(
    model: Model, lines: Sequence[CorpusLine], *, to: str = "", stop: Cancellable = TO_THE_END
) -> Untouched:
    """Read and score the lines with the unchanged model, without those that it cannot read whole.

    Raises ValueError where that is all of them, and for one that has no target.
    """
    corpus = read_corpus(model, lines, to=to, whole=False, stop=stop)
    require_targets(corpus)
    likely = log_probabilities_under(model, corpus, (), stop=stop)
    writes = model.writes and model.inputs.takes_target
    return Untouched(corpus, likely, tuple(written_under(model, corpus, (), stop=stop)) if writes else None)


def count_changes(
    model: Model, before: Untouched, done: Sequence[Intervention], *, stop: Cancellable = TO_THE_END
) -> ChangeCount:  # fmt: skip
    """Count the effects of interventions that fit every sentence."""
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
