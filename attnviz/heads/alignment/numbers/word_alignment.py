"""Word alignment from a score for each row and source token, and the alignment error rate.

A row can stand for the word that goes into the decoder or the word that comes out; the choice decides whether a map
aligns correctly (Chen et al. 2020). Scores of token pieces are summed over a source word and averaged over a target
word.
"""

from collections.abc import Collection, Hashable
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.analysis.attribution import LogitTarget, key_attribution
from attnviz.analysis.residual import ResidualMaps
from attnviz.text.tokens import Token
from attnviz.text.words import word_groups
from attnviz.tracing.trace import Trace
from attnviz.tracing.trace_like import TraceLike
from attnviz.transformer.probe import Site

Link = tuple[int, int]  # a source word and a target word, counted from 0 without special tokens
Reading = Literal["out", "in"]


def attention_scores(trace: TraceLike, *, layer: int | None = None, item: int = 0) -> Float[Tensor, "rows k_len"]:
    """Return the mean weights of the cross-attention heads in one layer, or in all layers."""
    attn = trace.attn("cross", item=item) if layer is None else trace.attn("cross", layer=layer, item=item)[None]
    return attn.mean(dim=(0, 1))


def attribution_scores(
    maps: ResidualMaps, trace: Trace, *, layer: int | None = None, item: int = 0
) -> Float[Tensor, "rows k_len"]:
    """Return the contribution of each source token through cross-attention to the logit of each row's output.

    The contribution is that of one layer, or of all layers. It is 0 for a row without an output token, and negative if
    the source token makes the output less likely.
    """
    layers = range(trace.shape("cross")[0]) if layer is None else (layer,)
    out = trace.output_tokens("cross", item) or ()
    rows = []
    for row, token in enumerate(out):
        sites = [Site("cross", at) for at in layers] if token.id >= 0 else []
        found = [key_attribution(maps, trace, LogitTarget(row, token.id), site, item=item).sum(dim=0) for site in sites]
        rows.append(torch.stack(found).sum(dim=0) if found else torch.zeros(len(trace.tokens("src", item))))
    return torch.stack(rows)


def word_links(
    scores: Float[Tensor, "rows k_len"],
    trace: TraceLike,
    *,
    reading: Reading = "out",
    null: bool = False,
    item: int = 0,
) -> frozenset[Link]:
    """Link each target word to the source word with the highest score. Special tokens never count as words.

    `reading` says whether a row stands for the word that comes "out" or goes "in". With `null`, a word has no link if
    the special tokens have the highest score.
    """
    words = word_scores(scores, trace, reading=reading, item=item)
    *_, src = words.shape
    if src < 2:
        return frozenset()
    best = (words if null else words[:, :-1]).argmax(dim=1).tolist()
    is_read = ~words.isnan().any(dim=1)
    return frozenset((at, number) for number, at in enumerate(best) if at < src - 1 and is_read[number])


def word_scores(
    scores: Float[Tensor, "rows k_len"], trace: TraceLike, *, reading: Reading = "out", item: int = 0
) -> Float[Tensor, "words src_words_and_null"]:
    """Return scores of words: summed over the tokens of a source word, averaged over the rows of a target word.

    The last column is the sum over all special tokens. A word for which there is no row has NaN.
    """
    sentence = trace.sentences[item]
    shift = 1 if reading == "out" else 0  # offset between a token's target position and its row
    src, tgt = words_of(sentence.src), words_of(sentence.tgt)
    pooled = scores.new_zeros(len(sentence.src), len(src) + 1)
    pooled[:, -1] = 1
    for number, group in enumerate(src):
        pooled[list(group), number] = 1
        pooled[list(group), -1] = 0
    rows = [[at - shift for at in group if 0 <= at - shift < len(scores)] for group in tgt]
    means = [scores[group].mean(dim=0) if group else scores.new_full(scores.shape[1:], torch.nan) for group in rows]
    return (torch.stack(means) if means else scores[:0]) @ pooled


def alignment_error(
    links: Collection[Hashable], sure: Collection[Hashable], possible: Collection[Hashable] = ()
) -> float:
    """Compute the alignment error rate 1 − (|A∩S| + |A∩P|) / (|A| + |S|), 0 to 1 (Och and Ney 2003).

    A are the links found, S the sure and P the possible links, which include S. Links of several sentences must contain
    the sentence's number to be distinct. Raise ValueError if there is neither a found nor a sure link.
    """
    found, certain = set(links), set(sure)
    allowed = certain | set(possible)
    if not found and not certain:
        raise ValueError(
            "There is nothing to compare, because there are neither links found by the method nor sure "
            "links made by hand."
        )
    return 1 - (len(found & certain) + len(found & allowed)) / (len(found) + len(certain))


def words_of(tokens: tuple[Token, ...]) -> list[tuple[int, ...]]:
    """Return the token positions of each word, in the order in which links number words, without special tokens."""
    return [group for group in word_groups(tokens) if not tokens[group[0]].is_special]
