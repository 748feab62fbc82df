"""attnviz's own Transformer with its vocabulary as a `Model`: the common base of the translator and of toys."""

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, cast

import torch
from torch import Tensor

from attnviz.guards.arguments import reads_arguments
from attnviz.models.chat import WithoutChat
from attnviz.models.protocol import Model, TextGenerator, two_line_summary
from attnviz.text.limits import require_ids, warn_of_cuts
from attnviz.text.tokens import Token
from attnviz.tracing.causes.edits import Edits, apply_edits, write
from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.causes.resolution import CheckedInterventions
from attnviz.tracing.interventions import Chain
from attnviz.tracing.record import RunInfo, Sentence
from attnviz.tracing.recorder import Recorder
from attnviz.tracing.trace import Trace
from attnviz.transformer.decoding import Stepper, Vocabulary
from attnviz.transformer.device import explain_shortage, wait_for
from attnviz.transformer.layers import ForwardContext
from attnviz.transformer.probe import Kind, Probe, gradients_if_needed
from attnviz.transformer.transformer import Memory, Transformer

if TYPE_CHECKING:
    from attnviz.toys.network import DecoderAlone


class Codec(Protocol):
    """A vocabulary that turns ids into texts and tokens."""

    pad_id: int
    eos_id: int

    @property
    def vocab_size(self) -> int:
        """Number of vocabulary entries, including special ones."""
        ...

    def text(self, ids: tuple[int, ...], /) -> str:
        """Return the text for ids, without special tokens."""
        ...

    def tokens(self, ids: tuple[int, ...], /) -> tuple[Token, ...]:
        """Return the tokens for ids, with offsets into `text(ids)`."""
        ...

    def padding(self, at: int, /) -> Token:
        """Return a `<pad>` token whose position in the text is after `at` characters."""
        ...


@dataclass(frozen=True)
class ReadSource:
    """A text encoded for a model.

    `src` are the source tokens with the end token (empty for a decoder-only model), `begun` the tokens that every
    target begins with, and `notes` say what was cut.
    """

    text: str
    src: tuple[Token, ...]
    begun: tuple[Token, ...]
    notes: tuple[str, ...] = ()

    @property
    def initial_sentence(self) -> Sentence:
        """The sentence before anything is written: the source, or the prompt of a decoder-only model."""
        if self.src:
            return Sentence(self.src, src_text=self.text)
        return Sentence(tgt=self.begun, tgt_text=self.text, cut=True)


class TargetPass:
    """The decoder's teacher-forced pass over whole targets of one source; the probe of `run` sees each pass.

    `seconds` is the duration of the last pass.
    """

    def __init__(self, model: "Transformer | DecoderAlone", memory: Memory, run: ForwardContext) -> None:
        self.memory, self.seconds = memory, 0.0
        self._model, self._run = model, run
        self._ids: list[int] = []
        self._logits = torch.empty(0)

    def logits(self, ids: Sequence[int]) -> Tensor:
        """Return the logits `(1, length, vocab_size)` of the token after each of `ids`; the latest result is cached."""
        if self._ids != (ids := list(ids)):
            started = time.perf_counter()
            tgt_in = torch.tensor([ids], device=self.memory.device)
            self._logits = self._model.logits(self._model.decode(tgt_in, self.memory, None, self._run))
            wait_for(self.memory.device)
            self._ids, self.seconds = ids, time.perf_counter() - started
        return self._logits


Network = TypeVar("Network", bound="Transformer | DecoderAlone")
Words = TypeVar("Words", bound=Codec)


@reads_arguments
class TransformerModel(WithoutChat, ABC, Generic[Network, Words]):
    """A network and its codec. All methods are thread-safe."""

    writes = True

    def __init__(self, model: Network, codec: Words, *, model_id: str, name: str) -> None:
        self.model, self.codec, self.name, self._id = model, codec, name, model_id

    @abstractmethod
    def read(self, text: str, to: str = "") -> ReadSource:
        """Encode a text to be written in language `to`. Raises TextError for a text or language that cannot be read."""

    def __repr__(self) -> str:
        """Describe the model in two lines for a notebook: its sizes and its methods."""
        return two_line_summary(cast(Model, self))

    @property
    def model_id(self) -> str:
        """The id of the model's weights."""
        return self._id

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of attention that the model computes, encoder first."""
        is_alone = not isinstance(self.model, Transformer)
        return ("decoder_self",) if is_alone else ("encoder_self", "decoder_self", "cross")

    @property
    def shapes(self) -> dict[Kind, tuple[int, int]]:
        """Numbers of layers and heads for each kind of attention."""
        return dict.fromkeys(self.kinds, (self.model.config.n_layers, self.model.config.n_heads))

    @property
    def n_parameters(self) -> int:
        """Number of parameters."""
        return self._n_parameters

    @cached_property
    def _n_parameters(self) -> int:
        """Count the parameters once; the status bar shows the number in every run."""
        return sum(parameter.numel() for parameter in self.model.parameters())

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return self.model.embedding.weight.device

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of the weights."""
        return self.model.embedding.weight.dtype

    @property
    @abstractmethod
    def vocabulary(self) -> Vocabulary:
        """The ids that end a text, and the ids that are never generated."""

    @gradients_if_needed
    def rerun(self, trace: Trace, probe: Probe | None = None) -> Trace:
        """Run and record one teacher-forced pass over the sentences of `trace`, with the probe and then its
        interventions.

        Raises RuntimeError if torch refuses what the probe asks for.
        """
        recorder = Recorder()
        looking = self.check_interventions(trace.interventions).resolve(trace.sentences).chain_with(recorder)
        run = ForwardContext(looking if probe is None else Chain((probe, looking)))
        src = self.batch([sentence.src for sentence in trace.sentences])
        src_mask = self.model.src_mask(src)
        memory = self.model.encode(src, src_mask, run)
        tgt_in = self.batch([sentence.tgt_in for sentence in trace.sentences])
        logits = self.model.logits(self.model.decode(tgt_in, memory, src_mask, run))
        sentences = [sentence.as_one_pass() for sentence in trace.sentences]
        return Trace.from_recorder(
            recorder, sentences, memory=self.memory_of(sentences[0], memory), logits=logits, info=trace.info,
            interventions=trace.interventions,
        )  # fmt: skip

    @torch.no_grad()
    def generator(
        self, trace: Trace, probe: Probe | None = None, *, cached: bool = True, limit: int = 64
    ) -> TextGenerator:
        """Return a generator of up to `limit` tokens for each sentence of `trace`.

        Sources are encoded with the probe and the trace's interventions applied.
        """
        edits = self.check_interventions(trace.interventions).resolve(trace.sentences).edits
        probes = [each for each in (probe, edits) if each is not None]
        src, begun = self.batch([sentence.src for sentence in trace.sentences]), self._prompt_ids(trace)
        src_mask = self.model.src_mask(src)
        memory = self._memory(src, src_mask, Chain(probes) if len(probes) > 1 else next(iter(probes), None))
        stepper = Stepper(self.model, memory, src_mask, capacity=limit + begun.shape[1], cached=cached)
        return TextGenerator(apply_edits(stepper, edits), begun, self.vocabulary)

    @torch.inference_mode()
    def logits_under(self, trace: Trace, edits: Edits, *, rows: Sequence[int] | None = None) -> Tensor:
        """Run copies of the first sentence of `trace` as one batch, each with its own interventions; return the logits.

        The shape is `(copies, rows, vocab_size)`. `edits.rows` has the interventions of each copy. Nothing is recorded.
        `rows` selects rows of the target, by default all.
        """
        sentence = trace.sentences[0]
        longest = max(rows) + 1 if rows is not None and self.model.is_causal else None  # no row sees a later one
        src = self.batch([sentence.src] * len(edits.rows))
        src_mask = self.model.src_mask(src)
        tgt_in = self.batch([sentence.tgt_in[:longest]] * len(edits.rows))
        memory = self._memory(src, src_mask, edits)
        hidden = self.model.decode(tgt_in, memory, src_mask, ForwardContext(edits))
        return self.model.logits(hidden if rows is None else hidden[:, list(rows)])

    def decode_ids(self, ids: Sequence[int]) -> tuple[str, tuple[Token, ...]]:
        """Return the text for ids, and their tokens."""
        require_ids(ids, self.codec.vocab_size)
        return self.codec.text(tuple(ids)), self.codec.tokens(tuple(ids))

    def padding(self, at: int = 0) -> Token:
        """Return a `<pad>` token whose position in the text is after `at` characters."""
        return self.codec.padding(at)

    def is_pad(self, token: Token) -> bool:
        """Check whether a token is padding after a sentence that is shorter than others in the batch."""
        return token.id == self.codec.pad_id

    def sentence(self, source: ReadSource, ids: tuple[int, ...]) -> Sentence:
        """Return the sentence of a run from a source and all ids of its target."""
        return Sentence(source.src, self.codec.tokens(ids), source.text, self.codec.text(ids))

    def batch(self, rows: Sequence[Sequence[Token]]) -> Tensor:
        """Return the ids of rows of tokens with equal length as a tensor `(batch, length)`."""
        return torch.tensor([[token.id for token in row] for row in rows], dtype=torch.long, device=self.device)

    def check_interventions(self, interventions: Sequence[Intervention]) -> CheckedInterventions:
        """Check interventions against the model. Raises ValueError for one that does not fit."""
        return CheckedInterventions.check(interventions, self.shapes, self.model_id)

    def info(self, to: str, notes: tuple[str, ...], *, forward: float, decoding: float = 0.0) -> RunInfo:
        """Return the info of a run; `forward` and `decoding` are its seconds."""
        dtype = str(self.dtype).removeprefix("torch.")
        return RunInfo(self.model_id, to, self.device.type, dtype, forward, decoding, notes)

    @staticmethod
    def memory_of(sentence: Sentence, memory: Tensor) -> Tensor | None:
        """Return the memory to store in a trace; None for a decoder-only model."""
        return memory if sentence.src else None

    @torch.inference_mode()
    def record(
        self, source: ReadSource, given: Sentence | None, *, limit: int, changes: CheckedInterventions, to: str = "",
    ) -> Trace:  # fmt: skip
        """Run the model on a source and record every site.

        The target is `given`, or up to `limit` tokens that the model writes greedily. The interventions apply to both.
        """
        warn_of_cuts(source.notes)
        recorder, resolved = Recorder(), changes.resolve([given or source.initial_sentence])
        started = time.perf_counter()
        with explain_shortage(self.device, "A run of the model"):
            memory = self.model.encode(self.batch([source.src]), None, ForwardContext(resolved.chain_with(recorder)))
            wait_for(self.device)
            encoded = time.perf_counter()
            target = TargetPass(self.model, memory, ForwardContext(resolved.chain_with(recorder)))
            sentence, notes = given, ()
            if sentence is None:
                ids = self.write_target_ids(source, target, limit, resolved.edits)
                sentence, notes = self._label_written(source, ids)
            logits = target.logits([token.id for token in sentence.tgt_in])
            decoding = 0.0 if given else time.perf_counter() - encoded - target.seconds
        info = self.info(
            to, (*source.notes, *notes, *resolved.notes), forward=encoded - started + target.seconds, decoding=decoding
        )
        return Trace.from_recorder(
            recorder, [sentence], memory=self.memory_of(sentence, memory), logits=logits, info=info,
            interventions=changes.interventions,
        )  # fmt: skip

    def write_target_ids(self, source: ReadSource, target: TargetPass, limit: int, edits: Edits | None) -> list[int]:
        """Generate up to `limit` ids after the beginning of a source's target, including `<eos>` if it is reached."""
        return self.write_ids(target.memory, None, self.batch([source.begun]), limits=[limit], edits=edits)[0]

    def write_ids(
        self, memory: Tensor, src_mask: Tensor | None, begun: Tensor, *, limits: list[int], edits: Edits | None = None
    ) -> list[list[int]]:
        """Generate ids greedily for each row of `memory` after `begun` `(batch, length)`, up to the row's limit.

        The ids include `<eos>` if it is reached.
        """
        stepper = Stepper(self.model, memory, src_mask, capacity=max(limits) + begun.shape[1])
        return write(stepper, begun, self.vocabulary, limits=limits, edits=edits)

    @abstractmethod
    def cut_note(self, count: int) -> str:
        """Return the note on a text that did not end within this number of tokens."""

    @abstractmethod
    def _prompt_ids(self, trace: Trace) -> Tensor:
        """Return the ids that each target of a trace begins with, `(batch, length)`."""

    def _label_written(self, source: ReadSource, ids: Sequence[int]) -> tuple[Sentence, tuple[str, ...]]:
        """Return the sentence for a source and the ids written for it, with a note if it was cut."""
        sentence = self.sentence(source, (*(token.id for token in source.begun), *ids))
        if not source.src:  # a prompt has no end token; if nothing was written, the last row has no output
            return replace(sentence, cut=not ids), ()
        cut = ids[-1] != self.codec.eos_id
        return replace(sentence, cut=cut), (self.cut_note(len(ids)),) if cut else ()

    def _memory(self, src: Tensor, src_mask: Tensor | None, probe: Probe | None) -> Tensor:
        """Encode sources to `(batch, k_len, d_model)`; copies of one source that no edit changes are encoded once."""

        def encode(ids: Tensor, under: Probe | None) -> Tensor:
            return self.model.encode(ids, src_mask, ForwardContext(under))

        are_copies = src_mask is None and bool((src == src[:1]).all())
        if isinstance(probe, Edits) and are_copies and len(probe.rows) == len(src):
            return probe.encode_copies(encode, src)
        return encode(src, probe)
