"""How well each way of reading a translator's cross-attention aligns words, against links made by hand.

`python -m attnviz.analysis.causes [language …]` prints the table for the translator that comes along.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import pandas as pd
from jaxtyping import Float
from torch import Tensor

from attnviz.analysis.causes.contributions import alti, rollout
from attnviz.analysis.causes.gold import GoldPair, gold_languages, gold_pairs
from attnviz.analysis.causes.residual import ResidualMaps, residual_maps
from attnviz.analysis.causes.word_alignment import (
    Link,
    Reading,
    alignment_error,
    attention_scores,
    attribution_scores,
    word_links,
    words_of,
)
from attnviz.analysis.site.projections import NotPlain
from attnviz.models.protocol import Model
from attnviz.tracing.trace import Trace

NumberedLink = tuple[int, int, int]  # a sentence and a link in it


class Aligner(NamedTuple):
    """One way of aligning: what is looked at, of which layer and head (None: of all), and what a row stands for."""

    method: str
    layer: int | None
    head: int | None
    reading: Reading


class _Counted:
    """The links that each way finds in the sentences so far, and those made by hand."""

    def __init__(self) -> None:
        self.found: dict[Aligner, set[NumberedLink]] = {}
        self.sure: set[NumberedLink] = set()
        self.possible: set[NumberedLink] = set()


def alignment_errors(model: Model, pairs: Mapping[str, Sequence[GoldPair]] | None = None) -> pd.DataFrame:
    """The alignment error rate, 0 to 1, of each way (a row) in each language (a column), best first by their mean.

    A rate is of all sentences' links together. Each sentence is read with its translation by hand as the target. Ways
    that this model's architecture does not allow (`NotPlain`) are left out; the diagonal, which asks no model, is there
    to compare with. `pairs`: of each language, those that come along for what the model writes if None. Raises
    ValueError where there are none, or for a model without cross-attention.
    """
    if "cross" not in model.kinds:
        raise ValueError(f"{model.name} has no cross-attention: there is nothing that aligns words.")
    if pairs is None:
        pairs = {to: gold_pairs(to) for to in gold_languages() if to in model.languages}
    if not pairs or not all(pairs.values()):
        raise ValueError("There are no word alignments to compare with.")
    rates = {to: _rates(model, to, some) for to, some in pairs.items()}
    ways = list(next(iter(rates.values())))
    ways.sort(key=lambda way: sum(rate[way] for rate in rates.values()))
    table = pd.DataFrame(ways, columns=list(Aligner._fields)).astype({"layer": "Int64", "head": "Int64"})
    return table.assign(**{to: [rate[way] for way in ways] for to, rate in rates.items()})


def _rates(model: Model, to: str, pairs: Sequence[GoldPair]) -> dict[Aligner, float]:
    counted, maps = _Counted(), None
    for number, pair in enumerate(pairs):
        trace = model.trace(pair.src_text, to=to, tgt_text=pair.tgt_text)
        maps = maps or residual_maps(model, trace)
        gold = pair.links(trace)
        counted.sure |= {(number, *link) for link in gold.sure}
        counted.possible |= {(number, *link) for link in gold.possible}
        found = {way: word_links(scores, trace, reading=way.reading) for way, scores in _scores(maps, trace)}
        found[Aligner("diagonal", None, None, "out")] = _diagonal(trace)
        for way, links in found.items():
            counted.found.setdefault(way, set()).update((number, *link) for link in links)
    return {way: alignment_error(found, counted.sure, counted.possible) for way, found in counted.found.items()}


def _diagonal(trace: Trace) -> frozenset[Link]:
    """Each word linked to the one as far into the source: what word order alone gives, whatever the model does."""
    src, tgt = (len(words_of(tokens)) for tokens in (trace.sentences[0].src, trace.sentences[0].tgt))
    return frozenset(((2 * number + 1) * src // (2 * tgt), number) for number in range(tgt))


def _scores(maps: ResidualMaps | NotPlain, trace: Trace) -> Iterator[tuple[Aligner, Float[Tensor, "rows k_len"]]]:
    """Scores by each way. Attribution is to the token that comes out, and has no other reading."""
    if isinstance(maps, ResidualMaps):
        each = [attribution_scores(maps, trace, layer=layer) for layer in range(trace.shape("cross")[0])]
        for layer, scores in enumerate(each):
            yield Aligner("attribution", layer, None, "out"), scores
        yield Aligner("attribution", None, None, "out"), sum(each[1:], start=each[0])
    for method, layer, head, scores in _read_both_ways(maps, trace):
        yield Aligner(method, layer, head, "out"), scores
        yield Aligner(method, layer, head, "in"), scores


def _read_both_ways(
    maps: ResidualMaps | NotPlain, trace: Trace
) -> Iterator[tuple[str, int | None, int | None, Float[Tensor, "rows k_len"]]]:
    for layer in range(trace.shape("cross")[0]):
        for head, weights in enumerate(trace.attn("cross", layer=layer)):
            yield "one head", layer, head, weights
        yield "mean of heads", layer, None, attention_scores(trace, layer=layer)
    yield "mean of heads", None, None, attention_scores(trace)
    yield "rollout", None, None, rollout(trace).source
    if isinstance(maps, ResidualMaps) and maps.encoder_adds_up:
        yield "ALTI", None, None, alti(maps, trace).source
