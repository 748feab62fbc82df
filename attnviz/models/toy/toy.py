"""A toy that was trained in front of somebody, as a model like any other: Heads, Masks and Decoding open it.

What it was trained without stays away in every pass, and can be put back.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from attnviz.learning.batches import padded
from attnviz.learning.words import BOS
from attnviz.learning.writing import ToyStepper, written
from attnviz.models.notebook import in_two_lines
from attnviz.models.protocol import Step, TextGenerator
from attnviz.models.toy.lines import MOST_TOKENS, Tokens
from attnviz.models.toy.stepwise import ToyPlan, steps
from attnviz.models.toy.trained import TrainedToy
from attnviz.text.arguments import reads_arguments
from attnviz.text.limits import require_count, require_room
from attnviz.text.tokens import Token
from attnviz.tracing.causes.edits import Edits
from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.causes.resolution import NO_INTERVENTIONS, CheckedInterventions
from attnviz.tracing.causes.stepping import apply_edits
from attnviz.tracing.interventions import Chain
from attnviz.tracing.record import RunInfo, Sentence
from attnviz.tracing.recorder import Recorder
from attnviz.tracing.trace import Trace
from attnviz.transformer.decoding import Choose, likeliest
from attnviz.transformer.layers import ForwardContext
from attnviz.transformer.probe import Probe, gradients_if_needed


@reads_arguments
class Toy(TrainedToy):
    """The network of a recording and its words. Every method is safe to call from many threads at once."""

    def __repr__(self) -> str:
        """In two lines, for a notebook: what it is, and what may be asked of it."""
        return in_two_lines(self)

    def write(self, text: str, *, new_tokens: int | None = None, interventions: Sequence[Intervention] = ()) -> str:
        """What it writes for a line, greedily, with the `interventions` in force. Raises TextError for an empty line,
        and for a word it does not know.
        """
        tokens, _ = self.lines.read(text)
        resolved = self._in_force(interventions).resolve([self._read(text, tokens)])
        return self.words.text(self._written(tokens, new_tokens, MOST_TOKENS, resolved.edits))

    def trace(
        self, text: str, *, tgt_text: str | None = None, new_tokens: int | None = None, max_tokens: int = MOST_TOKENS,
        logits: bool = True, hidden: bool = True, interventions: Sequence[Intervention] = (),
    ) -> Trace:  # fmt: skip
        """Run the toy on a line and record every site: teacher forcing on `tgt_text`, or on what it writes itself.

        A decoder alone continues its prompt by `new_tokens` (by default one: what its last row puts out). `max_tokens`
        bounds what is written. A toy is small: `logits` and `hidden`, which may be left out of others, are always
        there. The `interventions` are in force in what is written and in the pass. Raises TextError for an empty line
        and for a word that it does not know, ValueError for what it does not take.
        """
        self._require(tgt_text, new_tokens, max_tokens)
        tokens, notes = self.lines.read(text)
        started, changes = time.perf_counter(), self._in_force(interventions)
        target = self.lines.target(tgt_text)[0] if tgt_text is not None and tgt_text.strip() else ()
        edits = changes.resolve([replace(self._read(text, tokens), **({"tgt": target} if target else {}))]).edits
        if self.is_decoder_only:
            wrote = () if new_tokens == 0 else self._written(tokens, new_tokens or 1, max_tokens, edits)
            sentence, more = self.lines.continued(text, tokens, wrote), ()
        elif tgt_text is not None and tgt_text.strip():
            target, more = self.lines.target(tgt_text)
            sentence = Sentence(self.lines.fed(tokens)[0], target, text, tgt_text)
        else:
            sentence, more = self.lines.written(text, tokens, self._written(tokens, None, max_tokens, edits))
        decoding = time.perf_counter() - started
        made = self._again([sentence], None, (*notes, *more), changes)
        return replace(made, info=replace(made.info, decoding_seconds=decoding))

    def rerun(self, trace: Trace, probe: Probe | None = None) -> Trace:
        """One pass over the sentences of `trace`, recorded; the probe acts first, and then what was done to it."""
        changes = self._in_force(trace.interventions)
        sentences = [sentence.as_one_pass() for sentence in trace.sentences]
        return replace(self._again(sentences, probe, changes=changes), info=trace.info)

    def stepwise(  # noqa: PLR0913 - what may be asked of a decoding
        self, text: str, *, tgt_text: str | None = None, tgt_in: Sequence[int] | None = None, cached: bool = True,
        new_tokens: int | None = None, choose: Choose = likeliest, max_tokens: int = MOST_TOKENS,
        interventions: Sequence[Intervention] = (),
    ) -> Iterator[Step]:  # fmt: skip
        """Decode one token at a time, each step recorded. A prompt is fed token by token, then continued.

        A teacher's prefix is fed instead where it is given: ids `tgt_in`, or a target's text. A toy whose causal mask
        is missing or leaks has no use for a cache: it runs its whole prefix at each step, `cached` or not. The
        `interventions` are in force at each step.
        """
        self._require(tgt_text, new_tokens, max_tokens)
        tokens, notes = self.lines.read(text)
        src, begun = self.lines.fed(tokens)
        if tgt_in is None and tgt_text is not None and tgt_text.strip():
            tgt_in = [token.id for token in self.lines.target(tgt_text)[0][:-1]]
        taught = None if tgt_in is None else self.lines.taught(tgt_in, begun)
        limit = min(max_tokens, self.lines.limit(tokens, new_tokens))
        changes = self._in_force(interventions)
        plan = ToyPlan(text, src, begun, taught, limit, choose, cached, changes)
        return steps(self.network, self.words, plan, self._info(0.0, notes))

    def generator(
        self, trace: Trace, probe: Probe | None = None, *, cached: bool = True, limit: int = 64
    ) -> TextGenerator:
        """What writes for the sources of `trace`, read with the probe in force and what was done to it, or after its
        prompts, all cut to the shortest.
        """
        edits = self._in_force(trace.interventions).resolve(trace.sentences).edits
        probes = [each for each in (probe, edits) if each is not None]
        with torch.inference_mode():
            rows = [[token.id for token in sentence.src] for sentence in trace.sentences]
            prompts = [_prompt(sentence) for sentence in trace.sentences]
            shortest = min(map(len, prompts)) if self.is_decoder_only else 1
            begun = torch.tensor([prompt[:shortest] for prompt in prompts])
            src = padded(rows) if any(rows) else torch.empty(len(rows), 0, dtype=torch.long)
            src_mask = self.network.src_mask(src)
            memory = self.network.encode(src, src_mask, ForwardContext(Chain(probes) if probes else None))
        stepper = ToyStepper(self.network, memory, src_mask, capacity=limit + shortest, cached=cached)
        return TextGenerator(apply_edits(stepper, edits), begun, self.vocabulary)

    @torch.inference_mode()
    def logits_under(self, trace: Trace, edits: Edits, *, rows: Sequence[int] | None = None) -> Tensor:
        """Logits `(copies, rows, vocab_size)` of one pass over copies of the first line of `trace`, one under each of
        the edits' rows; nothing is recorded. `rows` are those of the target that are asked for, or all.
        """
        sentence, run = trace.sentences[0], ForwardContext(edits)
        src = self._batch([sentence.src] * len(edits.rows))
        src_mask = self.network.src_mask(src)
        memory = self.network.encode(src, src_mask, run)
        hidden = self.network.decode(self._batch([sentence.tgt_in] * len(edits.rows)), memory, src_mask, run)
        return self.network.logits(hidden if rows is None else hidden[:, list(rows)])

    def _require(self, tgt_text: str | None, new_tokens: int | None, max_tokens: int) -> None:
        taken = ", ".join(self.inputs.names)
        if tgt_text is not None and tgt_text.strip() and self.is_decoder_only:
            raise ValueError(f"{self.name} takes no target: its inputs are {taken}.")
        if new_tokens is not None and not self.is_decoder_only:
            raise ValueError(f"{self.name} takes no new_tokens: only a decoder writes after its prompt.")
        require_count(new_tokens)
        require_room(max_tokens)

    def _in_force(self, interventions: Sequence[Intervention]) -> CheckedInterventions:
        return CheckedInterventions.check(interventions, self.shapes, self.model_id)

    def _read(self, text: str, tokens: Tokens) -> Sentence:
        """What is there before anything is written."""
        src, begun = self.lines.fed(tokens)
        return Sentence(tgt=begun, tgt_text=text, cut=True) if self.is_decoder_only else Sentence(src, src_text=text)

    def _written(
        self, tokens: Tokens, new_tokens: int | None, most: int, edits: Edits | None = None
    ) -> tuple[int, ...]:
        src, begun = self.lines.fed(tokens)
        limit = min(most, self.lines.limit(tokens, new_tokens))
        batches = self._batch([src]), self._batch([begun])
        return written(self.network, *batches, self.vocabulary, limit=limit, edits=edits)[0]

    @gradients_if_needed
    def _again(
        self, sentences: list[Sentence], probe: Probe | None, notes: tuple[str, ...] = (),
        changes: CheckedInterventions = NO_INTERVENTIONS,
    ) -> Trace:  # fmt: skip
        recorder, started, resolved = Recorder(), time.perf_counter(), changes.resolve(sentences)
        looking = resolved.chain_with(recorder)
        run = ForwardContext(looking if probe is None else Chain((probe, looking)))
        src, tgt_in = self._batch([each.src for each in sentences]), self._batch([each.tgt_in for each in sentences])
        src_mask = self.network.src_mask(src)
        memory = self.network.encode(src, src_mask, run)
        logits = self.network.logits(self.network.decode(tgt_in, memory, src_mask, run))
        rest = {
            "memory": None if self.is_decoder_only else memory, "logits": logits,
            "info": self._info(time.perf_counter() - started, (*notes, *resolved.notes)),
            "interventions": changes.interventions,
        }  # fmt: skip
        return Trace.from_recorder(recorder, sentences, **rest)

    def _batch(self, rows: Sequence[Sequence[Token]]) -> Tensor:
        return torch.tensor([[token.id for token in row] for row in rows], dtype=torch.long).view(len(rows), -1)

    def _info(self, forward: float, notes: tuple[str, ...]) -> RunInfo:
        return RunInfo(self.model_id, "", "cpu", "float32", forward, notes=notes)


def _prompt(sentence: Sentence) -> list[int]:
    """What stood there before the model wrote."""
    return [token.id for token in sentence.tgt_in if not token.segment] or [BOS]
