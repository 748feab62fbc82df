"""The tab Many sentences of Causes as HTML: every head measured over the shipped sentences, and the pruning curve."""

import html
from collections.abc import Sequence
from itertools import islice

import numpy as np
import pandas as pd

from attnviz.analysis.cancellable import TO_THE_END
from attnviz.analysis.corpus.lines import shipped_lines
from attnviz.analysis.runs import HeadPlace
from attnviz.causes.corpus.figures import scatter
from attnviz.causes.corpus.numbers.pruning import merged_seeds, shipped_curve
from attnviz.causes.corpus.numbers.samples import CorpusSample, quantile_samples, top_sentences
from attnviz.causes.corpus.numbers.studies import CorpusStudy, run_stages
from attnviz.causes.corpus.tables import SPREAD, shown_table, values_of
from attnviz.kit.views.code_tables import small_table
from attnviz.kit.views.labels import KINDS, head_name
from attnviz.lessons.folder.variants import Part, variants
from attnviz.lessons.phrases import Translatable
from attnviz.lessons.picture import LinkedPicture
from attnviz.masks.figures.tables import bars
from attnviz.models.catalogue import DEFAULT, entries
from attnviz.text.display import display

_QUICK = 2  # stages: measures and importance by gradient; the last one takes minutes
SOURCE = "sentences of manythings.org/anki and tatoeba.org, CC BY 2.0 FR"
_NOT_OFF = "Heads were not switched off one by one here: the page Causes does that, in some minutes."
_MOST_HEADS = 160
_TITLES = {"removed": "heads removed", "log_probability": "nats per target token", "bleu": "BLEU of the model's text"}
ONLY_APP = Translatable(
    "In attnviz itself, where the model runs, you can also measure your own sentences, switch off every head in turn, "
    "and plot one measure of the heads against another."
)
_TOP, _WORDS = 5, 12
_FIFTHS = ("least", "second fifth", "middle", "fourth fifth", "most")


def many_sentences(shown: LinkedPicture) -> Sequence[Part]:
    """Draw the part of the tab Many sentences that a link names; [] if the link is not about the shipped sentences."""
    said = shown.link.texts
    if said.get("part") == "pruning":
        return _pruning_curve(shown)
    is_asked = said.get("read") in ("1", "true") and said.get("sentences", "shipped") in ("", "shipped")
    return _every_head(shown) if is_asked else []


def _every_head(shown: LinkedPicture) -> Sequence[Part]:
    """Measure every head of the unchanged model over the shipped sentences.

    Raises ValueError if they cannot be read.
    """
    stages = run_stages(shown.model, shipped_lines(shown.trace.to), to=shown.trace.to, listen=lambda _: TO_THE_END)
    study = list(islice(stages, _QUICK))[-1]
    return [f"<p>{html.escape(_caption(study))}</p>", _spread(study, shown), _one_head(study, shown)]


def _spread(study: CorpusStudy, shown: LinkedPicture) -> Part:
    """Draw a table of all heads for each measure; the table of the link's measure is shown first."""
    measures, asked = list(SPREAD), shown.link.texts.get("spread", "")

    def table(at: int) -> str:
        return _table(shown_table(study, measures[at]).drop(columns="spread"))

    at = measures.index(asked) if asked in measures else 0
    return variants("spread", "Spread of", list(SPREAD.values()), at, table, is_list=True)


def _one_head(study: CorpusStudy, shown: LinkedPicture) -> Part:
    """Draw the details of each head. The list opens with the head in focus."""
    names = [f"{KINDS[kind].tab} {head_name(layer, head)}" for kind, layer, head in study.places]
    place = (shown.kind, shown.layer, shown.head)
    at = study.places.index(place) if place in study.places else 0

    def draw(at: int) -> str:
        return head_over_sentences(study, study.places[at])

    return variants("head", "Head", names, at, draw, is_list=True, most=_MOST_HEADS)


def _caption(study: CorpusStudy) -> str:
    count = f"{int(study.profiles.measured.sum()):,} {SOURCE}."
    return f"{count} {study.why_not or _NOT_OFF}"


def _pruning_curve(shown: LinkedPicture) -> Sequence[Part]:
    """Draw the shipped pruning curve of the model as a table; [] for a model without one.

    Raises ValueError if the shipped curve belongs to other weights.
    """
    name = shown.link.texts.get("model") or DEFAULT
    folder = next((entry.folder for entry in entries() if entry.name == name), None)
    curve = None if folder is None else shipped_curve(folder, shown.trace.to, shown.model.model_id)
    if curve is None:
        return []
    points = pd.DataFrame(merged_seeds(curve), columns=["order", "removed", "log_probability", "bleu"])
    first = curve.iloc[0]
    said = f"Heads removed one after another, on {first['sentences']} held-out {SOURCE}."
    return [f"<p>{html.escape(said)}</p>{_table(points.dropna(axis='columns', how='all').rename(columns=_TITLES))}"]


def _table(table: pd.DataFrame) -> str:
    rows = [[_cell(value) for value in row] for row in table.itertuples(index=False)]
    return small_table(list(table.columns), rows)


def _cell(value: object) -> str:
    return f"{value:.3f}".replace("-", "−") if isinstance(value, float) else str(value)


def head_over_sentences(study: CorpusStudy, place: HeadPlace) -> str:
    """Draw all results of a study for one head, as HTML."""
    parts = (_measures(study, place), _roles(study, place), _reads(study, place), _samples(study, place))
    return "".join(parts)


def _measures(study: CorpusStudy, place: HeadPlace) -> str:
    """Draw one line for each measure of a head: its median, and a histogram over the sentences."""
    nth, lines = study.places.index(place), []
    for measure, title in SPREAD.items():
        every_head = values_of(study, measure)
        mine = every_head[:, nth]
        if not np.isfinite(mine).any():
            continue
        along = scatter.edges(every_head)
        counts = scatter.counts(mine, along)
        drawn = bars((counts / counts.max()).tolist(), title=f"sentences, from {along[0]:.3g} to {along[-1]:.3g}")
        numbers = "".join(f"<td>{number:.3g}</td>" for number in (np.nanmedian(mine), along[0], along[-1]))
        lines.append(f"<tr><th>{html.escape(title)}</th>{numbers}<td>{drawn}</td></tr>")
    top = "<tr><th>measure</th><th>median</th><th>from</th><th>to</th><th>each bar counts sentences</th></tr>"
    return f"<div class='number-rows' tabindex=0><table>{top}{''.join(lines)}</table></div>"


def _roles(study: CorpusStudy, place: HeadPlace) -> str:
    shares, (kind, layer, head) = study.profiles.role_shares(), place
    mine = shares.loc[(shares["kind"] == kind) & (shares["layer"] == layer) & (shares["head"] == head)].dropna()
    rows = [(str(one["role"]), f"{one['share']:.1%}", f"{one['by lot']:.1%}") for _, one in mine.iterrows()]
    return small_table(("of all rows, the strongest key is", "this head", "a random key"), rows) if rows else ""


def _reads(study: CorpusStudy, place: HeadPlace) -> str:
    table = study.profiles.lift(place)
    more = table.loc[table["lift"] > 1].head(_WORDS)
    rows = [
        (display(one["token"]), f"{one['lift']:.2f} ×", f"{one['share']:.1%}", f"{one['occurrences']:,}")
        for _, one in more.iterrows()
    ]
    heads = ("tokens that it reads more than an even head does", "lift", "share of its weight", "occurrences")
    return small_table(heads, rows) if rows else "<p>No token occurs three times in the list.</p>"


def _samples(study: CorpusStudy, place: HeadPlace) -> str:
    """List sentences by how much the head writes to the residual stream: the top ones, and two random ones per
    fifth.
    """
    if study.profiles.why_not:
        why = html.escape(study.profiles.why_not)
        return f"<p>How much a head writes is not known for this model: {why}.</p>"
    top = top_sentences(study.profiles, place, count=_TOP)
    drawn = quantile_samples(study.profiles, place, buckets=len(_FIFTHS), each=2)
    random = _sentences("random sample, two sentences from each fifth", drawn)
    return _sentences("sentences in which it writes most", top) + random


def _sentences(title: str, samples: Sequence[CorpusSample]) -> str:
    rows = [
        (display(one.line.text), f"{one.written:.2f}", _FIFTHS[one.bucket] if one.bucket >= 0 else "")
        for one in samples
    ]
    return small_table((title, "writes", ""), rows)
