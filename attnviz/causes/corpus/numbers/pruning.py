"""The pruning curve: the scores of a model as its heads are removed one after another.

After each step the whole corpus is scored: the log-probability of its targets, each fed the right tokens before it, and
BLEU of what the model then writes. Intervals come from drawing the sentences again at random (bootstrap, 95 %), with
the same draws at every point. The model is not trained again in between.
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
    """By sentence: matching n-grams and all of them `(sentences, 4)`, and lengths of what was written and of its
    reference `(sentences,)`.
    """

    matching: np.ndarray
    total: np.ndarray
    written: np.ndarray
    reference: np.ndarray

    def bleu(self, items: np.ndarray | None = None) -> float:
        """sacrebleu's corpus BLEU, 0 to 100, of these sentences (one may be named twice), or of all."""
        from sacrebleu.metrics.bleu import BLEU

        items = np.arange(len(self.written)) if items is None else items
        sums = (each[items].sum(axis=0).tolist() for each in (self.matching, self.total, self.written, self.reference))
        return float(BLEU.compute_bleu(*sums, smooth_method="exp").score)


def require_sacrebleu() -> None:
    """Import sacrebleu. Raises ValueError, one sentence, where it is not installed."""
    with needs("train", "BLEU", otherwise="leave BLEU out"):
        import sacrebleu.metrics.bleu  # noqa: F401 - asked for only


def bleu_counts(written: Sequence[str], references: Sequence[str], *, to: str = "") -> BleuCounts:
    """Count the matches of each sentence; Chinese is counted in characters. Raises ValueError without sacrebleu."""
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
    """Scores of a model without `places`: nats per target token, and BLEU where it was asked for."""

    order: str
    places: tuple[HeadPlace, ...]
    log_probability: Interval
    bleu: Interval | None = None


@dataclass(frozen=True)
class PruningCurve:
    """Points of several orders, over so many `sentences`; `references` says what BLEU compares with, `orders_from` on
    how many sentences the orders were found, `weights` of which model.
    """

    points: tuple[CurvePoint, ...]
    sentences: int
    references: str = ""
    orders_from: int = 0
    weights: str = ""

    def table(self) -> pd.DataFrame:
        """Tabulate, a line a point: order, heads removed, both scores with their intervals, the heads, the first first,
        and what holds for all points.
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
    """At which numbers of removed heads a curve is scored, whether BLEU is, and how sentences are drawn."""

    counts: tuple[int, ...]
    with_bleu: bool = True
    draws: int = DRAWS
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.counts or self.counts[0] < 0 or any(one >= other for one, other in pairwise(self.counts)):
            raise ValueError(f"Numbers of removed heads must be 0 or more and rise, not {self.counts}.")

    @classmethod
    def in_steps(cls, step: int, heads: int, **how: bool | int) -> "CurvePlan":
        """From none to all of so many heads, `step` at a time."""
        return cls(tuple(sorted({*range(0, heads, step), heads})), **how)  # type: ignore[arg-type]


def pruning_curve(
    model: Model,
    corpus: ReadCorpus,
    orders: Sequence[PruningOrder],
    plan: CurvePlan,
    *,
    stop: Cancellable = TO_THE_END,
) -> PruningCurve:
    """Score the model along each order. An order that ends early is scored as far as it goes; stopped, the points that
    were scored are there.

    Raises ValueError where a sentence has no target, and where BLEU is asked for without sacrebleu or of a model that
    writes no targets.
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
    """Scores one model on one corpus."""

    model: Model
    corpus: ReadCorpus
    plan: CurvePlan

    def point(self, name: str, places: tuple[HeadPlace, ...]) -> CurvePoint:
        """One point, with its intervals."""
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
        """Sentences drawn with replacement `(draws, sentences)`, the same for every point."""
        return draw_sentences(len(self.corpus.sentences), draws=self.plan.draws, seed=self.plan.seed)


def _require_writer(model: Model) -> None:
    if not (model.writes and model.inputs.takes_target):
        raise ValueError(f"{model.name} writes no targets that BLEU could be counted of: leave BLEU out.")
    require_sacrebleu()


def _columns(name: str, of: Interval) -> dict[str, float]:
    return {name: of.value, f"{name}_low": of.low, f"{name}_high": of.high}
