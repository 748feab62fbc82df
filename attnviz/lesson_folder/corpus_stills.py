"""The tab Many sentences of Causes as tables: every head over the sentences that come along, and the pruning curve."""

import html
from itertools import islice

import pandas as pd

from attnviz.analysis.corpus.cancellable import TO_THE_END
from attnviz.analysis.corpus.shipped import shipped_lines
from attnviz.analysis.corpus.shipped_curve import merged_seeds, shipped_curve
from attnviz.analysis.corpus.study import CorpusStudy, run_stages
from attnviz.lessons.picture import Picture
from attnviz.models.catalogue import DEFAULT, entries
from attnviz.pictures.causes.corpus_measures import SPREAD
from attnviz.pictures.causes.corpus_table import shown_table
from attnviz.views.site.code_tables import small_table

_QUICK = 2  # stages: measures and importance by gradient; the last one takes minutes
SOURCE = "sentences: manythings.org/anki and tatoeba.org, CC BY 2.0 FR"
_NOT_OFF = "Heads were not switched off one by one here: the page Causes does that, in some minutes."


def many_sentences(shown: Picture) -> str:
    """Draw the part that is linked to; "" where the link does not ask for sentences that come along."""
    said = shown.link.texts
    if said.get("part") == "pruning":
        return _pruning_curve(shown)
    is_asked = said.get("read") in ("1", "true") and said.get("sentences", "shipped") in ("", "shipped")
    return _every_head(shown) if is_asked else ""


def _every_head(shown: Picture) -> str:
    """Measure every head of the unchanged model over the list. Raises ValueError with one sentence."""
    stages = run_stages(shown.model, shipped_lines(shown.trace.to), to=shown.trace.to, listen=lambda _: TO_THE_END)
    study = list(islice(stages, _QUICK))[-1]
    measure = shown.link.texts.get("spread", "")
    table = shown_table(study, measure if measure in SPREAD else "entropy").drop(columns="spread")
    return f"<p>{html.escape(_caption(study))}</p>{_table(table)}"


def _caption(study: CorpusStudy) -> str:
    count = f"{int(study.profiles.measured.sum()):,} sentences. {SOURCE}."
    return f"{count} {study.why_not or _NOT_OFF}"


def _pruning_curve(shown: Picture) -> str:
    """Write out the curve that is shipped with the model; "" for a model without one. Raises ValueError."""
    name = shown.link.texts.get("model") or DEFAULT
    folder = next((entry.folder for entry in entries() if entry.name == name), None)
    curve = None if folder is None else shipped_curve(folder, shown.trace.to, shown.model.model_id)
    if curve is None:
        return ""
    points = pd.DataFrame(merged_seeds(curve), columns=["order", "removed", "log_probability", "bleu"])
    first = curve.iloc[0]
    said = f"Heads removed one after another: {first['sentences']} held-out sentences; {SOURCE}."
    return f"<p>{html.escape(said)}</p>{_table(points.dropna(axis='columns', how='all'))}"


def _table(table: pd.DataFrame) -> str:
    rows = [[_cell(value) for value in row] for row in table.itertuples(index=False)]
    return small_table(list(table.columns), rows)


def _cell(value: object) -> str:
    return f"{value:.3f}".replace("-", "−") if isinstance(value, float) else str(value)
