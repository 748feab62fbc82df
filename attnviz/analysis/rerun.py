"""Run a model again on the tokens of a trace, with a probe in force: what it computes, and what it would then write."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from attnviz.models.translator import Translator
from attnviz.text.tokens import Token
from attnviz.tracing.interventions import Chain, MaskOverride
from attnviz.tracing.recorder import Recorder
from attnviz.tracing.trace import Sentence, Trace
from attnviz.transformer.decoding import Stepper, Vocabulary, likeliest
from attnviz.transformer.layers import Run
from attnviz.transformer.probe import Probe


@dataclass(frozen=True)
class Written:
    """What a model wrote for one sentence; `note` says why it stopped early, if it did."""

    text: str
    tokens: tuple[Token, ...]
    note: str = ""


def batch_of_two(model: Translator, trace: Trace, second: Trace) -> Trace:
    """Both traces' first sentences as one batch, the shorter padded: pads are tokens of their own on both axes.

    Padding is masked as the model does it: as keys of the encoder and of cross-attention. Decoder self-attention needs
    no padding mask, since pads stand at the end and the causal mask hides them from every real token.
    """
    pad = Token("<pad>", model.codec.pad_id, 0, 0, is_special=True)
    pair = (trace.sentences[0], second.sentences[0])
    src = max(len(sentence.src) for sentence in pair)
    tgt = max(len(sentence.tgt_in) for sentence in pair)
    return run_again(model, replace(trace, sentences=tuple(_padded(sentence, src, tgt, pad) for sentence in pair)))


@torch.inference_mode()
def run_again(model: Translator, trace: Trace, probe: Probe | None = None) -> Trace:
    """One teacher-forced pass over the sentences of `trace`, recorded; the probe acts first.

    Raises RuntimeError where torch refuses what the probe asks for.
    """
    recorder = Recorder()
    run = Run(recorder if probe is None else Chain((probe, recorder)))
    src = _ids([sentence.src for sentence in trace.sentences], model)
    src_mask = model.model.src_mask(src)
    memory = model.model.encode(src, src_mask, run)
    tgt_in = _ids([sentence.tgt_in for sentence in trace.sentences], model)
    logits = model.model.logits(model.model.decode(tgt_in, memory, src_mask, run))
    return Trace.of(recorder, trace.sentences, memory=memory, logits=logits, info=trace.info)


@torch.inference_mode()
def write_again(model: Translator, trace: Trace, probe: MaskOverride | None, *, cached: bool = True) -> list[Written]:
    """What the model writes, greedily, for each sentence of `trace` while `probe` is in force.

    Without a cache the whole prefix runs again at each step: needed where earlier positions may see later ones.
    Raises RuntimeError where torch refuses what the probe asks for.
    """
    src = _ids([sentence.src for sentence in trace.sentences], model)
    src_mask = model.model.src_mask(src)
    memory = model.model.encode(src, src_mask, Run(probe))
    limit = min(2 * src.shape[1] + 20, max(2 * _longest(trace), 24))
    stepper = Stepper(model.model, memory, src_mask, capacity=limit, cached=cached)
    return _write(model, stepper, trace, probe=probe, limit=limit)


def next_tokens(model: Translator, logits: Tensor, count: int = 5) -> list[tuple[Token, float]]:
    """The likeliest next tokens and their probabilities, `logits` `(vocab_size,)`; empty where they are NaN."""
    if bool(logits.isnan().any()):
        return []
    top = logits.float().softmax(dim=-1).topk(count)
    return [
        (model.codec.tokens([id_])[0], value)
        for id_, value in zip(top.indices.tolist(), top.values.tolist(), strict=True)
    ]


def _write(
    model: Translator, stepper: Stepper, trace: Trace, *, probe: MaskOverride | None, limit: int
) -> list[Written]:
    vocabulary = Vocabulary(model.codec.eos_id, model.codec.never_generated)
    batch = len(trace.sentences)
    ids = torch.full((batch,), model.codec.bos_id(trace.to), device=model.device)
    rows: list[list[int]] = [[] for _ in range(batch)]
    notes = [f"cut after {limit} tokens without reaching an end"] * batch
    going = set(range(batch))
    for step in range(limit):
        acting = None if probe is None else probe.at(step if stepper.cache is not None else 0)
        logits = stepper.step(ids, probe=acting)
        ids = likeliest(vocabulary.forbid(logits))
        for row in sorted(going):
            if bool(logits[row].isnan().any()):
                notes[row] = "every score is NaN: there is no next token"
                going.discard(row)
                continue
            rows[row].append(int(ids[row]))
            if rows[row][-1] == model.codec.eos_id:
                notes[row] = ""
                going.discard(row)
        if not going:
            break
    return [
        Written(model.codec.text(row), model.codec.tokens(row), note) for row, note in zip(rows, notes, strict=True)
    ]


def _longest(trace: Trace) -> int:
    return max(len(sentence.tgt) for sentence in trace.sentences)


def _ids(rows: Sequence[Sequence[Token]], model: Translator) -> Tensor:
    return torch.tensor([[token.id for token in row] for row in rows], device=model.device)


def _padded(sentence: Sentence, src: int, tgt: int, pad: Token) -> Sentence:
    after_src = replace(pad, start=len(sentence.src_text), end=len(sentence.src_text))
    after_tgt = replace(pad, start=len(sentence.tgt_text), end=len(sentence.tgt_text))
    longer = tgt - len(sentence.tgt_in)
    padded = (*sentence.tgt, *(after_tgt,) * longer)
    # A sentence that was cut has no end to pad after; its last row then puts out a pad.
    padded = (*padded, after_tgt) if sentence.cut and longer else padded
    return replace(
        sentence,
        src=(*sentence.src, *(after_src,) * (src - len(sentence.src))),
        tgt=padded,
        cut=sentence.cut and not longer,
    )
