"""The built-in translator: sentences in, traces and translations out. One instance serves every visitor."""

import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from attnviz.text.codec import Encoded, TextCodec
from attnviz.text.limits import MAX_TOKENS, require_text
from attnviz.text.tokens import Token
from attnviz.tracing.recorder import Recorder
from attnviz.tracing.trace import RunInfo, Sentence, Trace
from attnviz.transformer import checkpoint
from attnviz.transformer.decoding import Choose, Stepper, Vocabulary, decode, likeliest
from attnviz.transformer.layers import Run
from attnviz.transformer.probe import Kind
from attnviz.transformer.transformer import Transformer


@dataclass(frozen=True)
class Step:
    """One step of decoding: what was fed, the row of attention that it computed, and what was chosen.

    `prefix` is every token fed so far, `trace` a small trace whose queries are the rows computed in this step (the
    newest one with a cache, the whole prefix without), `token` the choice, `logits` `(vocab_size,)` it came from.
    """

    index: int
    prefix: tuple[Token, ...]
    token: Token
    logits: Tensor
    trace: Trace

    def attn(self, kind: Kind, *, layer: int | None = None, head: int | None = None) -> Tensor:
        """As `Trace.attn`; `[..., -1, :]` is the row that belongs to this step."""
        return self.trace.attn(kind, layer=layer, head=head)


class Translator:
    """A Transformer and its text codec. Every method is safe to call from many threads at once."""

    inputs = ("src", "to", "tgt")
    kinds: tuple[Kind, ...] = ("encoder_self", "decoder_self", "cross")

    def __init__(self, model: Transformer, codec: TextCodec, *, model_id: str, name: str = "translator") -> None:
        self.model, self.codec, self.model_id, self.name = model, codec, model_id, name

    @classmethod
    def load(cls, folder: Path, *, device: torch.device, dtype: torch.dtype) -> "Translator":
        """Read a checkpoint folder. Raises CheckpointError or TextError with one sentence."""
        model = checkpoint.load(folder, device=device, dtype=dtype)
        codec = TextCodec.load(folder / "tokenizer.json")
        if codec.vocab_size != model.config.vocab_size:
            raise checkpoint.CheckpointError(
                f"tokenizer.json in {folder.name!r} has {codec.vocab_size} entries; the model expects "
                f"{model.config.vocab_size}."
            )
        return cls(model, codec, model_id=weights_id(folder), name=folder.name)

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages that it writes."""
        return self.codec.languages

    @property
    def n_parameters(self) -> int:
        """Numbers that were learned."""
        return sum(parameter.numel() for parameter in self.model.parameters())

    @property
    def device(self) -> torch.device:
        """Where it runs."""
        return self.model.embedding.weight.device

    @property
    def dtype(self) -> torch.dtype:
        """In what it computes."""
        return self.model.embedding.weight.dtype

    @torch.inference_mode()
    def trace(self, text: str, *, to: str, tgt_text: str | None = None, max_tokens: int = MAX_TOKENS) -> Trace:
        """Run the model on a sentence and record every site.

        The target is `tgt_text` (teacher forcing), or else what the model itself writes, greedily. Raises TextError
        for an empty sentence or a language that the model does not write.
        """
        require_text(text)
        self.codec.bos_id(to)
        src, recorder = self.codec.encode_source(text), Recorder()
        started = time.perf_counter()
        memory = self.model.encode(self._ids(src), None, Run(recorder))
        encoded = time.perf_counter()
        sentence, notes = self._target(text, src, memory, to, tgt_text, max_tokens)
        decoded = time.perf_counter()
        tgt_in = torch.tensor([[token.id for token in sentence.tgt_in]], device=self.device)
        logits = self.model.logits(self.model.decode(tgt_in, memory, None, Run(recorder)))
        self._finish()
        info = RunInfo(
            model_id=self.model_id,
            to=to,
            device=self.device.type,
            dtype=str(self.dtype).removeprefix("torch."),
            forward_seconds=encoded - started + time.perf_counter() - decoded,
            decoding_seconds=decoded - encoded,
            notes=(*src.notes, *notes),
        )
        return Trace.of(recorder, [sentence], memory=memory, logits=logits, info=info)

    def translate(self, text: str | Sequence[str], *, to: str, batch: int = 32) -> str | list[str]:
        """Greedy translations: a string for a string, a list in the same order for several. Blank stays blank."""
        if isinstance(text, str):
            return self._translate([text], to, batch)[0]
        return self._translate(text, to, batch)

    @torch.inference_mode()
    def stepwise(
        self,
        text: str,
        *,
        to: str,
        cached: bool = True,
        tgt_text: str | None = None,
        choose: Choose = likeliest,
        max_tokens: int = MAX_TOKENS,
    ) -> Iterator[Step]:
        """Decode one token at a time, each step recorded. With `tgt_text` the teacher's prefix is fed instead of the
        model's own choices (`Step.token` is still what the model would choose)."""
        require_text(text)
        src = self.codec.encode_source(text)
        teacher = None if tgt_text is None else self.codec.encode_target(tgt_text, to).ids
        steps = max_tokens if teacher is None else len(teacher) - 1
        memory = self.model.encode(self._ids(src), None)
        stepper = Stepper(self.model, memory, None, capacity=steps, cached=cached)
        fed = [self.codec.bos_id(to)]
        for index in range(steps):
            step = self._step(stepper, fed, choose, Sentence(src.tokens, src_text=text), to)
            yield step
            if teacher is None and step.token.id == self.codec.eos_id:
                return
            fed.append(step.token.id if teacher is None else teacher[index + 1])

    def _step(self, stepper: Stepper, fed: list[int], choose: Choose, sentence: Sentence, to: str) -> Step:
        recorder = Recorder()
        logits = stepper.step(torch.tensor(fed[-1:], device=self.device), probe=recorder)
        chosen = int(choose(self._vocabulary.forbid(logits)))
        tokens = self.codec.tokens((*fed, chosen))
        sentence = Sentence(sentence.src, tokens, sentence.src_text, self.codec.text((*fed, chosen)))
        info = RunInfo(self.model_id, to, self.device.type, str(self.dtype).removeprefix("torch."))
        trace = Trace.of(recorder, [sentence], memory=stepper.memory, logits=logits.unsqueeze(1), info=info)
        return Step(len(fed) - 1, tokens[:-1], tokens[-1], logits[0], trace)

    def _target(
        self, text: str, src: Encoded, memory: Tensor, to: str, tgt_text: str | None, max_tokens: int
    ) -> tuple[Sentence, tuple[str, ...]]:
        if tgt_text is not None and tgt_text.strip():
            given = self.codec.encode_target(tgt_text, to)
            return Sentence(src.tokens, given.tokens, text, tgt_text), given.notes
        limit = min(max_tokens, _decoding_limit(len(src.ids)))
        ids = (self.codec.bos_id(to), *self._write(memory, None, to, [limit])[0])
        cut = ids[-1] != self.codec.eos_id
        notes = (f"The translation was cut after {limit} tokens without reaching an end.",) if cut else ()
        return Sentence(src.tokens, self.codec.tokens(ids), text, self.codec.text(ids), cut), notes

    @torch.inference_mode()
    def _translate(self, sentences: Sequence[str], to: str, batch: int) -> list[str]:
        self.codec.bos_id(to)
        out = [""] * len(sentences)
        encoded = {index: self.codec.encode_source(text).ids for index, text in enumerate(sentences) if text.strip()}
        order = sorted(encoded, key=lambda index: len(encoded[index]))
        for start in range(0, len(order), batch):
            rows = order[start : start + batch]
            src = self._padded([encoded[row] for row in rows])
            src_mask = self.model.src_mask(src)
            memory = self.model.encode(src, src_mask)
            limits = [_decoding_limit(len(encoded[row])) for row in rows]
            for row, ids in zip(rows, self._write(memory, src_mask, to, limits), strict=True):
                out[row] = self.codec.text(ids)
        return out

    def _write(self, memory: Tensor, src_mask: Tensor | None, to: str, limits: list[int]) -> list[list[int]]:
        stepper = Stepper(self.model, memory, src_mask, capacity=max(limits))
        first = torch.full((len(memory),), self.codec.bos_id(to), device=self.device)
        return decode(stepper, first, self._vocabulary, max_tokens=limits)

    @property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(self.codec.eos_id, self.codec.never_generated)

    def _ids(self, encoded: Encoded) -> Tensor:
        return torch.tensor([encoded.ids], device=self.device)

    def _padded(self, rows: list[tuple[int, ...]]) -> Tensor:
        tensors = [torch.tensor(row) for row in rows]
        padded = torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True, padding_value=self.codec.pad_id)
        return padded.to(self.device)

    def _finish(self) -> None:
        """Wait for the device, so that a measured time is the time it took."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)


def weights_id(folder: Path) -> str:
    """Twelve hexadecimal digits that change whenever the weights do."""
    return hashlib.sha256((folder / checkpoint.WEIGHTS).read_bytes()).hexdigest()[:12]


def _decoding_limit(src_length: int) -> int:
    """Tokens that a translation may have: room for any language, but an end to a model that repeats itself."""
    return min(MAX_TOKENS, 2 * src_length + 20)
