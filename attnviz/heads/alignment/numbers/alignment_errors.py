"""Alignment error rates of each method that reads a translator's cross-attention, against links made by hand.

`python -m attnviz.heads.alignment.numbers [language …]` prints the table for the shipped translator.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pandas as pd
import torch

from attnviz.analysis.mixing import attention_mixes
from attnviz.heads.alignment.numbers.alignment_ways import READINGS, Aligner, KnownMaps, all_scores
from attnviz.heads.alignment.numbers.gold import FOLDER, GoldPair, gold_languages, gold_pairs
from attnviz.heads.alignment.numbers.max_flow import max_flow
from attnviz.heads.alignment.numbers.word_alignment import Link, alignment_error, word_links, words_of
from attnviz.models.protocol import Model
from attnviz.tracing.trace import Trace

ERRORS = FOLDER / "errors"  # tables of shipped weights, which the command writes
NumberedLink = tuple[int, int, int]  # a sentence's index, and a link in it
Progress = Callable[[float], object]  # called with the finished share


class _Counted:
    """The links that each method has found in the sentences so far, and the links made by hand."""

    def __init__(self) -> None:
        self.found: dict[Aligner, set[NumberedLink]] = {}
        self.sure: set[NumberedLink] = set()
        self.possible: set[NumberedLink] = set()


def alignment_errors(
    model: Model,
    pairs: Mapping[str, Sequence[GoldPair]] | None = None,
    *,
    with_flow: bool = False,
    progress: Progress = lambda share: None,
) -> pd.DataFrame:
    """Compute the alignment error rate, 0 to 1, of each method (row) in each language (column), best first.

    Rows are sorted by their mean. A rate pools the links of all sentences. Each sentence is read with its translation
    by hand as the target. Methods that this model's architecture does not allow (`NotPlain`) are left out; the
    diagonal, which uses no model, is included for comparison. `pairs` are sentence pairs by language; None means the
    shipped pairs for the model's languages. `with_flow` adds the maximum flow, which takes many times as long as all
    other methods. Raise ValueError if there are no pairs, or if the model has no cross-attention.
    """
    if "cross" not in model.kinds:
        raise ValueError(f"{model.name} has no cross-attention, so it does not align words.")
    if pairs is None:
        pairs = {to: gold_pairs(to) for to in gold_languages() if to in model.languages}
    if not pairs or not all(pairs.values()):
        raise ValueError("There are no word alignments to compare with.")
    rates, steps = {}, sum(map(len, pairs.values()))
    for to, some in pairs.items():
        before = sum(len(pairs[other]) for other in rates)
        rates[to] = _rates(model, to, some, with_flow=with_flow, tell=lambda n, at=before: progress((at + n) / steps))
    ways = list(next(iter(rates.values())))
    ways.sort(key=lambda way: sum(rate[way] for rate in rates.values()))
    table = pd.DataFrame(ways, columns=list(Aligner._fields)).astype({"layer": "Int64", "head": "Int64"})
    return table.assign(**{to: [rate[way] for way in ways] for to, rate in rates.items()})


def _rates(
    model: Model, to: str, pairs: Sequence[GoldPair], *, with_flow: bool, tell: Callable[[int], object]
) -> dict[Aligner, float]:
    counted, known = _Counted(), None
    language = {"to": to} if model.languages else {}
    for number, pair in enumerate(pairs):
        trace = model.trace(pair.src_text, tgt_text=pair.tgt_text, **language)
        known = known or KnownMaps.find(model, trace)
        gold = pair.links(trace)
        counted.sure |= {(number, *link) for link in gold.sure}
        counted.possible |= {(number, *link) for link in gold.possible}
        for way, links in found_links(known, trace, with_flow=with_flow).items():
            counted.found.setdefault(way, set()).update((number, *link) for link in links)
        tell(number + 1)
    return {way: alignment_error(found, counted.sure, counted.possible) for way, found in counted.found.items()}


def found_links(known: KnownMaps, trace: Trace, *, with_flow: bool = False) -> dict[Aligner, frozenset[Link]]:
    """Return the word links in a sentence that each method finds, the diagonal last."""
    found = {way: word_links(scores, trace, reading=way.reading) for way, scores in all_scores(known, trace)}
    if with_flow:
        mixes = [mix.set_residual(0.5) for mix in attention_mixes(trace)]
        flow = torch.cat([max_flow(mixes, row, target=False).source for row in range(len(mixes[-1].read))])
        for reading in READINGS:
            found[Aligner("max flow", None, None, reading)] = word_links(flow, trace, reading=reading)
    return found | {Aligner("diagonal", None, None, "out"): _diagonal(trace)}


def _diagonal(trace: Trace) -> frozenset[Link]:
    """Link each target word to the source word at the same relative position, as a baseline that uses no model."""
    src, tgt = (len(words_of(tokens)) for tokens in (trace.sentences[0].src, trace.sentences[0].tgt))
    return frozenset(((2 * number + 1) * src // (2 * tgt), number) for number in range(tgt))


def known_errors(model_id: str) -> pd.DataFrame | None:
    """Read the shipped table of `alignment_errors` for these weights; None if there is none."""
    path = ERRORS / f"{model_id}.tsv"
    if path not in ERRORS.glob("*.tsv"):  # a path in the id never matches
        return None
    return pd.read_csv(path, sep="\t").astype({"layer": "Int64", "head": "Int64"})  # nullable, because None means all


def write_errors(table: pd.DataFrame, model_id: str) -> Path:
    """Write the table for these weights with four decimals, and delete the tables for other weights."""
    ERRORS.mkdir(exist_ok=True)
    for other in ERRORS.glob("*.tsv"):
        other.unlink()
    path = ERRORS / f"{model_id}.tsv"
    table.to_csv(path, sep="\t", index=False, float_format="%.4f", lineterminator="\n")
    return path


def rates(table: pd.DataFrame, to: str) -> dict[Aligner, float]:
    """Return the error rate of each method in a language; {} if the table does not have the language."""
    if to not in table:
        return {}
    sites = table[["layer", "head"]].astype(object).where(table[["layer", "head"]].notna(), None)
    return {
        Aligner(method, layer, head, reading): float(rate)
        for method, layer, head, reading, rate in zip(
            table["method"], sites["layer"], sites["head"], table["reading"], table[to], strict=True
        )
    }
