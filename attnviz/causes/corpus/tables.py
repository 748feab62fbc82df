"""The measures of heads over many sentences: their names, their titles, and a table with one row per head."""

import numpy as np
import pandas as pd

from attnviz.analysis.metric_table import METRICS
from attnviz.causes.corpus.figures import scatter
from attnviz.causes.corpus.figures.scatter import Axis
from attnviz.causes.corpus.numbers.profiles import WHAT, WHERE_IN_CROSS, WHERE_IN_SELF
from attnviz.causes.corpus.numbers.studies import CorpusStudy
from attnviz.kit.views.labels import KINDS, head_name

WRITTEN = "written"
_OF_SENTENCES = {name: f"{metric.label}{f', {metric.unit}' if metric.unit else ''}" for name, metric in METRICS.items()}
# Measures with a value for each head and sentence, whose distribution can be shown.
SPREAD: dict[str, str] = _OF_SENTENCES | {WRITTEN: "written, most in a row"}
_ROLES = dict.fromkeys((*WHERE_IN_SELF, *WHERE_IN_CROSS, *WHAT))
AXES: dict[str, Axis] = (
    {name: Axis(f"{title} (mean)", f"{name} mean") for name, title in SPREAD.items()}
    | {
        "gradient": Axis("importance by gradient, nats per token", "gradient importance"),
        "ablation": Axis("lost without it, nats per token", "ablation signed"),
        "helped": Axis("share of sentences it helps", "ablation helped"),
    }
    | {role.replace(" ", "-"): Axis(f"strongest key: {role}, share of rows", role) for role in _ROLES}
)


_COMPUTED_LATER = ("gradient", "ablation", "helped")
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
    along = scatter.edges(values)
    found = pd.DataFrame(
        {
            "head": [f"{KINDS[kind].tab} {head_name(layer, head)}" for kind, layer, head in study.places],
            "spread": [scatter.counts(values[:, nth], along).tolist() for nth in range(values.shape[1])],
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


def measures_of(study: CorpusStudy) -> dict[str, Axis]:
    """Return the measures that this study has, or will have when it is over."""
    has = set(study.heads.dropna(axis="columns", how="all").columns)
    comes = () if study.why_not else _COMPUTED_LATER
    return {name: axis for name, axis in AXES.items() if axis.column in has or name in comes}
