"""Run a model again on the tokens of a trace, with a probe in force: what it computes, and what it would then write."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from attnviz.models.model import Model, Writer
from attnviz.text.tokens import Token
from attnviz.tracing.interventions import MaskOverride
from attnviz.tracing.trace import Sentence, Trace
from attnviz.transformer.decoding import likeliest
from attnviz.transformer.probe import Probe


@dataclass(frozen=True)
class Written:
    """What a model wrote for one sentence; `note` says why it stopped early, if it did."""

    text: str
    tokens: tuple[Token, ...]
    note: str = ""


def batch_of_two(model: Model, trace: Trace, second: Trace) -> Trace:
    """Both traces' first sentences as one batch, the shorter padded: pads are tokens of their own on both axes.

    Padding is masked as the model does it. The translator masks it as keys of the encoder and of cross-attention;
    its decoder self-attention needs no padding mask, since pads stand at the end and the causal mask hides them from
    every real token.
    """
    pair = (trace.sentences[0], second.sentences[0])
    src = max(len(sentence.src) for sentence in pair)
    tgt = max(len(sentence.tgt_in) for sentence in pair)
    return model.rerun(replace(trace, sentences=tuple(_padded(model, sentence, src, tgt) for sentence in pair)))


def run_again(model: Model, trace: Trace, probe: Probe | None = None) -> Trace:
    """One teacher-forced pass over the sentences of `trace`, recorded; the probe acts first.

    Raises RuntimeError where torch refuses what the probe asks for.
    """
    return model.rerun(trace, probe)


@torch.inference_mode()
def write_again(model: Model, trace: Trace, probe: MaskOverride | None, *, cached: bool = True) -> list[Written]:
    """What the model writes, greedily, for each sentence of `trace` while `probe` is in force.

    Without a cache the whole prefix runs again at each step: needed where earlier positions may see later ones.
    Raises RuntimeError where torch refuses what the probe asks for, ValueError for a model that does not write.
    """
    src = max(len(sentence.src) for sentence in trace.sentences)
    limit = min(2 * src + 20, max(2 * max(len(sentence.tgt) for sentence in trace.sentences), 24))
    writer = model.writer(trace, probe, cached=cached, limit=limit)
    rows, notes = _write(writer, probe, cached=cached, limit=limit)
    return [Written(*model.spelled(row), note) for row, note in zip(rows, notes, strict=True)]


def next_tokens(model: Model, logits: Tensor, count: int = 5) -> list[tuple[Token, float]]:
    """The likeliest next tokens and their probabilities, `logits` `(vocab_size,)`; empty where they are NaN."""
    if bool(logits.isnan().any()):
        return []
    top = logits.float().softmax(dim=-1).topk(count)
    return [
        (model.spelled([id_])[1][0], value)
        for id_, value in zip(top.indices.tolist(), top.values.tolist(), strict=True)
    ]


def _write(
    writer: Writer, probe: MaskOverride | None, *, cached: bool, limit: int
) -> tuple[list[list[int]], list[str]]:
    """Each row's ids, and why it stopped early, if it did."""
    batch, fed = len(writer.begun), writer.begun
    rows: list[list[int]] = [[] for _ in range(batch)]
    notes = [f"cut after {limit} tokens without reaching an end"] * batch
    going, at = set(range(batch)), 0
    for _ in range(limit):
        logits = writer.stepper.step(fed, probe=None if probe is None else probe.at(at if cached else 0))
        at += fed.shape[1]
        chosen = likeliest(writer.vocabulary.forbid(logits))
        for row in sorted(going):
            if bool(logits[row].isnan().any()):
                notes[row] = "every score is NaN: there is no next token"
                going.discard(row)
                continue
            rows[row].append(int(chosen[row]))
            if rows[row][-1] in writer.vocabulary.ends:
                notes[row] = ""
                going.discard(row)
        if not going:
            break
        fed = chosen.unsqueeze(1)
    return rows, notes


def _padded(model: Model, sentence: Sentence, src: int, tgt: int) -> Sentence:
    after_src, after_tgt = model.padding(len(sentence.src_text)), model.padding(len(sentence.tgt_text))
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
