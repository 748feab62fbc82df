"""Run a model again on the tokens of a trace with a probe, or let it write again."""

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from threading import Lock

import torch
from torch import Tensor

from attnviz.analysis.cancellable import TO_THE_END, Cancellable
from attnviz.models.protocol import Model, TextGenerator
from attnviz.text.limits import MAX_TOKENS
from attnviz.text.tokens import Token
from attnviz.tracing.record import Sentence
from attnviz.tracing.trace import Trace
from attnviz.transformer.decoding import likeliest_ids
from attnviz.transformer.device import OutOfDeviceMemoryError, is_out_of_memory
from attnviz.transformer.probe import Probe

MOST_UNCACHED = 128  # maximum tokens without a cache, where each token runs the whole prefix
_SLOW = "with this mask earlier positions may see later ones, so each new token needs a pass over all tokens before it"


@dataclass(frozen=True)
class Written:
    """A text that a model wrote for one sentence; `note` says why it stopped early, if it did."""

    text: str
    tokens: tuple[Token, ...]
    note: str = ""


@dataclass
class _IdsSoFar:
    """The ids of each row so far, and a note for each row, which says that the text was cut unless an end token came.

    A row gets at most `most` ids.
    """

    ids: list[list[int]]
    notes: list[str]
    most: int = 0


class Writing:
    """A text that is written token by token; several visitors may wait for the same one.

    Until it is finished, it holds the trace for which it is written, of `trace_bytes` bytes.
    """

    def __init__(
        self, model: Model, begin: Callable[[], Generator[_IdsSoFar, None, None]], *, trace_bytes: int
    ) -> None:
        self._model, self._begin, self._steps, self._lock = model, begin, begin(), Lock()
        self._trace_bytes = trace_bytes
        self._rows, self.done, self.error = _IdsSoFar([], []), False, ""

    def go_on(self, seconds: float) -> "Writing":
        """Write for `seconds` seconds, but at least one token, or to the end.

        An error of torch ends the writing and is kept in `error`; an out-of-memory error is raised, and the next call
        starts again.
        """
        until = time.perf_counter() + seconds
        with self._lock:
            while not self.done:
                self._one_more()
                if time.perf_counter() >= until:
                    break
        return self

    def _one_more(self) -> None:
        try:
            self._rows = next(self._steps)
        except StopIteration:
            self._finish()
        except (RuntimeError, OutOfDeviceMemoryError) as refusal:
            if is_out_of_memory(refusal):
                self._steps = self._begin()
                raise
            self.error = str(refusal).strip().splitlines()[0]
            self._finish()

    def _finish(self) -> None:
        """Mark the text as finished, and release the trace."""
        self.done = True
        del self._begin

    def nbytes(self) -> int:
        """Bytes of the trace that is kept until the text is finished."""
        return 0 if self.done else self._trace_bytes

    @property
    def count(self) -> int:
        """Number of tokens in the longest row so far."""
        return max(map(len, self._rows.ids), default=0)

    def so_far(self, item: int = 0) -> Written:
        """Return the text of one sentence so far, without a note while it is being written."""
        with self._lock:
            ids = tuple(self._rows.ids[item]) if self._rows.ids else ()
            note = self._rows.notes[item] if self.done and self._rows.notes else ""
        return Written(*self._model.decode_ids(ids), note)


def batch_of_two(model: Model, trace: Trace, second: Trace) -> Trace:
    """Run both traces' first sentences as one batch, with the shorter one padded.

    Padding tokens have rows and columns too. Padding is masked as the model does it. The translator masks it as keys in
    the encoder and in cross-attention; its decoder self-attention needs no padding mask, because padding is at the end,
    where the causal mask hides it from every real token.
    """
    pair = (trace.sentences[0], second.sentences[0])
    src = max(len(sentence.src) for sentence in pair)
    tgt = max(len(sentence.tgt_in) for sentence in pair)
    return model.rerun(replace(trace, sentences=tuple(pad_sentence(model, sentence, src, tgt) for sentence in pair)))


def write_again(
    model: Model, trace: Trace, probe: Probe | None, *, cached: bool = True, work: Cancellable = TO_THE_END
) -> list[Written]:
    """Write greedily for each sentence of `trace` with the probe attached.

    Without a cache the whole prefix runs again at each step, which is needed if earlier positions may see later ones.
    `work` receives the progress, but cannot stop the writing. Raise RuntimeError if torch refuses what the probe does,
    ValueError for a model that writes no text.
    """
    rows = _IdsSoFar([], [])
    for done, rows in enumerate(_steps(model, trace, probe, cached=cached), 1):
        work.tell(done, rows.most)
    return [Written(*model.decode_ids(ids), note) for ids, note in zip(rows.ids, rows.notes, strict=True)]


def start_writing(model: Model, trace: Trace, probe: Probe | None, *, cached: bool = True) -> Writing:
    """Prepare to write a text piece by piece. Nothing is computed before the first `go_on`."""
    return Writing(model, lambda: _steps(model, trace, probe, cached=cached), trace_bytes=trace.nbytes())


def next_tokens(model: Model, logits: Tensor, count: int = 5) -> list[tuple[Token, float]]:
    """Return the most probable next tokens with their probabilities, from `logits` `(vocab_size,)`; [] if they
    have NaN.
    """
    if bool(logits.isnan().any()):
        return []
    top = model.vocabulary.forbid(logits[None])[0].float().softmax(dim=-1).topk(count)
    return [
        (model.decode_ids([id_])[1][0], value)
        for id_, value in zip(top.indices.tolist(), top.values.tolist(), strict=True)
    ]


@torch.inference_mode()
def _steps(model: Model, trace: Trace, probe: Probe | None, *, cached: bool) -> Generator[_IdsSoFar, None, None]:
    """Write greedily for every sentence of `trace`, and yield the ids of all sentences so far after each token."""
    src = max(len(sentence.src) for sentence in trace.sentences)
    limit = min(2 * src + 20, max(2 * max(len(sentence.tgt) for sentence in trace.sentences), 24), MAX_TOKENS)
    cut = "cut after {} tokens without an end token"
    if not cached and limit > MOST_UNCACHED:
        limit, cut = MOST_UNCACHED, f"{cut}: {_SLOW}"
    writer = model.generator(trace, probe, cached=cached, limit=limit)
    limit = int(min(limit, writer.max_new_tokens))
    fed, at = writer.prompt_ids, 0
    rows = _IdsSoFar([[] for _ in fed], [cut.format(limit)] * len(fed), limit)
    going = set(range(len(fed)))
    while going and at < limit + writer.prompt_ids.shape[1] - 1:
        logits = writer.stepper.step(fed, probe=None if probe is None else probe.start_at(at if cached else 0))
        at += fed.shape[1]
        fed = likeliest_ids(writer.vocabulary.forbid(logits)).unsqueeze(1)
        chosen, is_nan = fed[:, 0].tolist(), logits.isnan().any(dim=-1).tolist()
        for row in sorted(going):
            if _stops(rows, row, None if is_nan[row] else chosen[row], writer):
                going.discard(row)
        yield rows


def _stops(rows: _IdsSoFar, row: int, chosen: int | None, writer: TextGenerator) -> bool:
    """Append a row's next id, if it has one; return whether the row ends here."""
    if chosen is None:
        rows.notes[row] = "every score is NaN: there is no next token"
        return True
    rows.ids[row].append(chosen)
    if chosen in writer.vocabulary.ends:
        rows.notes[row] = ""
        return True
    return False


def pad_sentence(model: Model, sentence: Sentence, src: int, tgt: int) -> Sentence:
    """Pad a sentence to `src` source tokens and `tgt` decoder input tokens."""
    after_src, after_tgt = model.padding(len(sentence.src_text)), model.padding(len(sentence.tgt_text))
    longer = tgt - len(sentence.tgt_in)
    padded = (*sentence.tgt, *(after_tgt,) * longer)
    # A truncated sentence has no end token to pad after, so its last row outputs a padding token.
    padded = (*padded, after_tgt) if sentence.cut and longer else padded
    return replace(
        sentence,
        src=(*sentence.src, *(after_src,) * (src - len(sentence.src))),
        tgt=padded,
        cut=sentence.cut and not longer,
    )
