"""BLEU of what a model wrote, from each sentence's own counts, so that sentences can be drawn again by lot.

sacrebleu belongs to what training needs (requirements-train.txt) and is imported when it is asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


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
    try:
        import sacrebleu.metrics.bleu  # noqa: F401 - asked for only
    except ImportError as error:
        raise ValueError(
            "BLEU is counted by sacrebleu, which is not installed: pip install -r requirements-train.txt, or leave "
            "BLEU out."
        ) from error


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
