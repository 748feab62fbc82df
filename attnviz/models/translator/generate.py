"""What a translator writes, greedily: for one sentence that was read, or for many in batches of like lengths."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attnviz.models.translator.drafted import drafted
from attnviz.models.translator.pretrained import Pretrained
from attnviz.models.translator.target_pass import TargetPass
from attnviz.text.limits import MAX_TOKENS, prefix_notes
from attnviz.text.tokenizer import Encoded
from attnviz.tracing.causes.edits import Edits
from attnviz.tracing.causes.resolution import NO_INTERVENTIONS, CheckedInterventions
from attnviz.tracing.causes.stepping import apply_edits
from attnviz.tracing.record import Sentence
from attnviz.transformer.decoding import Stepper, decode
from attnviz.transformer.layers import ForwardContext

OnNote = Callable[[int, str], None]  # which sentence, and what is said of it


@dataclass(frozen=True)
class GenerationRequest:
    """A sentence, the language to write it in, its target if somebody gives one, and the tokens that one may have.

    `edits` are what is done to the run that writes it.
    """

    text: str
    to: str
    tgt_text: str | None
    max_tokens: int
    edits: Edits | None = None


def read_and_target(
    model: Pretrained, src: Encoded, target: TargetPass, asked: GenerationRequest
) -> tuple[Sentence, tuple[str, ...]]:
    """The source that was read beside its target, given or else written greedily; and notes on what was cut.

    A target that was drafted is checked by `target`, the pass over it.
    """
    codec, tgt_text = model.codec, asked.tgt_text
    if tgt_text is not None and tgt_text.strip():
        given = codec.encode_target(tgt_text, asked.to)
        return Sentence(src.tokens, given.tokens, asked.text, tgt_text), prefix_notes("Target", given.notes)
    limit = min(asked.max_tokens, decoding_limit(len(src.ids)))
    if model.draft is None or asked.edits is not None:
        written = generate(model, target.memory, None, to=asked.to, limits=[limit], edits=asked.edits)[0]
    else:
        written = drafted(model, target, bos_id=codec.bos_id(asked.to), limit=limit)
    ids = (codec.bos_id(asked.to), *written)
    cut = ids[-1] != codec.eos_id
    notes = (was_cut(limit),) if cut else ()
    return Sentence(src.tokens, codec.tokens(ids), asked.text, codec.text(ids), cut), notes


@torch.inference_mode()
def translations(
    model: Pretrained, sentences: Sequence[str], *, to: str, batch: int, tell: OnNote | None = None,
    changes: CheckedInterventions = NO_INTERVENTIONS,
) -> list[str]:  # fmt: skip
    """A translation for each sentence, in their order; blank stays blank. `tell(index, note)` hears of every sentence
    that was read, and every translation that was written, in part only, and of what an intervention left as it was.

    Raises TextError for an unknown language, ValueError for a batch of none.
    """
    model.codec.bos_id(to)
    if batch < 1:
        raise ValueError(f"A batch holds at least 1 sentence, not {batch}.")
    tell, out = tell or (lambda _index, _note: None), [""] * len(sentences)
    read = {index: model.codec.encode_source(text) for index, text in enumerate(sentences) if text.strip()}
    for index, source in read.items():
        for note in source.notes:
            tell(index, note)
    encoded = {index: source.ids for index, source in read.items()}
    bare = {index: Sentence(source.tokens, src_text=sentences[index]) for index, source in read.items()}
    order = sorted(encoded, key=lambda index: len(encoded[index]))
    for start in range(0, len(order), batch):
        rows = order[start : start + batch]
        src = padded([encoded[row] for row in rows], model.codec.pad_id).to(model.device)
        src_mask = model.model.src_mask(src)
        edits = changes.resolve([bare[row] for row in rows]).edits
        memory = model.model.encode(src, src_mask, ForwardContext(edits))
        limits = [decoding_limit(len(encoded[row])) for row in rows]
        for row, ids in zip(rows, generate(model, memory, src_mask, to=to, limits=limits, edits=edits), strict=True):
            out[row] = model.codec.text(ids)
            if ids[-1] != model.codec.eos_id:
                tell(row, was_cut(len(ids)))
    return out


def generate(
    model: Pretrained, memory: Tensor, src_mask: Tensor | None, *, to: str, limits: list[int],
    edits: Edits | None = None,
) -> list[list[int]]:  # fmt: skip
    """The likeliest ids for each row of `memory`, at most as many as its limit, `<eos>` included where one came."""
    stepper = Stepper(model.model, memory, src_mask, capacity=max(limits))
    first = torch.full((len(memory),), model.codec.bos_id(to), device=model.device)
    return decode(apply_edits(stepper, edits), first, model.vocabulary, max_tokens=limits)


def was_cut(count: int) -> str:
    """What is said of a translation that has no end."""
    return f"The translation was cut after {count} tokens without reaching <eos>."


def decoding_limit(src_length: int) -> int:
    """Tokens that a translation may have: room for any language, but an end to a model that repeats itself."""
    return min(MAX_TOKENS, 2 * src_length + 20)


def padded(rows: Sequence[Sequence[int]], pad_id: int) -> Tensor:
    """Rows of ids as one `(batch, length)`, shorter ones filled up with `pad_id`."""
    tensors = [torch.tensor(row) for row in rows]
    return torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True, padding_value=pad_id)
