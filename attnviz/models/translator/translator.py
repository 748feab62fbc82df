"""The built-in translator: it turns sentences into traces and translations. One instance serves every visitor."""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import overload

import torch
from torch import Tensor

from attnviz.guards.arguments import reads_arguments
from attnviz.models.inputs import Inputs
from attnviz.models.protocol import Step
from attnviz.models.transformer_model import ReadSource, TargetPass, TransformerModel
from attnviz.models.translator.faults import NO_FAULTS, Faults
from attnviz.models.translator.generate import OnNote, cut_note, decoding_limit, draft_and_check, translations
from attnviz.models.translator.stepwise import Plan, steps
from attnviz.text.limits import MAX_TOKENS, prefix_notes, require_room, require_text, warn_of_cuts
from attnviz.text.tokenizer import TranslatorTokenizer
from attnviz.text.tokens import Token
from attnviz.tracing.causes.edits import Edits
from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.record import Sentence
from attnviz.tracing.trace import Trace
from attnviz.transformer import checkpoint
from attnviz.transformer.beam import Beam
from attnviz.transformer.checkpoint import weights_id
from attnviz.transformer.decoding import Choose, Vocabulary, likeliest_ids
from attnviz.transformer.draft import DraftModel
from attnviz.transformer.transformer import Transformer

__all__ = ["Translator", "weights_id"]


@reads_arguments
class Translator(TransformerModel[Transformer, TranslatorTokenizer]):
    """A Transformer and its tokenizer. All methods are thread-safe."""

    inputs = Inputs.TRANSLATION
    folder: Path | None = None
    draft: DraftModel | None = None

    def __init__(
        self, model: Transformer, codec: TranslatorTokenizer, *, model_id: str, name: str = "translator"
    ) -> None:
        super().__init__(model, codec, model_id=model_id, name=name)

    @classmethod
    def load(cls, folder: Path, *, device: torch.device, dtype: torch.dtype) -> "Translator":
        """Load a checkpoint folder. Raises CheckpointError or TextError with a message of one sentence."""
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

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that the model writes."""
        return self.codec.languages

    @property
    def vocabulary(self) -> Vocabulary:
        """The id that ends a sentence, and the ids that are never generated."""
        return Vocabulary(self.codec.eos_id, self.codec.never_generated)

    def trace(
        self, text: str, *, to: str, tgt_text: str | None = None, max_tokens: int = MAX_TOKENS,
        interventions: Sequence[Intervention] = (),
    ) -> Trace:  # fmt: skip
        """Run the model on a sentence and record every site.

        The target is `tgt_text` (teacher forcing), or the model's own greedy translation into the language `to`, of at
        most `max_tokens`, with the `interventions` applied. 512 tokens of the sentence are read; a UserWarning says if
        it is longer. Raises TextError for an empty sentence or a language that the model does not write, and ValueError
        if `max_tokens` leaves room for no token, or for an impossible intervention.
        """
        require_text(text)
        require_room(max_tokens)
        source, given = self.read(text, to), None
        if tgt_text is not None and tgt_text.strip():
            target = self.codec.encode_target(tgt_text, to)
            source = replace(source, notes=(*source.notes, *prefix_notes("Target", target.notes)))
            given = Sentence(source.src, target.tokens, text, tgt_text)
        limit = min(max_tokens, decoding_limit(len(source.src)))
        return self.record(source, given, limit=limit, changes=self.check_interventions(interventions), to=to)

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
        """Translate greedily: a string gives a string, several give a list in the same order. A blank text stays blank.

        `tell(index, note)` is called for each text that was truncated; without `tell`, a UserWarning says if a text was
        too long. The `interventions` apply to every translation.
        """
        notes: list[str] = []
        told = tell or (lambda _, note: notes.append(note))
        how = {"to": to, "batch": batch, "tell": told, "changes": self.check_interventions(interventions)}
        made = translations(self, [text] if isinstance(text, str) else text, **how)
        warn_of_cuts(notes)
        return made[0] if isinstance(text, str) else made

    def stepwise(  # noqa: PLR0913 - each is an option of the public method
        self,
        text: str,
        *,
        to: str,
        cached: bool = True,
        tgt_text: str | None = None,
        choose: Choose | Beam = likeliest_ids,
        max_tokens: int | None = None,
        faults: Faults = NO_FAULTS,
        interventions: Sequence[Intervention] = (),
    ) -> Iterator[Step]:
        """Decode one token at a time, up to `max_tokens`, with or without a cache, and record each step.

        With `tgt_text`, the teacher's prefix is fed instead of the model's own choices (`Step.token` is still the token
        that the model would choose). `choose` picks each token from the logits, or is a beam. The `interventions` apply
        to each step; `faults` are deliberate mistakes of a decoder. 512 tokens of the sentence are read; a UserWarning
        says if it is longer.
        """
        teacher = None if tgt_text is None else self.codec.encode_target(tgt_text, to).ids
        source = self.codec.encode_source(text)
        warn_of_cuts(prefix_notes("Source", source.notes))
        limit = decoding_limit(len(source.ids)) if max_tokens is None else max_tokens
        require_room(limit)
        changes = self.check_interventions(interventions)
        return steps(self, text, Plan(to, teacher, cached, choose, limit, faults, changes))

    def decoding_limit(self, text: str) -> int:
        """Return the most tokens that a translation of `text` may have."""
        return decoding_limit(len(self.codec.encode_source(text).ids))

    def copy_in_dtype(self, dtype: torch.dtype) -> "Translator":
        """Return a copy that computes in `dtype`; this model stays unchanged."""
        model = copy.deepcopy(self.model).to(dtype)
        model.embedding.restore_positions(self.device)  # `to` has rounded the positions, but they must be exact
        return Translator(model, self.codec, model_id=self.model_id, name=self.name)

    def encode_target(self, text: str, *, to: str = "") -> tuple[Token, ...]:
        """Return the tokens of a target text, without special tokens."""
        return tuple(token for token in self.codec.encode_target(text, to).tokens if not token.is_special)

    def read(self, text: str, to: str = "") -> ReadSource:
        """Encode a source sentence for a translation into the language `to`.

        Raises TextError for a language that the model does not write, and for an empty sentence.
        """
        require_text(text)
        (first,) = self.codec.tokens((self.codec.bos_id(to),))
        src = self.codec.encode_source(text)
        return ReadSource(text, src.tokens, (first,), prefix_notes("Source", src.notes))

    def write_target_ids(self, source: ReadSource, target: TargetPass, limit: int, edits: Edits | None) -> list[int]:
        """Generate like `TransformerModel.write_target_ids`, with a draft by rounded weights if the run has no
        edits.
        """
        if self.draft is None or edits is not None:
            return super().write_target_ids(source, target, limit, edits)
        return draft_and_check(self, self.draft, target, bos_id=source.begun[0].id, limit=limit)

    def cut_note(self, count: int) -> str:
        """Return the note on a translation that did not end within this number of tokens."""
        return cut_note(count)

    def _prompt_ids(self, trace: Trace) -> Tensor:
        return torch.full((len(trace.sentences), 1), self.codec.bos_id(trace.to), device=self.device)
