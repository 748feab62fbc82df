"""Pruning curve: the scores of a model as its heads are removed one after another, without retraining.

After each step the whole corpus is scored by the log-probability of its targets (teacher forcing) and by the BLEU of
the translations that the model writes. Intervals are 95 % bootstrap intervals over sentences, with the same resamples
at every point.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from attnviz.analysis.cancellable import TO_THE_END, Cancellable
from attnviz.analysis.corpus.reading import ReadCorpus, require_targets
from attnviz.analysis.runs import HeadPlace, head_places
from attnviz.causes.corpus.numbers.change_counts import (
    DRAWS,
    Interval,
    draw_sentences,
    interval,
    log_probabilities_under,
    written_under,
)
from attnviz.causes.corpus.numbers.importance import HeadImportance
from attnviz.causes.numbers.effects import head_effects
from attnviz.extras import needs
from attnviz.models.protocol import Model
from attnviz.text.languages import language_name
from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.causes.making import ablate

COMMAND = "python -m attnviz.causes.corpus --to {to} --halves --card < assets/sentences/{to}.tsv"
_HEADING = "## Heads removed, {}"
_COUNTS = 6  # number of columns between 0 and all heads removed
SEEDS = 5  # number of random orders


@dataclass(frozen=True)
class PruningOrder:
    """Heads in the order in which they are removed. A search that was stopped lists fewer than all heads."""

    name: str
    places: tuple[HeadPlace, ...]


def switch_off_heads(places: Sequence[HeadPlace]) -> tuple[Intervention, ...]:
    """Return interventions that set these heads to zero, one intervention per attention site."""
    ordered = sorted(places)
    return tuple(
        ablate(kind, layer=layer, heads=[head for _, _, head in group])
        for (kind, layer), group in groupby(ordered, key=lambda place: place[:2])
    )


def order_by_importance(importance: HeadImportance, *, most_first: bool = False) -> PruningOrder:
    """Order heads by importance, least important first, or most important first with `most_first`."""
    ranked = importance.of_heads.argsort(descending=most_first, stable=True).tolist()
    name = f"{importance.how}, most important first" if most_first else f"{importance.how}, least important first"
    return PruningOrder(name, tuple(importance.places[nth] for nth in ranked))


def random_orders(places: Sequence[HeadPlace], *, seeds: int = SEEDS) -> tuple[PruningOrder, ...]:
    """Return one random order of the heads for each seed from 0 to `seeds` - 1."""
    drawn = (np.random.default_rng(seed).permutation(len(places)) for seed in range(seeds))
    return tuple(
        PruningOrder(f"random, seed {seed}", tuple(places[nth] for nth in order)) for seed, order in enumerate(drawn)
    )


def greedy(model: Model, corpus: ReadCorpus, *, a_step: int = 1, stop: Cancellable = TO_THE_END) -> PruningOrder:
    """Remove at each step the `a_step` heads whose removal lowers the target's log-probability least.

    Each step ablates every head in every sentence, together with the heads removed so far. If the search is stopped,
    the order ends with the last complete step. Raise ValueError if a sentence has no target.
    """
    require_targets(corpus)
    places, out = head_places(model), list[HeadPlace]()
    for _ in range(0, len(places), a_step):
        kept = torch.zeros(len(places), dtype=torch.double)
        done = 0
        for item in stop.iterate(range(len(corpus.sentences)), len(corpus.sentences)):
            kept += _gains(model, corpus, item, out)
            done += 1
        if done < len(corpus.sentences):
            break
        ranked = [places[nth] for nth in kept.argsort(descending=True, stable=True).tolist()]
        out += [place for place in ranked if place not in out][:a_step]
    name = "greedy" if a_step == 1 else f"greedy, {a_step} a step"
    return PruningOrder(name, tuple(out))


def _gains(model: Model, corpus: ReadCorpus, item: int, out: Sequence[HeadPlace]) -> torch.Tensor:
    """Compute the change of a target's log-probability without each head, with the heads `out` already removed."""
    trace = model.rerun(replace(corpus.one_sentence(item), interventions=switch_off_heads(out)))
    return head_effects(model, trace).per_token.double().sum(dim=1)


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
            raise ValueError(f"Numbers of removed heads must be 0 or more and increasing, not {self.counts}.")

    @classmethod
    def in_steps(cls, step: int, heads: int, **how: bool | int) -> "CurvePlan":
        """Plan a curve that is scored at 0, `step`, 2 `step`, … up to `heads` removed heads."""
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
        """Score the model with the heads `places` removed; return the scores with their bootstrap intervals."""
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
        raise ValueError(f"{model.name} writes no targets, so BLEU cannot be computed. Please leave BLEU out.")
    require_sacrebleu()


def _columns(name: str, of: Interval) -> dict[str, float]:
    return {name: of.value, f"{name}_low": of.low, f"{name}_high": of.high}


def curve_path(folder: Path, to: str) -> Path:
    """Return the path of the pruning curve for a target language."""
    return folder / f"pruning-{to}.csv"


def shipped_curve(folder: Path, to: str, weights: str) -> pd.DataFrame | None:
    """Read the pruning curve of these weights, in the format of `PruningCurve.table`; None if there is no file.

    Raise ValueError with a message of one sentence if the curve belongs to other weights.
    """
    path = curve_path(folder, to)
    if not path.is_file():
        return None
    table = pd.read_csv(path)
    if set(table["weights"]) != {weights}:
        raise ValueError(f"{path.name} was computed with other weights than these: {COMMAND.format(to=to)} repeats it.")
    return table


def write_card(folder: Path, to: str) -> None:
    """Write the curve's section into a model card, replacing the previous section."""
    path = folder / "README.md"
    section = card_section(pd.read_csv(curve_path(folder, to)), to)
    path.write_text(insert_section(path.read_text(encoding="utf-8"), section), encoding="utf-8")


def card_section(table: pd.DataFrame, to: str) -> str:
    """Return the curve as Markdown: BLEU and log-probability by order and number of removed heads, and the method."""
    first, has_bleu = table.iloc[0], not table.dropna(subset=["bleu"]).empty
    counts = _thin_out(sorted(table["removed"].unique().tolist()))
    return "\n\n".join(
        (
            _HEADING.format(language_name(to)),
            f"Heads taken out one after another, without training again. The tables have BLEU, and the mean "
            f"log-probability of a target token in nats, on {first['sentences']} sentences of "
            f"`assets/sentences/{to}.tsv`. The order of the heads was found on {first['orders_from']} other sentences "
            "of that file. In brackets is half the width of a 95 % bootstrap interval over sentences (1,000 samples); "
            "for random orders, half the range over the seeds. "
            f"`{COMMAND.format(to=to)}` repeats the measurement; `pruning-{to}.csv` has every point.",
            *([_table(table, "bleu", counts, "BLEU", digits=1)] if has_bleu else []),
            _table(table, "log_probability", counts, "nats a token", digits=2),
        )
    )


def insert_section(card: str, section: str) -> str:
    """Insert a section into a model card before "## Limits", replacing a section with the same heading."""
    heading = section.split("\n", 1)[0]
    without = re.sub(rf"^{re.escape(heading)}\n.*?(?=^## |\Z)", "", card, flags=re.DOTALL | re.M)
    before, limits, after = without.partition("## Limits")
    return f"{before}{section}\n\n{limits}{after}" if limits else f"{without.rstrip()}\n\n{section}\n"


def merged_seeds(table: pd.DataFrame) -> pd.DataFrame:
    """Merge a curve's random orders into one line: the mean of the seeds, with their minimum and maximum as bounds."""
    is_random = table["order"].str.startswith("random, seed")
    if not is_random.any():
        return table
    seeds = table.loc[is_random, "order"].nunique()
    groups = table[is_random].groupby("removed")
    found = groups[["removed"]].first().assign(order=f"random, mean of {seeds} seeds")
    for name in ("log_probability", "bleu"):
        found[name], found[f"{name}_low"], found[f"{name}_high"] = (
            getattr(groups[name], how)() for how in ("mean", "min", "max")
        )
    return pd.concat([table.loc[~is_random], found], ignore_index=True)


def _table(table: pd.DataFrame, name: str, counts: list[int], title: str, *, digits: int) -> str:
    lines = [f"| {title}, heads removed | {' | '.join(map(str, counts))} |", "| --- |" + " --- |" * len(counts)]
    for order, part in merged_seeds(table).groupby("order", sort=False):
        points = part.set_index("removed").to_dict("index")
        cells = [_cell(points[count], name, digits) if count in points else "" for count in counts]
        lines.append(f"| {order} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(point: Mapping[str, Any], name: str, digits: int) -> str:
    if np.isnan(point[name]):
        return ""
    half = (point[f"{name}_high"] - point[f"{name}_low"]) / 2
    return f"{point[name]:.{digits}f} (±{half:.{digits}f})".replace("-", "−")


def _thin_out(counts: list[int]) -> list[int]:
    """Shorten a list of numbers for a table: keep the first, the last, and evenly spaced ones between them."""
    step = max(1, round((len(counts) - 1) / _COUNTS))
    return sorted({*counts[::step], counts[-1]})
