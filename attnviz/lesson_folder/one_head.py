"""One head over many sentences as HTML: its measures, its roles, what it reads, and where it writes most."""

import html
from collections.abc import Sequence

import numpy as np

from attnviz.analysis.causes.runs import HeadPlace
from attnviz.analysis.corpus.samples import CorpusSample, quantile_samples, top_sentences
from attnviz.analysis.corpus.study import CorpusStudy
from attnviz.pictures.causes.corpus_measures import SPREAD
from attnviz.pictures.causes.corpus_table import values_of
from attnviz.text.display import display
from attnviz.views.causes.corpus import distributions
from attnviz.views.masks.fill_table import bars
from attnviz.views.site.code_tables import small_table

_TOP, _WORDS = 5, 12
_FIFTHS = ("least", "second fifth", "middle", "fourth fifth", "most")


def head_over_sentences(study: CorpusStudy, place: HeadPlace) -> str:
    """Draw all of one head."""
    parts = (_measures(study, place), _roles(study, place), _reads(study, place), _samples(study, place))
    return "".join(parts)


def _measures(study: CorpusStudy, place: HeadPlace) -> str:
    """Draw a line for each measure: its median, and how many sentences have which value."""
    nth, lines = study.places.index(place), []
    for measure, title in SPREAD.items():
        every_head = values_of(study, measure)
        mine = every_head[:, nth]
        if not np.isfinite(mine).any():
            continue
        along = distributions.edges(every_head)
        counts = distributions.counts(mine, along)
        drawn = bars((counts / counts.max()).tolist(), title=f"sentences, from {along[0]:.3g} to {along[-1]:.3g}")
        numbers = "".join(f"<td>{number:.3g}</td>" for number in (np.nanmedian(mine), along[0], along[-1]))
        lines.append(f"<tr><th>{html.escape(title)}</th>{numbers}<td>{drawn}</td></tr>")
    top = "<tr><th>measure</th><th>median</th><th>from</th><th>to</th><th>a bar counts sentences</th></tr>"
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
    heads = ("reads more than an even head", "lift", "share of its weight", "occurrences")
    return small_table(heads, rows) if rows else "<p>No token occurs three times in the list.</p>"


def _samples(study: CorpusStudy, place: HeadPlace) -> str:
    """List sentences by how much the head writes: the most, and two random ones of each fifth."""
    if study.profiles.why_not:
        why = html.escape(study.profiles.why_not)
        return f"<p>How much a head writes is not known for this model: {why}.</p>"
    top = top_sentences(study.profiles, place, count=_TOP)
    drawn = quantile_samples(study.profiles, place, buckets=len(_FIFTHS), each=2)
    return _sentences("it writes the most in", top) + _sentences("random sample, two from each fifth", drawn)


def _sentences(title: str, samples: Sequence[CorpusSample]) -> str:
    rows = [
        (display(one.line.text), f"{one.written:.2f}", _FIFTHS[one.bucket] if one.bucket >= 0 else "")
        for one in samples
    ]
    return small_table((title, "writes", ""), rows)
