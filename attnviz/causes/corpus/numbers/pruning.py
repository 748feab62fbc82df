"""Pruning curve: the scores of a model as its heads are removed one after another, without retraining.

After each step the whole corpus is scored by the log-probability of its targets (teacher forcing) and by the BLEU of
the translations that the model writes. Intervals are 95 % bootstrap intervals over sentences, with the same resamples
at every point.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pandas as pd

from attnviz.analysis.cancellable import TO_THE_END, Cancellable
from attnviz.analysis.corpus.reading import ReadCorpus, require_targets
from attnviz.analysis.runs import HeadPlace
from attnviz.causes.corpus.numbers.bootstrap import DRAWS, Interval, draw_sentences, interval
from attnviz.causes.corpus.numbers.intervened_runs import log_probabilities_under, written_under
from attnviz.causes.corpus.numbers.orders import PruningOrder, switch_off_heads
from attnviz.extras import needs
from attnviz.models.protocol import Model


@dataclass(frozen=True, eq=False)
class BleuCounts:
    """Counts from which BLEU is computed, by sentence.

    `matching` and `total` are n-gram counts `(sentences, 4)`; `written` and `reference` are lengths `(sentences,)`.
    """

    matching: np.ndarray
    total: np.ndarray
    written: np.ndarray
    reference: np.ndarray

    def bleu(self, items: np.ndarray | None = None) -> float:
        """Compute sacrebleu's corpus BLEU, from 0 to 100, over all sentences or over `items`, which may contain
        repeats.
        """
        from sacrebleu.metrics.bleu import BLEU

        items = np.arange(len(self.written)) if items is None else items
        sums = (each[items].sum(axis=0).tolist() for each in (self.matching, self.total, self.written, self.reference))
        return float(BLEU.compute_bleu(*sums, smooth_method="exp").score)


def require_sacrebleu() -> None:
    """Import sacrebleu. Raise ValueError with a message of one sentence if it is not installed."""
    with needs("train", "BLEU", otherwise="leave BLEU out"):
        import sacrebleu.metrics.bleu  # noqa: F401 - asked for only


def bleu_counts(written: Sequence[str], references: Sequence[str], *, to: str = "") -> BleuCounts:
    """Count matching n-grams for each sentence, by character for Chinese. Raise ValueError if sacrebleu is missing."""
    require_sacrebleu()
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU(tokenize="zh" if to == "zh" else "13a", effective_order=True)  # told apart from the corpus's own
    scores = [metric.sentence_score(text, [reference]) for text, reference in zip(written, references, strict=True)]
    return BleuCounts(
        np.array([score.counts for score in scores]), np.array([score.totals for score in scores]),
        np.array([score.sys_len for score in scores]), np.array([score.ref_len for score in scores]),
    )  # fmt: skip


@dataclass(frozen=True)
class CurvePoint:
    """Scores of a model without the heads `places`: nats per target token, and BLEU if requested."""

    order: str
    places: tuple[HeadPlace, ...]
    log_probability: Interval
    bleu: Interval | None = None


@dataclass(frozen=True)
class PruningCurve:
    """Points of a pruning curve for several orders, scored on `sentences` sentences.

    `references` says what BLEU compares with, `orders_from` how many sentences the orders were computed from, and
    `weights` is the id of the model.
    """

    points: tuple[CurvePoint, ...]
    sentences: int
    references: str = ""
    orders_from: int = 0
    weights: str = ""

    def table(self) -> pd.DataFrame:
        """Return a table with one row per point: the order, the number of removed heads, both scores with their
        intervals, the removed heads in order, and the facts that hold for the whole curve.
        """
        lines = [
            {
                "order": point.order,
                "removed": len(point.places),
                **_columns("log_probability", point.log_probability),
                **_columns("bleu", point.bleu or Interval(np.nan, np.nan, np.nan)),
                "heads": " ".join(f"{kind}:{layer}:{head}" for kind, layer, head in point.places),
                "sentences": self.sentences,
                "orders_from": self.orders_from,
                "references": self.references,
                "weights": self.weights,
            }
            for point in self.points
        ]
        return pd.DataFrame(lines)


@dataclass(frozen=True)
class CurvePlan:
    """Numbers of removed heads at which a curve is scored, whether BLEU is computed, and the bootstrap settings."""

    counts: tuple[int, ...]
    with_bleu: bool = True
    draws: int = DRAWS
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.counts or self.counts[0] < 0 or any(one >= other for one, other in pairwise(self.counts)):
            raise ValueError(f"Numbers of removed heads must be 0 or more and rise, not {self.counts}.")

    @classmethod
    def in_steps(cls, step: int, heads: int, **how: bool | int) -> "CurvePlan":
        """Plan points from 0 to `heads` removed heads, `step` apart."""
        return cls(tuple(sorted({*range(0, heads, step), heads})), **how)  # type: ignore[arg-type]


def pruning_curve(
    model: Model,
    corpus: ReadCorpus,
    orders: Sequence[PruningOrder],
    plan: CurvePlan,
    *,
    stop: Cancellable = TO_THE_END,
) -> PruningCurve:
    """Score the model along each order.

    An order that lists fewer heads is scored up to its end. If stopped, the curve has the points scored so far. Raise
    ValueError if a sentence has no target, or if BLEU is requested without sacrebleu or for a model that writes no
    targets.
    """
    require_targets(corpus)
    if plan.with_bleu:
        _require_writer(model)
    wanted = [(order, count) for order in orders for count in plan.counts if count <= len(order.places)]
    scorer, points, known = _Scorer(model, corpus, plan), [], dict[frozenset[HeadPlace], CurvePoint]()
    for order, count in stop.iterate(wanted, len(wanted)):
        places = order.places[:count]
        same = frozenset(places)
        if same not in known:
            known[same] = scorer.point(order.name, places)
        points.append(replace(known[same], order=order.name, places=places))
    given = "given" if corpus.has_references else "its own, with every head in place"
    return PruningCurve(tuple(points), len(corpus.sentences), given if plan.with_bleu else "")


@dataclass(frozen=True)
class _Scorer:
    """Scorer of one pruned model on one corpus."""

    model: Model
    corpus: ReadCorpus
    plan: CurvePlan

    def point(self, name: str, places: tuple[HeadPlace, ...]) -> CurvePoint:
        """Score the model without the heads `places`, with intervals."""
        sums = log_probabilities_under(self.model, self.corpus, switch_off_heads(places)).numpy()
        tokens = self.corpus.target_tokens.numpy()
        draws = self._draws()
        likely = interval(sums.sum() / tokens.sum(), sums[draws].sum(axis=1) / tokens[draws].sum(axis=1))
        return CurvePoint(name, places, likely, self._bleu(places, draws) if self.plan.with_bleu else None)

    def _bleu(self, places: tuple[HeadPlace, ...], draws: np.ndarray) -> Interval:
        references = [sentence.tgt_text for sentence in self.corpus.sentences]
        texts = written_under(self.model, self.corpus, switch_off_heads(places))
        counts = bleu_counts(texts, references, to=self.corpus.like.to)
        return interval(counts.bleu(), np.array([counts.bleu(draw) for draw in draws]))

    def _draws(self) -> np.ndarray:
        """Return bootstrap resamples of sentence indices `(draws, sentences)`, the same for every point."""
        return draw_sentences(len(self.corpus.sentences), draws=self.plan.draws, seed=self.plan.seed)


def _require_writer(model: Model) -> None:
    if not (model.writes and model.inputs.takes_target):
        raise ValueError(f"{model.name} writes no targets that BLEU could be counted of: leave BLEU out.")
    require_sacrebleu()


def _columns(name: str, of: Interval) -> dict[str, float]:
    return {name: of.value, f"{name}_low": of.low, f"{name}_high": of.high}
