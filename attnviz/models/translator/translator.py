"""The built-in translator: sentences in, traces and translations out. One instance serves every visitor."""

import copy
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import overload

import torch
from torch import Tensor

from attnviz.models.inputs import Inputs
from attnviz.models.notebook import in_two_lines
from attnviz.models.protocol import Step, TextGenerator
from attnviz.models.translator.faults import NO_FAULTS, Faults
from attnviz.models.translator.generate import GenerationRequest, OnNote, decoding_limit, read_and_target, translations
from attnviz.models.translator.stepwise import Plan, steps
from attnviz.models.translator.target_pass import TargetPass
from attnviz.text.arguments import reads_arguments
from attnviz.text.limits import MAX_TOKENS, prefix_notes, require_ids, require_room, require_text
from attnviz.text.tokenizer import Encoded, TranslatorTokenizer
from attnviz.text.tokens import Token
from attnviz.tracing.causes.edits import Edits
from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.causes.resolution import CheckedInterventions
from attnviz.tracing.causes.stepping import apply_edits
from attnviz.tracing.interventions import Chain
from attnviz.tracing.record import RunInfo, Sentence
from attnviz.tracing.recorder import Recorder
from attnviz.tracing.trace import Trace
from attnviz.transformer import checkpoint
from attnviz.transformer.beam import Beam
from attnviz.transformer.checkpoint import weights_id
from attnviz.transformer.decoding import Choose, Stepper, Vocabulary, likeliest
from attnviz.transformer.device import wait_for
from attnviz.transformer.draft import DraftModel
from attnviz.transformer.layers import ForwardContext
from attnviz.transformer.probe import Kind, Probe, gradients_if_needed
from attnviz.transformer.transformer import Transformer

__all__ = ["Translator", "weights_id"]


@reads_arguments
class Translator:
    """A Transformer and its text codec. Every method is safe to call from many threads at once."""

    inputs = Inputs.TRANSLATION
    writes = True
    kinds: tuple[Kind, ...] = ("encoder_self", "decoder_self", "cross")
    folder: Path | None = None
    draft: DraftModel | None = None

    def __init__(
        self, model: Transformer, codec: TranslatorTokenizer, *, model_id: str, name: str = "translator"
    ) -> None:
        self.model, self.codec, self.model_id, self.name = model, codec, model_id, name
        self._n_parameters = sum(parameter.numel() for parameter in model.parameters())

    @classmethod
    def load(cls, folder: Path, *, device: torch.device, dtype: torch.dtype) -> "Translator":
        """Read a checkpoint folder. Raises CheckpointError or TextError with one sentence."""
        model = checkpoint.load(folder, device=device, dtype=dtype)
        codec = TranslatorTokenizer.load(folder / "tokenizer.json")
        if codec.vocab_size != model.config.vocab_size:
            raise checkpoint.CheckpointError(
                f"tokenizer.json in {folder.name!r} has {codec.vocab_size} entries; the model expects "
                f"{model.config.vocab_size}."
            )
        made = cls(model, codec, model_id=weights_id(folder), name=folder.name)
        made.folder, made.draft = folder, DraftModel.make_if_faster(model)
        return made

    def __repr__(self) -> str:
        """In two lines, for a notebook: what it is, and what may be asked of it."""
        return in_two_lines(self)

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages that it writes."""
        return self.codec.languages

    @property
    def shapes(self) -> dict[Kind, tuple[int, int]]:
        """Layers and heads of each kind."""
        return dict.fromkeys(self.kinds, (self.model.config.n_layers, self.model.config.n_heads))

    @property
    def n_parameters(self) -> int:
        """Numbers that were learned."""
        return self._n_parameters

    @property
    def device(self) -> torch.device:
        """Where it runs."""
        return self.model.embedding.weight.device

    @property
    def dtype(self) -> torch.dtype:
        """In what it computes."""
        return self.model.embedding.weight.dtype

    @torch.inference_mode()
    def trace(
        self, text: str, *, to: str, tgt_text: str | None = None, max_tokens: int = MAX_TOKENS,
        interventions: Sequence[Intervention] = (),
    ) -> Trace:  # fmt: skip
        """Run the model on a sentence and record every site.

        The target is `tgt_text` (teacher forcing), or else what the model itself writes, greedily, with the
        `interventions` in force. Raises TextError for an empty sentence or a language that the model does not write,
        ValueError for room for no token and for an intervention that cannot be.
        """
        require_text(text)
        require_room(max_tokens)
        self.codec.bos_id(to)
        src, recorder, changes = self.codec.encode_source(text), Recorder(), self._in_force(interventions)
        given = self.codec.encode_target(tgt_text, to).tokens if tgt_text is not None and tgt_text.strip() else ()
        resolved = changes.resolve([Sentence(src.tokens, given, text, tgt_text or "")])
        started = time.perf_counter()
        memory = self.model.encode(self.ids(src), None, ForwardContext(resolved.chain_with(recorder)))
        wait_for(self.device)
        encoded = time.perf_counter()
        request = GenerationRequest(text, to, tgt_text, max_tokens, resolved.edits)
        target = TargetPass(self.model, memory, ForwardContext(resolved.chain_with(recorder)))
        sentence, notes = read_and_target(self, src, target, request)
        logits = target.over([token.id for token in sentence.tgt_in])
        after_encoding = time.perf_counter() - encoded
        info = RunInfo(
            model_id=self.model_id,
            to=to,
            device=self.device.type,
            dtype=str(self.dtype).removeprefix("torch."),
            forward_seconds=encoded - started + target.seconds,
            decoding_seconds=0.0 if given else after_encoding - target.seconds,
            notes=(*prefix_notes("Source", src.notes), *notes, *resolved.notes),
        )
        rest = {"memory": memory, "logits": logits, "info": info, "interventions": changes.interventions}
        return Trace.from_recorder(recorder, [sentence], **rest)

    @gradients_if_needed
    def rerun(self, trace: Trace, probe: Probe | None = None) -> Trace:
        """One teacher-forced pass over the sentences of `trace`, recorded; the probe acts first, and then what was done
        to that trace.

        Raises RuntimeError where torch refuses what the probe asks for.
        """
        recorder = Recorder()
        looking = self._in_force(trace.interventions).resolve(trace.sentences).chain_with(recorder)
        run = ForwardContext(looking if probe is None else Chain((probe, looking)))
        src = self._batch([sentence.src for sentence in trace.sentences])
        src_mask = self.model.src_mask(src)
        memory = self.model.encode(src, src_mask, run)
        tgt_in = self._batch([sentence.tgt_in for sentence in trace.sentences])
        logits = self.model.logits(self.model.decode(tgt_in, memory, src_mask, run))
        rest = {"memory": memory, "logits": logits, "info": trace.info, "interventions": trace.interventions}
        return Trace.from_recorder(recorder, [sentence.as_one_pass() for sentence in trace.sentences], **rest)

    def generator(
        self, trace: Trace, probe: Probe | None = None, *, cached: bool = True, limit: int = MAX_TOKENS
    ) -> TextGenerator:
        """What writes up to `limit` tokens for each sentence of `trace`, its sources read with the probe in force, and
        with what was done to that trace.
        """
        edits = self._in_force(trace.interventions).resolve(trace.sentences).edits
        probes = [each for each in (probe, edits) if each is not None]
        src = self._batch([sentence.src for sentence in trace.sentences])
        src_mask = self.model.src_mask(src)
        memory = self._memory(src, src_mask, Chain(probes) if len(probes) > 1 else next(iter(probes), None))
        stepper = Stepper(self.model, memory, src_mask, capacity=limit, cached=cached)
        begun = torch.full((len(src), 1), self.codec.bos_id(trace.to), device=self.device)
        return TextGenerator(apply_edits(stepper, edits), begun, self.vocabulary)

    @torch.inference_mode()
    def logits_under(self, trace: Trace, edits: Edits, *, rows: Sequence[int] | None = None) -> Tensor:
        """Logits `(copies, rows, vocab_size)` of one pass over copies of the first sentence of `trace`, one under each
        of the edits' rows; nothing is recorded. `rows` are those of the target that are asked for, or all.
        """
        sentence, longest = trace.sentences[0], None if rows is None else max(rows) + 1  # no row sees a later one
        src = self._batch([sentence.src] * len(edits.rows))
        tgt_in = self._batch([sentence.tgt_in[:longest]] * len(edits.rows))
        memory = self._memory(src, None, edits)
        hidden = self.model.decode(tgt_in, memory, None, ForwardContext(edits))
        return self.model.logits(hidden if rows is None else hidden[:, list(rows)])

    def _memory(self, src: Tensor, src_mask: Tensor | None, probe: Probe | None) -> Tensor:
        """The memory `(batch, k_len, d_model)` of sources; copies of one that no edit changes are encoded once."""

        def encode(ids: Tensor, under: Probe | None) -> Tensor:
            return self.model.encode(ids, src_mask, ForwardContext(under))

        are_copies = src_mask is None and bool((src == src[:1]).all())
        if isinstance(probe, Edits) and are_copies and len(probe.rows) == len(src):
            return probe.encode_copies(encode, src)
        return encode(src, probe)

    def decode_ids(self, ids: Sequence[int]) -> tuple[str, tuple[Token, ...]]:
        """The text that target ids stand for, and their tokens."""
        require_ids(ids, self.codec.vocab_size)
        return self.codec.text(tuple(ids)), self.codec.tokens(tuple(ids))

    def encode_target(self, text: str, *, to: str = "") -> tuple[Token, ...]:
        """The tokens of a target text, without special ones."""
        return tuple(token for token in self.codec.encode_target(text, to).tokens if not token.is_special)

    def padding(self, at: int = 0) -> Token:
        """A `<pad>` after `at` characters of a text."""
        return self.codec.padding(at)

    def is_pad(self, token: Token) -> bool:
        """Whether a token is there only because a longer sentence is in the same batch."""
        return token.id == self.codec.pad_id

    @overload
    def translate(
        self, text: str, *, to: str, batch: int = 32, tell: OnNote | None = None,
        interventions: Sequence[Intervention] = (),
    ) -> str: ...  # fmt: skip
    @overload
    def translate(
        self, text: list[str] | tuple[str, ...], *, to: str, batch: int = 32, tell: OnNote | None = None,
        interventions: Sequence[Intervention] = (),
    ) -> list[str]: ...  # fmt: skip
    def translate(
        self, text: str | Sequence[str], *, to: str, batch: int = 32, tell: OnNote | None = None,
        interventions: Sequence[Intervention] = (),
    ) -> str | list[str]:  # fmt: skip
        """Greedy translations: a string for a string, a list in the same order for several. Blank stays blank;
        `tell(index, note)` hears of what was cut. The `interventions` are in force in every one of them.
        """
        how = {"to": to, "batch": batch, "tell": tell, "changes": self._in_force(interventions)}
        if isinstance(text, str):
            return translations(self, [text], **how)[0]
        return translations(self, text, **how)

    def stepwise(  # noqa: PLR0913 - what may be asked of a decoding
        self,
        text: str,
        *,
        to: str,
        cached: bool = True,
        tgt_text: str | None = None,
        choose: Choose | Beam = likeliest,
        max_tokens: int | None = None,
        faults: Faults = NO_FAULTS,
        interventions: Sequence[Intervention] = (),
    ) -> Iterator[Step]:
        """Decode one token at a time, each step recorded. With `tgt_text` the teacher's prefix is fed instead of the
        model's own choices (`Step.token` is still what the model would choose). The `interventions` are in force at
        each step.
        """
        teacher = None if tgt_text is None else self.codec.encode_target(tgt_text, to).ids
        limit = self.decoding_limit(text) if max_tokens is None else max_tokens
        require_room(limit)
        return steps(self, text, Plan(to, teacher, cached, choose, limit, faults, self._in_force(interventions)))

    def decoding_limit(self, text: str) -> int:
        """Tokens that a translation of `text` may have."""
        return decoding_limit(len(self.codec.encode_source(text).ids))

    def in_dtype(self, dtype: torch.dtype) -> "Translator":
        """A copy that computes in `dtype`; this one stays as it is."""
        model = copy.deepcopy(self.model).to(dtype)
        model.embedding.restore_positions(self.device)  # rounded with the rest by `to`, and used from float32
        return Translator(model, self.codec, model_id=self.model_id, name=self.name)

    @property
    def vocabulary(self) -> Vocabulary:
        """What decoding must know of the ids."""
        return Vocabulary(self.codec.eos_id, self.codec.never_generated)

    def ids(self, encoded: Encoded) -> Tensor:
        """A batch of one, on the model's device."""
        return torch.tensor([encoded.ids], device=self.device)

    def _in_force(self, interventions: Sequence[Intervention]) -> CheckedInterventions:
        return CheckedInterventions.check(interventions, self.shapes, self.model_id)

    def _batch(self, rows: Sequence[Sequence[Token]]) -> Tensor:
        return torch.tensor([[token.id for token in row] for row in rows], device=self.device)
