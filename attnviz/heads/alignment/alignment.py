"""Picture of word alignment: the source word from which each target word comes, read from cross-attention."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from attnviz.analysis.projections import NotPlain
from attnviz.guards.arguments import reads_arguments
from attnviz.heads.alignment.numbers.alignment_errors import found_links, known_errors
from attnviz.heads.alignment.numbers.alignment_errors import rates as rates_of
from attnviz.heads.alignment.numbers.alignment_ways import Aligner, KnownMaps, known_maps_of, scores, ways
from attnviz.heads.alignment.numbers.gold import GoldLinks, gold_languages, gold_pairs
from attnviz.heads.alignment.numbers.word_alignment import alignment_error, word_links, word_scores, words_of
from attnviz.kit.browser_view import add_view
from attnviz.kit.caching import NO_HELP, Cache, Host, make_anew
from attnviz.kit.fields import PageState, Say, choice, declare, flag
from attnviz.kit.payload import common_header, entries_of, payload_of
from attnviz.kit.subject import Subject, of_trace
from attnviz.kit.wire import Blobs, Payload
from attnviz.models.protocol import Model
from attnviz.text.display import display, display_token
from attnviz.text.languages import language_name
from attnviz.tracing.trace_like import TraceLike
from attnviz.transformer.probe import Site

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor

    from attnviz.text.tokens import Token

OF_WEIGHTS = (
    "one head",
    "mean of heads",
    "rollout",
    "rollout, measured residual",
    "ALTI",
)  # methods whose scores are shares from 0 to 1
Rates = Mapping[Aligner, float]
NO_CROSS = "Alignment needs cross-attention, but this model has none. Please open a model that translates."
BARE = "the file has only attention weights, not norms and logits"
NO_MODEL = "the model that made the trace is not given (model=…)"
_WAY = re.compile(r"[a-z-]+\.(\d{1,3}|all)\.(\d{1,3}|all)\.(out|in)")
_SLUGS = {
    "attribution": "attribution", "one head": "head", "mean of heads": "mean", "norm of one head": "head-norm",
    "norm of heads' sum": "norm", "rollout": "rollout", "rollout, measured residual": "rollout-measured",
    "ALTI": "alti", "max flow": "max-flow", "diagonal": "diagonal",
}  # fmt: skip


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


def _read_way(text: str, bound: object, default: str, say: Say) -> str:
    """Parse the name of an alignment method. `alignment` checks whether the model supports it."""
    if _WAY.fullmatch(text):
        return text
    say("it is a method, a layer, a head, and what each row is read as, such as attribution.1.all.out", "the best one")
    return default


@dataclass(frozen=True)
class AlignmentState(PageState):
    """State of the Alignment picture.

    `way` is the method in the notation of `way_text`; "" is the method with the lowest known error. `drawn` is lines or
    a matrix. `null` says whether a word may have no source, and `gold` whether links made by hand are drawn.
    """

    way: str = declare("", _read_way, name="aligner")
    drawn: str = choice("lines", {"lines": "Lines of words", "matrix": "Matrix"})
    null: bool = flag()
    gold: bool = flag(default=True)


def alignment(
    trace: TraceLike, state: AlignmentState | None = None, *, known: KnownMaps | None = None,
    language: str | None = None, rates: Rates | None = None, cached: Cache = make_anew,
) -> Payload:  # fmt: skip
    """Make the Alignment picture of a trace. Raise ValueError if there is nothing to align.

    Args:
        trace: a trace with cross-attention.
        state: what the picture shows.
        known: the model's own maps (`KnownMaps.find`); None for bare weights.
        language: language of the links made by hand that are compared with; None for the trace's target language.
        rates: alignment error rates of the methods in that language; None for those shipped with the model.
        cached: function that caches expensive parts.
    """
    if "cross" not in trace.kinds:
        raise ValueError(NO_CROSS)
    state, known = state or AlignmentState(), known or _no_maps(trace)
    to = (trace.to if trace.to in gold_languages() else "") if language is None else language
    rates = shipped_rates(trace, to) if rates is None else rates
    there, gold = ways(known, trace), gold_links(trace, to)
    way = _choose_way(state.way, there, rates)

    def make() -> Payload:
        return alignment_payload(trace, way, scores(way, known, trace), _facts(trace, known, there, rates, gold))

    made = cached("alignment", (trace, way, to, len(rates)), make)
    return add_view(made, replace(state, way=way_text(way)))


def way_text(way: Aligner) -> str:
    """Return an alignment method as it is written in an address: `attribution.1.all.out`."""
    sites = ("all" if at is None else str(at) for at in (way.layer, way.head))
    return ".".join((_SLUGS[way.method], *sites, way.reading))


def gold_links(trace: TraceLike, to: str) -> GoldLinks | None:
    """Return the links made by hand for exactly this sentence, if the language has any."""
    pair = next((pair for pair in gold_pairs(to) if is_of(trace, pair)), None) if to else None
    return None if pair is None else pair.links(trace)  # type: ignore[arg-type]


def is_of(trace: TraceLike, pair: Any) -> bool:
    """Return whether a trace has this pair of sentences."""
    sentence = trace.sentences[0]
    return (sentence.src_text, sentence.tgt_text) == (pair.src_text, pair.tgt_text)


def _no_maps(trace: TraceLike) -> KnownMaps:
    why = NotPlain(BARE if trace.weights_only else NO_MODEL)
    return KnownMaps(why, {Site("cross", layer): why for layer in range(trace.shape("cross")[0])})


def shipped_rates(trace: TraceLike, to: str) -> Rates:
    """Return the shipped alignment error rates of a model's methods in a language; {} if there are none."""
    table = known_errors(trace.model_id)
    return rates_of(table, to) if table is not None and to in table else {}


def _choose_way(text: str, there: tuple[Aligner, ...], rates: Rates) -> Aligner:
    """Return the requested method if the model has it, otherwise the best known one, otherwise attribution."""
    by_name = {way_text(way): way for way in there}
    if text in by_name:
        return by_name[text]
    scored = [way for way in there if way in rates]
    attributions = [way for way in scored if way.method == "attribution"]
    if scored:
        return min(attributions or scored, key=rates.__getitem__)
    return next((way for way in there if way.layer is None and way.head is None), there[0])


def _facts(
    trace: TraceLike, known: KnownMaps, there: tuple[Aligner, ...], rates: Rates, gold: GoldLinks | None
) -> AlignmentFacts:
    own = found_links(known, trace) if gold is not None else {}  # type: ignore[arg-type]  # a trace with links made by hand is not bare
    of_sentence = {way: alignment_error(links, gold.sure, gold.possible) for way, links in own.items()} if gold else {}
    lacking = {name: known.missing_reason(name) for name in ("attribution", "norm of heads' sum", "ALTI")}
    return AlignmentFacts(
        {way: way_text(way) for way in (*there, *(way for way in rates if way not in there))},
        rates, of_sentence, gold, {name: why for name, why in lacking.items() if why}, len(there),
    )  # fmt: skip


@reads_arguments
def alignment_of(trace: TraceLike, *, model: Model | None = None, host: Host = NO_HELP) -> Subject:
    """Show from which source word each target word comes. Raises ValueError for a trace without cross-attention."""
    if "cross" not in trace.kinds and host.is_strict:
        raise ValueError(
            "Alignment needs cross-attention, but this trace has none. Please trace a model that translates."
        )
    known = known_maps_of(model, trace, host)

    def draw(state: AlignmentState) -> Payload:
        made = alignment(trace, state, known=known, language=host.language, rates=host.rates, cached=host.cached)
        if host.is_strict and state.way not in ("", made.header["view"]["way"]):
            raise ValueError(f"way={state.way!r} cannot be shown: this trace has no such way of aligning.")
        return made

    return of_trace(trace, AlignmentState(), draw, model)
