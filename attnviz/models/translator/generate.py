"""Greedy translations: of many sentences in batches of similar length, or of one sentence with a checked draft."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from attnviz.models.transformer_model import TargetPass, TransformerModel
from attnviz.text.limits import MAX_TOKENS
from attnviz.text.tokenizer import TranslatorTokenizer
from attnviz.tracing.causes.resolution import NO_INTERVENTIONS, CheckedInterventions
from attnviz.tracing.record import Sentence
from attnviz.transformer.decoding import Stepper, decode
from attnviz.transformer.draft import DraftModel
from attnviz.transformer.layers import ForwardContext
from attnviz.transformer.transformer import Transformer

OnNote = Callable[[int, str], None]  # receives the index of a sentence and a note on it
WithTokenizer = TransformerModel[Transformer, TranslatorTokenizer]

_MOST_MISTAKES = 4  # the shipped model's drafts have one in about 45 sentences; with more, step by step is faster


@torch.inference_mode()
def translations(
    model: WithTokenizer, sentences: Sequence[str], *, to: str, batch: int, tell: OnNote | None = None,
    changes: CheckedInterventions = NO_INTERVENTIONS,
) -> list[str]:  # fmt: skip
    """Translate each sentence and return the translations in order; a blank sentence stays blank.

    `tell(index, note)` is called for every sentence or translation that was truncated. Raises TextError for an unknown
    language, ValueError for a batch size below 1.
    """
    bos_id = model.codec.bos_id(to)
    if batch < 1:
        raise ValueError(f"A batch must contain at least 1 sentence, not {batch}.")
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
        src = pad_ids([encoded[row] for row in rows], model.codec.pad_id).to(model.device)
        src_mask = model.model.src_mask(src)
        edits = changes.resolve([bare[row] for row in rows]).edits
        memory = model.model.encode(src, src_mask, ForwardContext(edits))
        limits = [decoding_limit(len(encoded[row])) for row in rows]
        begun = torch.full((len(rows), 1), bos_id, device=model.device)
        for row, ids in zip(rows, model.write_ids(memory, src_mask, begun, limits=limits, edits=edits), strict=True):
            out[row] = model.codec.text(ids)
            if ids[-1] != model.codec.eos_id:
                tell(row, cut_note(len(ids)))
    return out


def draft_and_check(
    model: WithTokenizer, rounded: DraftModel, target: TargetPass, *, bos_id: int, limit: int
) -> list[int]:
    """Return the ids that greedy decoding generates after `<bos>`, at most `limit`, including `<eos>` if it is reached.

    Rounded weights draft the ids, and one pass over the draft checks each with the model's own weights. After a wrong
    id is corrected, drafting continues from there. This saves time and does not change the result. Afterwards, `target`
    holds the pass over all ids but the last.
    """
    draft, ids = rounded.begin(target.memory, capacity=limit), [bos_id]
    for _ in range(_MOST_MISTAKES):
        ids = draft.go_on(ids, model.vocabulary, limit=limit)
        chosen = model.vocabulary.likeliest_ids(target.logits(ids[:-1])[0])
        right = next((place for place, id_ in enumerate(chosen) if id_ != ids[place + 1]), len(chosen))
        if right == len(chosen):
            return ids[1:]
        ids = [*ids[: right + 1], chosen[right]]
        if ids[-1] in model.vocabulary.ends or len(ids) > limit:
            return ids[1:]
    stepper = Stepper(model.model, target.memory, None, capacity=limit)
    written = torch.tensor([ids], device=target.memory.device)
    stepper.step(written[:, :-1])
    rest = decode(stepper, written[:, -1], model.vocabulary, max_tokens=limit + 1 - len(ids))
    return [*ids[1:], *rest[0]]


def cut_note(count: int) -> str:
    """Return the note on a translation that did not end within this number of tokens."""
    return f"The translation was cut after {count} tokens without reaching <eos>."


def decoding_limit(src_length: int) -> int:
    """Return the most tokens that a translation may have: enough for any language, but a limit for repetitions."""
    return min(MAX_TOKENS, 2 * src_length + 20)


def pad_ids(rows: Sequence[Sequence[int]], pad_id: int) -> Tensor:
    """Join rows of ids into one tensor `(batch, length)`, with `pad_id` after shorter rows."""
    tensors = [torch.tensor(row) for row in rows]
    return torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True, padding_value=pad_id)
