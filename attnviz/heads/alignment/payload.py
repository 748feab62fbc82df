"""Data for the Alignment component: word scores and links by the chosen method, links made by hand, and all
methods with their error rates.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from attnviz.heads.alignment.numbers.word_alignment import alignment_error, word_links, word_scores, words_of
from attnviz.kit.entries import entries_of
from attnviz.kit.payload import common_header, payload_of
from attnviz.kit.wire import Blobs, Payload
from attnviz.text.display import display, display_token
from attnviz.text.languages import language_name

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor

    from attnviz.heads.alignment.numbers.alignment_ways import Aligner
    from attnviz.heads.alignment.numbers.gold import GoldLinks
    from attnviz.text.tokens import Token
    from attnviz.tracing.trace_like import TraceLike

OF_WEIGHTS = (
    "one head",
    "mean of heads",
    "rollout",
    "rollout, measured residual",
    "ALTI",
)  # methods whose scores are shares from 0 to 1


@dataclass(frozen=True)
class AlignmentFacts:
    """What is known about the alignment methods.

    `names` are the names of the methods in addresses, of which the first `offered` can be chosen. `rates` are the error
    rates in the language and `of_sentence` in this sentence, 0 to 1, if known. `gold` are the sentence's links made by
    hand. `lacking` says why some methods are missing, as the end of a sentence.
    """

    names: "Mapping[Aligner, str]"
    rates: "Mapping[Aligner, float]" = field(default_factory=dict)
    of_sentence: "Mapping[Aligner, float]" = field(default_factory=dict)
    gold: "GoldLinks | None" = None
    lacking: Mapping[str, str] = field(default_factory=dict)
    offered: int = 0


def alignment_payload(
    trace: "TraceLike", way: "Aligner", scores: 'Float[Tensor, "rows k_len"]', facts: AlignmentFacts
) -> Payload:
    """Pack the data that the Alignment component draws, with the token `scores` of one method merged into word scores.

    The view's `way` is the name of the method `way`. Raise ValueError if the source or the target has no word.
    """
    blobs, sentence = Blobs(), trace.sentences[0]
    src, tgt = words_of(sentence.src), words_of(sentence.tgt)
    if not src or not tgt:
        raise ValueError("There is nothing to align: source and target need at least one word each.")
    words = word_scores(scores, trace, reading=way.reading)
    links = {name: word_links(scores, trace, reading=way.reading, null=name == "null") for name in ("all", "null")}
    header = common_header("cross", trace.kinds, blobs) | {
        **_words("src", sentence.src, src, sentence.src_text),
        **_words("tgt", sentence.tgt, tgt, sentence.tgt_text),
        "null_text": " ".join(display_token(token) for token in sentence.src if token.is_special) or "none",
        "scores": blobs.add(np.ascontiguousarray(words.nan_to_num(0).numpy(), dtype="<f4")),
        "unread": words.isnan().any(dim=1).nonzero().flatten().tolist(),
        "is_share": way.method in OF_WEIGHTS,
        "links": {name: sorted(map(list, found)) for name, found in links.items()},
        "gold": _gold(facts.gold),
        "errors": {name: _error(found, facts.gold) for name, found in links.items()},
        "ways": [_way(each, name, facts) for each, name in facts.names.items()],
        "offered": facts.offered,
        "language": language_name(trace.to) if trace.to else "",
        "lacking": dict(facts.lacking),
    }
    return payload_of(header, {}, blobs)


def _words(name: str, tokens: "Sequence[Token]", groups: Sequence[Sequence[int]], typed: str) -> dict[str, Any]:
    texts = [_word([tokens[at] for at in group], typed) for group in groups]
    return {name: texts, f"{name}_entries": entries_of([[tokens[at] for at in group] for group in groups])}


def _word(tokens: "Sequence[Token]", typed: str) -> str:
    """Return a word as it was typed, even if it consists of unknown tokens; otherwise the text of its tokens."""
    start, end = min(token.start for token in tokens), max(token.end for token in tokens)
    return display(typed[start:end].strip()) or "".join(map(display_token, tokens))


def _gold(gold: "GoldLinks | None") -> dict[str, list[list[int]]] | None:
    if gold is None:
        return None
    return {"sure": sorted(map(list, gold.sure)), "possible": sorted(map(list, gold.possible - gold.sure))}


def _error(links: frozenset, gold: "GoldLinks | None") -> float | None:
    return None if gold is None else alignment_error(links, gold.sure, gold.possible)


def _way(way: "Aligner", name: str, facts: AlignmentFacts) -> dict[str, Any]:
    return {
        **dict(zip(("method", "layer", "head", "reading"), way, strict=True)),
        "name": name,
        "rate": facts.rates.get(way),
        "own": facts.of_sentence.get(way),
    }
