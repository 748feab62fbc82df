"""A model on an engine, with the methods of a local model: it returns the same traces as if it had run locally."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from attnviz.engine import operations, probes, stepping
from attnviz.engine.client import Engine, OtherWeightsError
from attnviz.engine.description import ModelOnEngine, RemoteRules
from attnviz.engine.message import Message, pack_trace, strip_numbers
from attnviz.engine.probes import CannotTravelError
from attnviz.engine.stepping import RemoteStepping
from attnviz.guards.arguments import reads_arguments
from attnviz.models.inputs import Inputs
from attnviz.models.protocol import Step, TextGenerator, two_line_summary
from attnviz.text.limits import MAX_TOKENS
from attnviz.text.tokens import Token
from attnviz.tracing import storage
from attnviz.tracing.causes import serialization
from attnviz.tracing.causes.edits import Edits
from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.trace import Trace
from attnviz.transformer.beam import Beam
from attnviz.transformer.decoding import Choose, Sampling, likeliest_ids
from attnviz.transformer.probe import Kind, Probe

_WORDS = 4_096  # cached answers of the operation `words`


@reads_arguments
class RemoteModel:
    """A model on an engine. A request that needs the layers themselves, such as a hook, raises CannotTravelError."""

    device, dtype = torch.device("cpu"), torch.float32  # those of the results; a trace's info says where the model ran

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine, self.name = engine, name
        self._read_description()
        self._words = lru_cache(maxsize=_WORDS)(self._request_words)

    def __getattr__(self, name: str) -> Any:
        """Raise CannotTravelError for an attribute that only a local model has."""
        if name.startswith("_"):
            raise AttributeError(name)
        raise CannotTravelError(
            f"{self.name} runs on the engine, but this needs the model itself ({name}). Please load the model locally."
        )

    @property
    def about(self) -> ModelOnEngine:
        """The description of the model that the engine sent."""
        return self._about

    def __repr__(self) -> str:
        """Describe the model in two lines for a notebook: its facts and its methods."""
        return two_line_summary(self)

    @property
    def languages(self) -> tuple[str, ...]:
        """Codes of the languages that the model can write."""
        return self._about.languages

    @property
    def own_language(self) -> str:
        """The language that the model writes by default, or ""."""
        return self._about.own_language

    @property
    def writes_logits(self) -> bool:
        """Whether the model has a head over the vocabulary."""
        return self._about.writes_logits

    @property
    def has_chat(self) -> bool:
        """Whether the model accepts a conversation."""
        return self._about.has_chat

    @property
    def inputs(self) -> Inputs:
        """The kind of texts that the model reads."""
        return self._about.inputs

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of attention that the model computes, encoder first."""
        return tuple(self._about.shapes)

    @property
    def shapes(self) -> dict[Kind, tuple[int, int]]:
        """Numbers of layers and heads for each kind of attention."""
        return dict(self._about.shapes)

    @property
    def n_parameters(self) -> int:
        """Number of parameters."""
        return self._about.n_parameters

    @property
    def vocabulary(self) -> RemoteRules:
        """The ids that end a text, and the ids that are never generated."""
        return self._about.vocabulary

    def trace(self, *texts: Any, interventions: Sequence[Intervention] = (), **how: Any) -> Trace:
        """Run the model on texts, like a local model's `trace`. Raises the same errors, and EngineGoneError."""
        return storage.from_bytes(self._ask_engine("trace", _texts_message(texts, how, interventions)))

    def rerun(self, trace: Trace, probe: Probe | None = None) -> Trace:
        """Run and record one pass over the sentences of `trace`, with the probe applied.

        Raises CannotTravelError for a probe other than masks, edits and rounding.
        """
        tensors: dict[str, Tensor] = {}
        said = self._describe_probe(probe, lengths_of(trace), tensors)
        tensors["trace"] = pack_trace(strip_numbers(trace))
        answer = Message.from_bytes(self._ask_engine("rerun", Message({"probe": said}, tensors)))
        for number, each in enumerate(operations.roundings(probe)):
            each.generator.set_state(answer.tensors[f"state.{number}"])
        return answer.trace()

    def logits_under(self, trace: Trace, edits: Edits, *, rows: Sequence[int] | None = None) -> Tensor:
        """Run copies of the first sentence of `trace` as one batch, each with its own interventions; return the logits.

        The shape is `(copies, rows, vocab_size)`. `edits.rows` has the interventions of each copy.
        """
        tensors: dict[str, Tensor] = {}
        said = self._describe_probe(edits, {}, tensors)
        tensors["trace"] = pack_trace(strip_numbers(trace))
        meta = {"probe": said, "rows": None if rows is None else list(map(int, rows))}
        return Message.from_bytes(self._ask_engine("logits_under", Message(meta, tensors))).tensors["logits"]

    def stepwise(
        self, *texts: Any, choose: Choose | Beam = likeliest_ids, interventions: Sequence[Intervention] = (), **how: Any
    ) -> Iterator[Step]:
        """Decode one token at a time and record each step. The engine sends all steps at once."""
        asked = _texts_message(texts, how, interventions)
        tensors = dict(asked.tensors)
        said = operations.describe_choice(choose, tensors)
        answer = Message.from_bytes(self._ask_engine("stepwise", Message({**asked.meta, "choose": said}, tensors)))
        if isinstance(choose, Sampling) and operations.STATE in answer.tensors:
            choose.generator.set_state(answer.tensors[operations.STATE])
        return stepping.from_message(answer)

    def generator(
        self, trace: Trace, probe: Probe | None = None, *, cached: bool = True, limit: int = MAX_TOKENS
    ) -> TextGenerator:
        """Return a generator for the sentences of `trace`; the engine also computes some tokens ahead of those it is
        fed.
        """
        stepper = RemoteStepping(self._ask_engine, trace, probe, lengths_of(trace), cached=cached, limit=limit)
        begun, positions = stepper.begin()
        return TextGenerator(stepper, begun, self.vocabulary, positions)

    def translate(
        self, text: str | Sequence[str], *, interventions: Sequence[Intervention] = (), tell: Any = None, **how: Any
    ) -> str | list[str]:
        """Translate greedily: a string gives a string, several give a list.

        `tell(index, note)` is called with notes on texts that were truncated.
        """
        texts = [text] if isinstance(text, str) else list(text)
        asked = _texts_message((), how, interventions)
        answer = Message.from_bytes(
            self._ask_engine("translate", Message({**asked.meta, "texts": texts}, asked.tensors))
        )
        if tell is not None:
            for index, note in answer.meta["notes"]:
                tell(index, note)
        return answer.meta["texts"][0] if isinstance(text, str) else answer.meta["texts"]

    def write_target(
        self, text: str, *, interventions: Sequence[Intervention] = (), **how: Any
    ) -> tuple[str, tuple[str, ...]]:
        """Translate one source; return the text, and notes if the source was truncated."""
        notes: list[str] = []
        (found,) = self.translate([text], interventions=interventions, tell=lambda _, note: notes.append(note), **how)
        return found, tuple(notes)

    def decode_ids(self, ids: Sequence[int]) -> tuple[str, tuple[Token, ...]]:
        """Decode ids to their text and tokens."""
        return self._words(tuple(map(int, ids)), "", "")

    def encode_target(self, text: str, *, to: str = "") -> tuple[Token, ...]:
        """Tokenize a target text as the model would write it, without special tokens."""
        return self._words(None, text, to)[1]

    def padding(self, at: int = 0) -> Token:
        """Return a `<pad>` token whose position in the text is after `at` characters."""
        return replace(self._about.padding, start=at, end=at)

    def is_pad(self, token: Token) -> bool:
        """Check whether a token is padding after a sentence that is shorter than others in the batch."""
        pad = self._about.padding
        return (token.id, token.text) == (pad.id, pad.text)

    def _read_description(self) -> None:
        self._about = self._engine.description(self.name)
        self.model_id, self.writes = self._about.model_id, self._about.writes

    def _ask_engine(self, operation: str, message: Message) -> bytes:
        try:
            return self._engine.ask(self.name, operation, message, weights=self.model_id)
        except OtherWeightsError:
            self._read_description()  # the next run uses the new weights
            self._words.cache_clear()
            raise

    def _request_words(self, ids: tuple[int, ...] | None, text: str, to: str) -> tuple[str, tuple[Token, ...]]:
        meta = {"text": text, "to": to} if ids is None else {"ids": ids}
        answer = Message.from_bytes(self._ask_engine("words", Message(meta))).meta
        return answer["text"], tuple(Token(**token) for token in answer["tokens"])

    def _describe_probe(
        self, probe: Probe | None, lengths: Mapping[str, probes.Lengths], tensors: dict[str, Tensor]
    ) -> dict[str, Any] | None:
        try:
            return probes.describe(probe, lengths, tensors)
        except CannotTravelError as why:
            raise CannotTravelError(f"{self.name} runs on the engine: {str(why)[0].lower()}{str(why)[1:]}") from None


def lengths_of(trace: Trace) -> dict[str, Iterable[tuple[int, int]]]:
    """Return the query and key lengths of a pass over the sentences of a trace, by kind."""
    src = max(len(sentence.src) for sentence in trace.sentences)
    tgt = max(len(sentence.tgt_in) for sentence in trace.sentences)
    return {"encoder_self": [(src, src)], "decoder_self": [(tgt, tgt)], "cross": [(tgt, src)]}


def _texts_message(texts: Sequence[Any], how: Mapping[str, Any], interventions: Sequence[Intervention]) -> Message:
    """Return the message that asks to run texts with interventions."""
    meta = {"args": list(texts), "how": dict(how), "interventions": serialization.descriptions(interventions)}
    return Message(meta, serialization.arrays(interventions))
