"""A corpus tokenized by a model, and the batches in which it is run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from attnviz.analysis.cancellable import TO_THE_END, Cancellable
from attnviz.analysis.corpus.lines import CorpusLine
from attnviz.analysis.rerun import pad_sentence
from attnviz.models.protocol import Model
from attnviz.text.limits import TextError, cuts_are_shown
from attnviz.tracing.record import Sentence
from attnviz.tracing.trace import Trace

BATCH_TOKENS = 512  # tokens of a batch including padding, so that a recording stays below about 10 MB


@dataclass(frozen=True)
class CorpusBatch:
    """Some sentences of a corpus (`items`), padded to one length.

    `trace` is the input of the run; it has no recorded values.
    """

    items: tuple[int, ...]
    trace: Trace


@dataclass(frozen=True)
class ReadCorpus:
    """Tokenized sentences, one for each of `lines`; if reading was stopped, as many as were read.

    `like` is a trace of the first sentence without recorded values, from which the other sentences are run. Targets are
    those in the lines, otherwise those that the model wrote, if it writes any.
    """

    lines: tuple[CorpusLine, ...]
    sentences: tuple[Sentence, ...]
    like: Trace

    @property
    def has_references(self) -> bool:
        """Whether each line came with a target."""
        return all(line.target for line in self.lines)

    @property
    def target_rows(self) -> tuple[tuple[int, ...], ...]:
        """For each sentence, the rows that output a token of its target."""
        return tuple(_rows(sentence) for sentence in self.sentences)

    @property
    def target_tokens(self) -> Tensor:
        """Number of target tokens in each sentence `(sentences,)`, float64."""
        return torch.tensor([len(rows) for rows in self.target_rows], dtype=torch.double)

    def one_sentence(self, item: int) -> Trace:
        """Return an empty trace of one sentence, from which the model can run the sentence."""
        return replace(self.like, sentences=(self.sentences[item],))

    def batches(self, model: Model) -> Iterator[CorpusBatch]:
        """Yield all sentences in batches of similar length, with at most `BATCH_TOKENS` tokens (or one sentence) each.

        `model` provides the padding token.
        """
        return (self._batch(model, items) for items in self._group())

    def batch_count(self) -> int:
        """Return the number of batches."""
        return sum(1 for _ in self._group())

    def _group(self) -> Iterator[list[int]]:
        order = sorted(range(len(self.sentences)), key=lambda item: _lengths(self.sentences[item]))
        batch: list[int] = []
        for item in order:
            longest = [max(sizes) for sizes in zip(*(_lengths(self.sentences[each]) for each in (*batch, item)),
                                                   strict=True)]  # fmt: skip
            if batch and sum(longest) * (len(batch) + 1) > BATCH_TOKENS:
                yield batch
                batch = []
            batch.append(item)
        if batch:
            yield batch

    def _batch(self, model: Model, items: Sequence[int]) -> CorpusBatch:
        chosen = [self.sentences[item] for item in items]
        src, tgt = (max(sizes) for sizes in zip(*(map(_lengths, chosen)), strict=True))
        even = tuple(pad_sentence(model, sentence, src, tgt) for sentence in chosen)
        return CorpusBatch(tuple(items), replace(self.like, sentences=even))


def read_corpus(
    model: Model, lines: Sequence[CorpusLine], *, to: str = "", whole: bool = True, stop: Cancellable = TO_THE_END
) -> ReadCorpus:
    """Tokenize each line as `model.trace` does.

    If a line has no target, the model writes one if it can. With `whole`, every line must be readable; otherwise
    unreadable lines are dropped, as long as one line remains. Raise TextError, which names the line, if the model can
    read a line only partly or not at all, or takes no target; ValueError for a language that the model does not write.
    """
    read: list[tuple[CorpusLine, Sentence]] = []
    like: Trace | None = None
    refused: TextError | None = None
    for line in stop.iterate(lines, len(lines)):
        try:
            trace = trace_line(model, line, to)
        except TextError as why:
            if whole:
                raise
            refused = refused or why
            continue
        like = like or replace(trace, calls={}, contexts={}, layers={}, memory=None, logits=None)
        read.append((line, trace.sentences[0]))
    if like is None:
        raise refused or TextError("Stopped before the first line was read: nothing was measured.")
    return ReadCorpus(tuple(line for line, _ in read), tuple(sentence for _, sentence in read), like)


def log_probabilities(corpus: ReadCorpus, batch: CorpusBatch, logits: Tensor) -> Tensor:
    """Return the summed log-probability of each target in a batch `(items,)`, in nats, with gradients if the
    logits have them.

    `logits` are `(items, rows, vocab_size)`.
    """
    found = []
    for place, item in enumerate(batch.items):
        sentence, rows = corpus.sentences[item], list(corpus.target_rows[item])
        ids = torch.tensor([sentence.tgt_out[row].id for row in rows], device=logits.device)
        likely = logits[place, rows].to(torch.promote_types(logits.dtype, torch.float32)).log_softmax(dim=-1)
        found.append(likely.gather(1, ids.unsqueeze(1)).double().sum())
    return torch.stack(found)


def require_targets(corpus: ReadCorpus) -> None:
    """Raise ValueError if a sentence has no target."""
    for line, rows in zip(corpus.lines, corpus.target_rows, strict=True):
        if not rows:
            raise line.refusal("has no target to score: this model writes no text for it.")


def trace_line(model: Model, line: CorpusLine, to: str) -> Trace:
    """Run the model on one line of a list of sentences.

    Raise TextError, which names the line, if the model cannot read the whole line.
    """
    asked = model.inputs
    if line.target and not asked.takes_target:
        raise line.refusal(
            f"has a target after a tab, but {model.name} accepts no target. Please remove the tab and the target."
        )
    how = {"to": to} if asked.has_language else {}
    how |= {"tgt_text": line.target} if line.target else {}
    how |= {"new_tokens": 0} if asked.is_prompt else {}
    try:
        with cuts_are_shown():  # a truncated line is refused below
            trace = model.trace(line.text, **how)
    except TextError as error:
        if to and to not in model.languages and asked.has_language:
            raise
        raise line.refusal(f"cannot be read: {error}") from error
    if cut := [note for note in trace.info.notes if "only the first" in note.lower()]:
        raise line.refusal(
            f"is too long: {cut[0][0].lower()}{cut[0][1:].rstrip('.')}. Please split it into several lines."
        )
    return trace


def _lengths(sentence: Sentence) -> tuple[int, int]:
    return len(sentence.src), len(sentence.tgt_in)


def _rows(sentence: Sentence) -> tuple[int, ...]:
    return tuple(row for row, token in enumerate(sentence.tgt_out) if token.id >= 0)
