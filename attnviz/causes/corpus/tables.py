"""Table of all heads in a study, one row per head, with the most important columns."""

import numpy as np
import pandas as pd

from attnviz.analysis.metric_table import METRICS
from attnviz.causes.corpus.figures import distributions
from attnviz.causes.corpus.numbers.study import CorpusStudy
from attnviz.causes.pictures.corpus_measures import SPREAD, WRITTEN
from attnviz.kit.views.labels import KINDS, head_name

_IMPORTANCE = {
    "by gradient": "gradient importance",
    "lost without": "ablation signed",
    "± error": "ablation error",
    "helps": "ablation helped",
}


def values_of(study: CorpusStudy, measure: str) -> np.ndarray:
    """Return a measure of every head in every sentence that was reached, `(sentences, heads)`."""
    profiles = study.profiles
    found = profiles.written if measure == WRITTEN else profiles.measures[:, :, list(METRICS).index(measure)]
    return found[profiles.measured].numpy()


def shown_table(study: CorpusStudy, measure: str) -> pd.DataFrame:
    """Return a table with one row per head and the columns that the page shows."""
    table, values = study.heads, values_of(study, measure)
    along = distributions.edges(values)
    found = pd.DataFrame(
        {
            "head": [f"{KINDS[kind].tab} {head_name(layer, head)}" for kind, layer, head in study.places],
            "spread": [distributions.counts(values[:, nth], along).tolist() for nth in range(values.shape[1])],
            SPREAD[measure]: table[f"{measure} mean"],
            "writes": table[f"{WRITTEN} mean"],
        }
    )
    for name, column in _IMPORTANCE.items():
        if column in table:
            found[name] = table[column]
    return found.assign(**{"strongest key, most often": _most_often(study)})


def _most_often(study: CorpusStudy) -> list[str]:
    """Return the most frequent role of each head's strongest key, with its share and the share expected by chance."""
    shares = study.profiles.role_shares()
    ordered = shares.loc[shares["group"] == "where"].sort_values(by="share")
    best = ordered.groupby(["kind", "layer", "head"]).last()
    said = {place: f"{one['role']} {one['share']:.0%} (chance {one['by lot']:.0%})" for place, one in best.iterrows()}
    return [said.get(place, "") for place in study.places]
