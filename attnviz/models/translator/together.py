"""Trace several sentences as one padded batch, and split the result into one trace per sentence."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import torch

from attnviz.models.translator.generate import cut_note, decoding_limit, pad_ids
from attnviz.models.translator.translator import Translator
from attnviz.text.limits import prefix_notes, require_text
from attnviz.text.tokens import Token
from attnviz.tracing.record import Sentence
from attnviz.tracing.recorder import Recorder
from attnviz.tracing.trace import Trace
from attnviz.transformer.device import wait_for
from attnviz.transformer.layers import ForwardContext
from attnviz.transformer.probe import AttentionCall, Site, cut_to_lengths, select_item


@torch.inference_mode()
def traces(model: Translator, texts: Sequence[str], *, to: str) -> list[Trace]:
    """Trace each text like `model.trace(text, to=to)`, in one batch; results are equal up to rounding.

    The seconds in the traces are those of the whole batch. Raises TextError for an empty sentence or a language that
    the model does not write.
    """
    for text in texts:
        require_text(text)
    codec, recorder, started = model.codec, Recorder(), time.perf_counter()
    read = [codec.encode_source(text) for text in texts]
    limits = [decoding_limit(len(each.ids)) for each in read]
    src = pad_ids([each.ids for each in read], codec.pad_id).to(model.device)
    src_mask = model.model.src_mask(src)
    memory = model.model.encode(src, src_mask, ForwardContext(recorder))
    wait_for(model.device)
    encoded = time.perf_counter()
    begun = torch.full((len(texts), 1), codec.bos_id(to), device=model.device)
    ids = [(codec.bos_id(to), *each) for each in model.write_ids(memory, src_mask, begun, limits=limits)]
    decoded = time.perf_counter()
    sentences = [
        Sentence(each.tokens, codec.tokens(row), text, codec.text(row), row[-1] != codec.eos_id)
        for each, row, text in zip(read, ids, texts, strict=True)
    ]
    tgt_in = pad_ids([[token.id for token in one.tgt_in] for one in sentences], codec.pad_id).to(model.device)
    logits = model.model.logits(model.model.decode(tgt_in, memory, src_mask, ForwardContext(recorder)))
    wait_for(model.device)
    forward = encoded - started + time.perf_counter() - decoded
    batch = Trace.from_recorder(recorder, sentences, memory=memory, logits=logits)
    notes = [
        (*prefix_notes("Source", each.notes), *((cut_note(limit),) if one.cut else ()))
        for each, one, limit in zip(read, sentences, limits, strict=True)
    ]
    return [
        replace(
            one_of_batch(batch, item, model.is_pad),
            info=model.info(to, notes[item], forward=forward, decoding=decoded - encoded),
        )
        for item in range(len(sentences))
    ]


def one_of_batch(trace: Trace, item: int, is_pad: Callable[[Token], bool]) -> Trace:
    """Return the trace of one batch item; its tensors are views of the batch's. Edited weights are not supported."""
    whole = trace.sentences[item]
    sentence = replace(whole, src=_cut_padding(whole.src, is_pad), tgt=_cut_padding(whole.tgt, is_pad))
    sizes = {"encoder": len(sentence.src), "decoder": len(sentence.tgt_in)}
    last = "decoder" if sentence.tgt else "encoder"
    return replace(
        trace,
        calls={site: _call_of_one(site, call, item, sentence) for site, call in trace.calls.items()},
        contexts={site: one[item : item + 1, :, : len(sentence.queries(site.kind))]
                  for site, one in trace.contexts.items()},
        layers={at: one[item : item + 1, : sizes[at[0]]] for at, one in trace.layers.items()},
        sentences=(sentence,),
        memory=None if trace.memory is None else trace.memory[item : item + 1, : sizes["encoder"]],
        logits=None if trace.logits is None else trace.logits[item : item + 1, : sizes[last]],
    )  # fmt: skip


def _cut_padding(tokens: tuple[Token, ...], is_pad: Callable[[Token], bool]) -> tuple[Token, ...]:
    """Remove the padding at the end of tokens; a pad token at the beginning of a text belongs to the text."""
    length = len(tokens)
    while length > 1 and is_pad(tokens[length - 1]):
        length -= 1
    return tokens[:length]


def _call_of_one(site: Site, call: AttentionCall, item: int, sentence: Sentence) -> AttentionCall:
    one = cut_to_lengths(select_item(call, item, None), len(sentence.queries(site.kind)), len(sentence.keys(site.kind)))
    return replace(one, mask=None if one.mask is None or bool(one.mask.all()) else one.mask)
