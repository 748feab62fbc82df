"""Measures of heads over many sentences: their names in the address, their titles, and their columns in the table."""

from attnviz.analysis.metric_table import METRICS
from attnviz.causes.corpus.figures.scatter import Axis
from attnviz.causes.corpus.numbers.roles import WHAT, WHERE_IN_CROSS, WHERE_IN_SELF
from attnviz.causes.corpus.numbers.study import CorpusStudy

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


_IMPORTANCE = ("gradient", "ablation", "helped")


def measures_of(study: CorpusStudy) -> dict[str, Axis]:
    """Return the measures that this study has, or will have when it is over."""
    has = set(study.heads.dropna(axis="columns", how="all").columns)
    comes = () if study.why_not else _IMPORTANCE
    return {name: axis for name, axis in AXES.items() if axis.column in has or name in comes}
