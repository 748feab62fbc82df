"""Word alignment from scores of source tokens for each row: the source word of each target word, and the error of that.

A row may be read as the word that goes in or the word that comes out of it: the same map is right or wrong by that
(Chen et al. 2020). Scores of pieces become those of words: summed over a source word, averaged over a target word.
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
    """Average the weights of a layer's cross-attention heads, or of all of them."""
    attn = trace.attn("cross", item=item) if layer is None else trace.attn("cross", layer=layer, item=item)[None]
    return attn.mean(dim=(0, 1))


def attribution_scores(
    maps: ResidualMaps, trace: Trace, *, layer: int | None = None, item: int = 0
) -> Float[Tensor, "rows k_len"]:
    """Return what cross-attention of a layer, or of all, adds through each source token to the logit of each row's
    output.

    Zeros for a row that puts out nothing. Below 0 where a token speaks against it.
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
    """Link each target word to its best source word; special tokens can be no word's source.

    `reading` says which word a row stands for: the one that comes "out" of it or the one that goes "in". With `null` a
    word has no link of which the special tokens have most.
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
    """Scores of words: summed over a source word's tokens, averaged over a target word's rows.

    The last column is of all special tokens together. NaN for a word that no row stands for.
    """
    sentence = trace.sentences[item]
    shift = 1 if reading == "out" else 0  # of a token's place in the target against its row
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
    """Compute the alignment error rate, 0 to 1: 1 − (|A∩S| + |A∩P|) / (|A| + |S|) with S among P (Och and Ney 2003).

    Links of many sentences are told apart by whatever else stands in them, such as the sentence's number.
    Raises ValueError where there is neither a link nor a sure one.
    """
    found, certain = set(links), set(sure)
    allowed = certain | set(possible)
    if not found and not certain:
        raise ValueError("There is nothing to compare: neither links nor sure ones.")
    return 1 - (len(found & certain) + len(found & allowed)) / (len(found) + len(certain))


def words_of(tokens: tuple[Token, ...]) -> list[tuple[int, ...]]:
    """Positions of each word's tokens, in the order in which links count them; special tokens are none."""
    return [group for group in word_groups(tokens) if not tokens[group[0]].is_special]
