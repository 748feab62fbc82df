"""A toy that was trained in front of somebody, as a model like any other: Heads, Masks and Decoding open it.

What it was trained without stays away in every pass, and can be put back.
"""

import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from attnviz.learning.batches import padded
from attnviz.learning.experiment import Experiment
from attnviz.learning.network import Habits, ToyNetwork, with_habits
from attnviz.learning.recording import Recording
from attnviz.learning.words import BOS, EOS, PAD, ToyWords
from attnviz.learning.writing import ToyStepper, written
from attnviz.models.inputs import Inputs
from attnviz.models.protocol import Step, Writer
from attnviz.models.toy.stepwise import ToyPlan, steps
from attnviz.text.limits import about, require_text
from attnviz.text.tokens import Token
from attnviz.tracing.interventions import Chain
from attnviz.tracing.record import RunInfo, Sentence
from attnviz.tracing.recorder import Recorder
from attnviz.tracing.trace import Trace
from attnviz.transformer.decoding import Choose, Vocabulary, likeliest
from attnviz.transformer.layers import ForwardContext
from attnviz.transformer.probe import Kind, Probe

MOST_TOKENS = 64  # that a toy reads or writes; its own lines have 25 at most
# What can be put back, and the habit that does it. Weights that never saw a position have no use for one.
_BACK = {
    "causal-mask": {"mask": "causal"},
    "padding-mask": {"sees_padding": False},
    "cross-attention": {"sees_source": True},
}


class Toy:
    """The network of a recording and its words. Every method is safe to call from many threads at once."""

    languages: tuple[str, ...] = ()
    writes = True
    device, dtype = torch.device("cpu"), torch.float32

    def __init__(self, experiment: Experiment, network: ToyNetwork, *, model_id: str, name: str = "") -> None:
        self.experiment, self.network, self.model_id = experiment, network, model_id
        self.name = name or experiment.about.title
        self.words = ToyWords(experiment.about)

    @classmethod
    def of(cls, recording: Recording, name: str = "") -> "Toy":
        """The model at the end of a recording. Raises ValueError for one that was kept without weights."""
        network = recording.network()
        assert recording.weights is not None  # or there were no network
        told = hashlib.sha256(recording.weights.tobytes() + recording.experiment.key.encode())
        return cls(recording.experiment, network, model_id=told.hexdigest()[:12], name=name)

    @property
    def without(self) -> tuple[str, ...]:
        """What it was trained without and still is; a causal mask that leaks counts as missing."""
        habits = self.network.habits
        gone = {"causal-mask": habits.mask != "causal", "padding-mask": habits.sees_padding,
                "cross-attention": not habits.sees_source}  # fmt: skip
        return (*(name for name, is_gone in gone.items() if is_gone),
                *(name for name in self.experiment.without if name not in gone))  # fmt: skip

    def put_back(self, name: str) -> "Toy":
        """The same weights with something in force again that they were trained without: "causal-mask",
        "padding-mask" or "cross-attention". Raises ValueError for anything else, and for what is not missing.
        """
        if name not in self.without:
            raise ValueError(f"{name!r} is not missing from this toy: it lacks {', '.join(self.without) or 'nothing'}.")
        if name not in _BACK:
            raise ValueError(f"{name} cannot be put back: the weights were learned without. Train again with it.")
        habits: Habits = replace(self.network.habits, **_BACK[name])
        changed = with_habits(self.network, habits)
        return Toy(self.experiment, changed, model_id=f"{self.model_id}+{name}", name=self.name)

    @property
    def inputs(self) -> Inputs:
        """A source and perhaps its target; a decoder alone takes a prompt."""
        return Inputs.PROMPT if self.is_decoder_only else Inputs.SOURCE_AND_TARGET

    @property
    def is_decoder_only(self) -> bool:
        """Whether it has no source."""
        return self.experiment.about.is_decoder_only

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of attention that it computes, encoder first."""
        return ("decoder_self",) if self.is_decoder_only else ("encoder_self", "decoder_self", "cross")

    @property
    def n_parameters(self) -> int:
        """Numbers that were learned."""
        return sum(parameter.numel() for parameter in self.network.parameters())

    @property
    def vocabulary(self) -> Vocabulary:
        """What writing must know of the ids."""
        return self.words.rules

    def write(self, text: str, *, new_tokens: int | None = None) -> str:
        """What it writes for a line, greedily. Raises TextError for an empty line, and for a word it does not know."""
        tokens, _ = self._read(text)
        return self.words.text(self._written(tokens, new_tokens))

    def trace(
        self, text: str, *, tgt_text: str | None = None, new_tokens: int | None = None, max_tokens: int = MOST_TOKENS,
        logits: bool = True, hidden: bool = True,
    ) -> Trace:  # fmt: skip
        """Run the toy on a line and record every site: teacher forcing on `tgt_text`, or on what it writes itself.

        A decoder alone continues its prompt by `new_tokens` (by default one: what its last row puts out). `max_tokens`
        bounds what is written. A toy is small: `logits` and `hidden`, which may be left out of others, are always
        there. Raises TextError for an empty line and for a word that it does not know, ValueError for what it does not
        take.
        """
        self._require(tgt_text, new_tokens, max_tokens)
        tokens, notes = self._read(text)
        started = time.perf_counter()
        sentence, more = self._sentence(text, tokens, tgt_text, new_tokens, max_tokens)
        decoding = time.perf_counter() - started
        made = self._again([sentence], None, (*notes, *more))
        return replace(made, info=replace(made.info, decoding_seconds=decoding))

    def rerun(self, trace: Trace, probe: Probe | None = None) -> Trace:
        """One pass over the sentences of `trace`, recorded; the probe, an intervention, acts first."""
        return replace(self._again(list(trace.sentences), probe), info=trace.info)

    def stepwise(
        self, text: str, *, tgt_text: str | None = None, tgt_in: Sequence[int] | None = None, cached: bool = True,
        new_tokens: int | None = None, choose: Choose = likeliest, max_tokens: int = MOST_TOKENS,
    ) -> Iterator[Step]:  # fmt: skip
        """Decode one token at a time, each step recorded. A prompt is fed token by token, then continued.

        A teacher's prefix is fed instead where it is given: ids `tgt_in`, or a target's text. A toy whose causal mask
        is missing or leaks has no use for a cache: it runs its whole prefix at each step, `cached` or not.
        """
        self._require(tgt_text, new_tokens, max_tokens)
        tokens, notes = self._read(text)
        taught = tgt_in
        if tgt_in is None and tgt_text is not None and tgt_text.strip():
            taught = (BOS, *(token.id for token in self.words.read(tgt_text)[0]))
        src, begun = self._begun(tokens)
        plan = ToyPlan(text, src, begun, None if taught is None else self._taught(taught, begun),
                       min(max_tokens, self._limit(tokens, new_tokens)), choose, cached)  # fmt: skip
        return steps(self.network, self.words, plan, self._info(0.0, notes))

    def writer(self, trace: Trace, probe: Probe | None = None, *, cached: bool = True, limit: int = 64) -> Writer:
        """What writes for the sources of `trace`, read with the probe in force, or after its prompts, all cut to the
        shortest.
        """
        with torch.inference_mode():
            rows = [[token.id for token in sentence.src] for sentence in trace.sentences]
            prompts = [_prompt(sentence) for sentence in trace.sentences]
            shortest = min(map(len, prompts)) if self.is_decoder_only else 1
            begun = torch.tensor([prompt[:shortest] for prompt in prompts])
            src = padded(rows) if any(rows) else torch.empty(len(rows), 0, dtype=torch.long)
            src_mask = self.network.src_mask(src)
            memory = self.network.encode(src, src_mask, ForwardContext(probe))
        stepper = ToyStepper(self.network, memory, src_mask, capacity=limit + shortest, cached=cached)
        return Writer(stepper, begun, self.vocabulary)

    def spelled(self, ids: Sequence[int]) -> tuple[str, tuple[Token, ...]]:
        """The line that ids stand for, and their tokens."""
        return self.words.text(ids), self.words.tokens(ids)

    def pieces(self, text: str, *, to: str = "") -> tuple[Token, ...]:
        """The tokens of a line, without special ones; `to` means nothing here."""
        return self.words.read(text)[0]

    def padding(self, at: int = 0) -> Token:
        """A `<pad>` after `at` characters of a line."""
        return Token("<pad>", PAD, at, at, is_special=True)

    def is_pad(self, token: Token) -> bool:
        """Whether a token is there only because a longer line stands in the same batch."""
        return token.id == PAD

    def _read(self, text: str) -> tuple[tuple[Token, ...], tuple[str, ...]]:
        require_text(text)
        tokens, notes = self.words.read(text)
        return tokens, about("Prompt" if self.is_decoder_only else "Source", notes)

    def _require(self, tgt_text: str | None, new_tokens: int | None, max_tokens: int) -> None:
        taken = ", ".join(self.inputs.names)
        if tgt_text is not None and tgt_text.strip() and self.is_decoder_only:
            raise ValueError(f"{self.name} takes no target: its inputs are {taken}.")
        if new_tokens is not None and not self.is_decoder_only:
            raise ValueError(f"{self.name} takes no new_tokens: only a decoder writes after its prompt.")
        if max_tokens < 1:
            raise ValueError(f"A target needs room for at least 1 token, not {max_tokens}.")

    def _begun(self, tokens: tuple[Token, ...]) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
        """The source with its end, and what every target begins with: `<bos>`, and a decoder's prompt."""
        bos = Token("<bos>", BOS, 0, 0, is_special=True)
        if self.is_decoder_only:
            return (), (bos, *tokens)
        return (*tokens, Token("<eos>", EOS, tokens[-1].end, tokens[-1].end, is_special=True)), (bos,)

    def _limit(self, tokens: tuple[Token, ...], new_tokens: int | None) -> int:
        """Tokens that it may write: room for every line of its task, but an end to a toy that repeats itself."""
        if self.is_decoder_only:
            return max(1, min(MOST_TOKENS, 11 if new_tokens is None else new_tokens))
        return min(MOST_TOKENS, 2 * len(tokens) + 4)

    def _written(self, tokens: tuple[Token, ...], new_tokens: int | None, most: int = MOST_TOKENS) -> tuple[int, ...]:
        src, begun = self._begun(tokens)
        limit = min(most, self._limit(tokens, new_tokens))
        ids = torch.tensor([[token.id for token in src]], dtype=torch.long)
        first = torch.tensor([[token.id for token in begun]])
        return written(self.network, ids, first, self.vocabulary, limit=limit)[0]

    def _sentence(
        self, text: str, tokens: tuple[Token, ...], tgt_text: str | None, new_tokens: int | None, most: int
    ) -> tuple[Sentence, tuple[str, ...]]:
        src, begun = self._begun(tokens)
        if self.is_decoder_only:
            count = 1 if new_tokens is None else new_tokens
            wrote = self._written(tokens, count, most) if count > 0 else ()
            more = self.words.continued(text, begun, wrote)
            return Sentence(tgt=more[1], tgt_text=more[0], cut=not wrote), ()
        if tgt_text is not None and tgt_text.strip():
            given, notes = self.words.read(tgt_text)
            end = Token("<eos>", EOS, given[-1].end, given[-1].end, is_special=True)
            return Sentence(src, (*begun, *given, end), text, tgt_text), about("Target", notes)
        ids = self._written(tokens, None, most)
        cut = ids[-1] != EOS
        notes = (f"What it writes was cut after {len(ids)} words without reaching an end.",) if cut else ()
        return Sentence(src, self.words.tokens((BOS, *ids)), text, self.words.text(ids), cut), notes

    def _taught(self, tgt_in: Sequence[int], begun: tuple[Token, ...]) -> tuple[int, ...]:
        ids, first = tuple(tgt_in), tuple(token.id for token in begun)
        if ids[: len(first)] != first:
            raise ValueError(f"tgt_in begins with {list(ids[: len(first)])}, and must begin with {list(first)}.")
        if len(ids) > MOST_TOKENS + len(first) or any(id_ not in range(len(self.words.pieces)) for id_ in ids):
            raise ValueError(f"tgt_in holds up to {MOST_TOKENS} ids below {len(self.words.pieces)} after its beginning.")
        return ids

    @torch.inference_mode()
    def _again(self, sentences: list[Sentence], probe: Probe | None, notes: tuple[str, ...] = ()) -> Trace:
        recorder, started = Recorder(), time.perf_counter()
        run = ForwardContext(recorder if probe is None else Chain((probe, recorder)))
        src, tgt_in = self._batch([each.src for each in sentences]), self._batch([each.tgt_in for each in sentences])
        src_mask = self.network.src_mask(src)
        memory = self.network.encode(src, src_mask, run)
        logits = self.network.logits(self.network.decode(tgt_in, memory, src_mask, run))
        info = self._info(time.perf_counter() - started, notes)
        return Trace.of(recorder, sentences, memory=None if self.is_decoder_only else memory, logits=logits, info=info)

    def _batch(self, rows: Sequence[Sequence[Token]]) -> Tensor:
        return torch.tensor([[token.id for token in row] for row in rows], dtype=torch.long).view(len(rows), -1)

    def _info(self, forward: float, notes: tuple[str, ...]) -> RunInfo:
        return RunInfo(self.model_id, "", "cpu", "float32", forward, notes=notes)


def _prompt(sentence: Sentence) -> list[int]:
    """What stood there before the model wrote."""
    return [token.id for token in sentence.tgt_in if not token.segment] or [BOS]
