"""Take one sentence's trace out of a batch's, as if it had run alone, without the padding that the batch needed."""

from collections.abc import Callable
from dataclasses import replace

from attnviz.text.tokens import Token
from attnviz.tracing.record import Sentence
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import AttentionCall, Site, cut_to_lengths, select_item


def one_of_batch(trace: Trace, item: int, is_pad: Callable[[Token], bool]) -> Trace:
    """Return the trace of one sentence; its numbers are views of the batch's. Edited weights are not supported."""
    whole = trace.sentences[item]
    sentence = replace(whole, src=_cut_padding(whole.src, is_pad), tgt=_cut_padding(whole.tgt, is_pad))
    sizes = {"encoder": len(sentence.src), "decoder": len(sentence.tgt_in)}
    last = "decoder" if sentence.tgt else "encoder"
    return replace(
        trace,
        calls={site: _call(site, call, item, sentence) for site, call in trace.calls.items()},
        contexts={site: one[item : item + 1, :, : len(sentence.queries(site.kind))]
                  for site, one in trace.contexts.items()},
        layers={at: one[item : item + 1, : sizes[at[0]]] for at, one in trace.layers.items()},
        sentences=(sentence,),
        memory=None if trace.memory is None else trace.memory[item : item + 1, : sizes["encoder"]],
        logits=None if trace.logits is None else trace.logits[item : item + 1, : sizes[last]],
    )  # fmt: skip


def _cut_padding(tokens: tuple[Token, ...], is_pad: Callable[[Token], bool]) -> tuple[Token, ...]:
    """Cut the padding off the end of tokens; a pad that a text begins with is one of its own."""
    length = len(tokens)
    while length > 1 and is_pad(tokens[length - 1]):
        length -= 1
    return tokens[:length]


def _call(site: Site, call: AttentionCall, item: int, sentence: Sentence) -> AttentionCall:
    one = cut_to_lengths(select_item(call, item, None), len(sentence.queries(site.kind)), len(sentence.keys(site.kind)))
    return replace(one, mask=None if one.mask is None or bool(one.mask.all()) else one.mask)
