"""A trained toy as a model: Heads, Masks and Decoding open it like any other.

The parts that it was trained without are missing in every pass, and can be restored.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Self

import torch
from torch import Tensor

from attnviz.guards.arguments import reads_arguments
from attnviz.models.inputs import Inputs
from attnviz.models.protocol import Step
from attnviz.models.transformer_model import ReadSource, TransformerModel
from attnviz.models.translator.stepwise import Plan, steps
from attnviz.text.limits import prefix_notes, require_count, require_room, require_text
from attnviz.text.tokens import Token
from attnviz.toys.experiment import Experiment
from attnviz.toys.network import Habits, PatchClassifier, ToyNetwork, replace_habits
from attnviz.toys.recording import Recording
from attnviz.toys.words import BOS, EOS, ToyWords
from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.record import Sentence
from attnviz.tracing.trace import Trace
from attnviz.transformer.decoding import Choose, Vocabulary, likeliest_ids
from attnviz.transformer.layers import ForwardContext

MOST_TOKENS = 64  # most tokens that a toy reads or writes; its task's lines have at most 25
# Parts that can be restored, with the habit to change. Positions are of no use to weights that were trained without.
_BACK = {
    "causal-mask": {"mask": "causal"},
    "padding-mask": {"sees_padding": False},
    "cross-attention": {"sees_source": True},
}


@reads_arguments
class Toy(TransformerModel[ToyNetwork, ToyWords]):
    """The network and the vocabulary of a recording. All methods are thread-safe."""

    languages: tuple[str, ...] = ()

    def __init__(self, experiment: Experiment, model: ToyNetwork, *, model_id: str, name: str = "") -> None:
        super().__init__(
            model, ToyWords(experiment.toy_task), model_id=model_id, name=name or experiment.toy_task.title
        )
        self.experiment, self._learned = experiment, weights_of(model)

    @classmethod
    def from_recording(cls, recording: Recording, name: str = "") -> Self:
        """Return the model at the end of a recording. Raises ValueError for a recording without weights."""
        network = recording.network()
        assert not isinstance(network, PatchClassifier)  # `catalogue.toy_of` opens one that reads images
        assert recording.weights is not None  # `network` raises an error without weights
        digest = hashlib.sha256(recording.weights.tobytes() + recording.experiment.key.encode())
        return cls(recording.experiment, network, model_id=digest.hexdigest()[:12], name=name)

    @property
    def model_id(self) -> str:
        """The id of the weights: the recording's, or a new one if they were trained further."""
        now = weights_of(self.model)
        return self._id if now == self._learned else hashlib.sha256(now + self.experiment.key.encode()).hexdigest()[:12]

    @property
    def without(self) -> tuple[str, ...]:
        """The parts that the toy was trained without and still lacks; a leaking causal mask counts as missing."""
        habits = self.model.habits
        gone = {"causal-mask": habits.mask != "causal", "padding-mask": habits.sees_padding,
                "cross-attention": not habits.sees_source}  # fmt: skip
        return (*(name for name, is_gone in gone.items() if is_gone),
                *(name for name in self.experiment.without if name not in gone))  # fmt: skip

    def put_back(self, name: str) -> Self:
        """Return a toy with the same weights and one missing part restored: "causal-mask", "padding-mask" or
        "cross-attention".

        Raises ValueError for any other part, and for one that is not missing.
        """
        if name not in self.without:
            raise ValueError(
                f"{name!r} cannot be put back, because this toy was not trained without it. This toy lacks "
                f"only {', '.join(self.without) or 'nothing'}."
            )
        if name not in _BACK:
            raise ValueError(
                f"{name} cannot be put back, because the weights were trained without it. Please train the "
                "toy again with it."
            )
        habits: Habits = replace(self.model.habits, **_BACK[name])
        changed = replace_habits(self.model, habits)
        return type(self)(self.experiment, changed, model_id=f"{self.model_id}+{name}", name=self.name)

    @property
    def inputs(self) -> Inputs:
        """The toy's input fields: a source and optionally its target, or a prompt for a decoder-only toy."""
        return Inputs.PROMPT if self.is_decoder_only else Inputs.SOURCE_AND_TARGET

    @property
    def is_decoder_only(self) -> bool:
        """Whether the toy has no source."""
        return self.experiment.toy_task.is_decoder_only

    @property
    def vocabulary(self) -> Vocabulary:
        """The id that ends a line, and the ids that are never generated."""
        return self.codec.rules

    def encode_target(self, text: str, *, to: str = "") -> tuple[Token, ...]:
        """Return the tokens of a line, without special tokens; `to` is not used."""
        return self.codec.read(text)[0]

    def read(self, text: str, to: str = "") -> ReadSource:
        """Read a line. Raises TextError for an empty line, and for a word that the toy does not know."""
        require_text(text)
        tokens, notes = self.codec.read(text)
        if self.is_decoder_only:
            return ReadSource(text, (), (_BEGIN, *tokens), prefix_notes("Prompt", notes))
        return ReadSource(text, (*tokens, _end(tokens)), (_BEGIN,), prefix_notes("Source", notes))

    def sentence(self, source: ReadSource, ids: tuple[int, ...]) -> Sentence:
        """Return the sentence of a run from a line and the ids of its target; a decoder-only toy keeps its prompt as
        typed.
        """
        if source.src:
            return super().sentence(source, ids)
        given = min(len(source.begun), len(ids))
        text, tokens = self.codec.continue_line(source.text, source.begun[:given], ids[given:])
        return Sentence(tgt=tokens, tgt_text=text)

    def write(self, text: str, *, new_tokens: int | None = None, interventions: Sequence[Intervention] = ()) -> str:
        """Continue a line greedily, with the `interventions` applied.

        Raises TextError for an empty line, and for a word that the toy does not know.
        """
        source = self.read(text)
        edits = self.check_interventions(interventions).resolve([source.initial_sentence]).edits
        begun, limits = self.batch([source.begun]), [self._limit(source, new_tokens)]
        with torch.inference_mode():
            memory = self.model.encode(self.batch([source.src]), None, ForwardContext(edits))
            return self.codec.text(self.write_ids(memory, None, begun, limits=limits, edits=edits)[0])

    def trace(
        self, text: str, *, tgt_text: str | None = None, new_tokens: int | None = None, max_tokens: int = MOST_TOKENS,
        logits: bool = True, hidden: bool = True, interventions: Sequence[Intervention] = (),
    ) -> Trace:  # fmt: skip
        """Run the toy on a line and record every site, with teacher forcing on `tgt_text`, or on what it writes itself.

        A decoder-only toy continues its prompt by `new_tokens` (by default one: the output of its last row).
        `max_tokens` limits what is written. `logits` and `hidden` have no effect, because a toy is small: both are
        always recorded. The `interventions` apply to the writing and to the pass. Raises TextError for an empty line
        and for a word that the toy does not know, ValueError for arguments that it does not take.
        """
        self._require(tgt_text, new_tokens, max_tokens)
        source, given = self.read(text), None
        if tgt_text is not None and tgt_text.strip():
            tokens, notes = self._target(tgt_text)
            source = replace(source, notes=(*source.notes, *prefix_notes("Target", notes)))
            given = Sentence(source.src, tokens, text, tgt_text)
        if self.is_decoder_only and new_tokens is None:
            new_tokens = 1
        limit = 0 if new_tokens == 0 else min(max_tokens, self._limit(source, new_tokens))
        return self.record(source, given, limit=limit, changes=self.check_interventions(interventions))

    def stepwise(  # noqa: PLR0913 - each is an option of the public method
        self, text: str, *, tgt_text: str | None = None, tgt_in: Sequence[int] | None = None, cached: bool = True,
        new_tokens: int | None = None, choose: Choose = likeliest_ids, max_tokens: int = MOST_TOKENS,
        interventions: Sequence[Intervention] = (),
    ) -> Iterator[Step]:  # fmt: skip
        """Decode one token at a time and record each step. A prompt is fed token by token, then continued.

        If a teacher's prefix is given, it is fed instead: ids `tgt_in`, or the text of a target. A toy whose causal
        mask is missing or leaks cannot use a cache: it runs its whole prefix at each step, `cached` or not. The
        `interventions` apply to each step.
        """
        self._require(tgt_text, new_tokens, max_tokens)
        source = self.read(text)
        if tgt_in is None and tgt_text is not None and tgt_text.strip():
            tgt_in = [token.id for token in self._target(tgt_text)[0][:-1]]
        teacher = None if tgt_in is None else (*self._require_prefix(tgt_in, source.begun), EOS)
        limit = min(max_tokens, self._limit(source, new_tokens))
        plan = Plan("", teacher, cached, choose, limit, changes=self.check_interventions(interventions))
        return steps(self, text, plan)

    def cut_note(self, count: int) -> str:
        """Return the note on a line that did not end within this number of words."""
        return f"The text that the toy wrote was cut after {count} words, because the toy did not write <eos>."

    def _require(self, tgt_text: str | None, new_tokens: int | None, max_tokens: int) -> None:
        taken = ", ".join(self.inputs.names)
        if tgt_text is not None and tgt_text.strip() and self.is_decoder_only:
            raise ValueError(f"{self.name} does not accept a target. It accepts {taken}.")
        if new_tokens is not None and not self.is_decoder_only:
            raise ValueError(f"{self.name} does not accept new_tokens, because only a decoder continues a prompt.")
        require_count(new_tokens)
        require_room(max_tokens)

    def _require_prefix(self, tgt_in: Sequence[int], begun: Sequence[Token]) -> tuple[int, ...]:
        """Return the ids to feed in teacher forcing. Raises ValueError for invalid ids and for a wrong first token."""
        ids, first, known = tuple(tgt_in), tuple(token.id for token in begun), self.codec.vocab_size
        if ids[: len(first)] != first:
            raise ValueError(f"tgt_in begins with {list(ids[: len(first)])}, but must begin with {list(first)}.")
        if len(ids) > MOST_TOKENS + len(first) or any(id_ not in range(known) for id_ in ids):
            raise ValueError(f"tgt_in holds up to {MOST_TOKENS} ids below {known} after its beginning.")
        return ids

    def _target(self, tgt_text: str) -> tuple[tuple[Token, ...], tuple[str, ...]]:
        """Read a target, from `<bos>` to `<eos>`, and notes. Raises TextError for a word that the toy does not know."""
        tokens, notes = self.codec.read(tgt_text)
        return (_BEGIN, *tokens, _end(tokens)), notes

    def _limit(self, source: ReadSource, new_tokens: int | None) -> int:
        """Return the most tokens that may be written: enough for every line of the task, but a limit for a toy that
        repeats itself.
        """
        if source.src:
            return min(MOST_TOKENS, 2 * len(source.src) + 2)
        return max(1, min(MOST_TOKENS, len(source.begun) - 3 if new_tokens is None else new_tokens))

    def _prompt_ids(self, trace: Trace) -> Tensor:
        """Return the prompts of a trace, truncated to the shortest; `<bos>` for lines that have a source."""
        prompts = [
            [token.id for token in sentence.tgt_in if not token.segment] or [BOS] for sentence in trace.sentences
        ]
        shortest = min(map(len, prompts)) if self.is_decoder_only else 1
        return torch.tensor([prompt[:shortest] for prompt in prompts])


_BEGIN = Token("<bos>", BOS, 0, 0, is_special=True)


def _end(tokens: Sequence[Token]) -> Token:
    end = tokens[-1].end
    return Token("<eos>", EOS, end, end, is_special=True)


def weights_of(network: ToyNetwork | PatchClassifier) -> bytes:
    """Return the bytes of all weights, about a hundred kilobytes."""
    return torch.nn.utils.parameters_to_vector(network.parameters()).detach().numpy().tobytes()
