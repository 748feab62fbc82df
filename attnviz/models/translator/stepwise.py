"""Decode one token at a time and record every step, and record the single pass that the steps should equal.

The page, the API and the command line all decode with `decode_steps` and `beam_steps`; this file adds the recording.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from attnviz.models.protocol import Step
from attnviz.models.transformer_model import ReadSource, TransformerModel
from attnviz.models.translator.faults import NO_FAULTS, Faults
from attnviz.text.limits import MAX_TOKENS
from attnviz.tracing.causes.edits import Edits
from attnviz.tracing.causes.resolution import NO_INTERVENTIONS, CheckedInterventions
from attnviz.tracing.interventions import Chain
from attnviz.tracing.record import Sentence
from attnviz.tracing.recorder import GroupedCalls, Recorder
from attnviz.tracing.trace import Trace
from attnviz.transformer.beam import Beam, Hypothesis, beam_steps
from attnviz.transformer.decoding import Choose, Ids, Logits, Stepper, Vocabulary, decode_steps, likeliest_ids
from attnviz.transformer.device import wait_for
from attnviz.transformer.dropout import Dropout
from attnviz.transformer.layers import ForwardContext
from attnviz.transformer.probe import Probe

AnyTransformer = TransformerModel[Any, Any]


@dataclass(frozen=True)
class Plan:
    """Options for decoding: the language, a teacher's ids (with `<bos>`; None to feed the model's own choices), faults
    and more.
    """

    to: str
    teacher: tuple[int, ...] | None = None
    cached: bool = True
    choose: Choose | Beam = likeliest_ids
    max_tokens: int = MAX_TOKENS
    faults: Faults = NO_FAULTS
    changes: CheckedInterventions = NO_INTERVENTIONS


@torch.inference_mode()
def steps(model: AnyTransformer, text: str, plan: Plan) -> Iterator[Step]:
    """Decode `text` as planned and yield a `Step` for each token. A prompt, or a teacher's ids, are fed token by token.

    Raises TextError for an empty sentence or an unknown language, and ValueError for a beam with a teacher.
    """
    if plan.teacher is not None and isinstance(plan.choose, Beam):
        raise ValueError("A beam chooses its own tokens, so it cannot use a teacher's prefix.")
    source, encoder = model.read(text, plan.to), Recorder()
    fed = plan.teacher or tuple(token.id for token in source.begun)
    limit = len(fed) - 1 + (min(plan.max_tokens, MAX_TOKENS) if plan.teacher is None else 0)
    dropout = plan.faults.make_dropout(1, model.device)
    known = source.initial_sentence if plan.teacher is None else model.sentence(source, plan.teacher)
    resolved = plan.changes.resolve([known])
    run = ForwardContext(plan.faults.probe(resolved.chain_with(encoder)), dropout)
    memory = model.model.encode(model.batch([source.src]), None, run)
    stepper = Stepper(model.model, memory, None, capacity=limit, cached=plan.cached)
    watched = RecordedSteps(plan.faults.apply(stepper), plan.faults, dropout, resolved.edits)
    common = _Common(model, replace(source, notes=(*source.notes, *resolved.notes)), encoder, plan)
    for choice in _choices(watched, torch.tensor([fed], device=model.device), model.vocabulary, plan, limit):
        yield common.step(watched, choice)


@torch.inference_mode()
def teacher_forced(  # noqa: PLR0913 - each is an option of the pass
    translator: AnyTransformer, text: str, ids: Sequence[int], *, to: str, faults: Faults = NO_FAULTS,
    padding: int = 0, probe: Probe | None = None, changes: CheckedInterventions = NO_INTERVENTIONS,
) -> Trace:  # fmt: skip
    """Run and record one pass over `ids[:-1]` (`<bos>` first), which training computes and every step should equal.

    `padding` adds that many `<pad>` to the target, as in a batch with a longer one. The probe is applied first, then
    the `changes`; the recorder sees both.
    """
    recorder, tgt = Recorder(), (*ids, *[translator.codec.pad_id] * padding)
    source, dropout = translator.read(text, to), faults.make_dropout(0, translator.device)
    sentence = translator.sentence(source, tgt)
    resolved = changes.resolve([sentence])
    looking = resolved.chain_with(recorder) if probe is None else Chain((probe, resolved.chain_with(recorder)))
    run, started = ForwardContext(faults.probe(looking), dropout), time.perf_counter()
    memory = translator.model.encode(translator.batch([source.src]), None, run)
    tgt_in = torch.tensor([tgt[:-1]], device=translator.device)
    logits = translator.model.logits(translator.model.decode(tgt_in, memory, None, run))
    wait_for(translator.device)
    info = translator.info(to, source.notes, forward=time.perf_counter() - started)
    rest = {"memory": memory, "logits": logits, "info": info, "interventions": changes.interventions}
    return Trace.from_recorder(recorder, [sentence], **rest)


@dataclass
class RecordedSteps:
    """A stepper that records every step, with faults and edits applied. It belongs to one run."""

    stepper: Stepper
    faults: Faults = NO_FAULTS
    dropout: Dropout | None = None
    edits: Edits | None = None
    recorder: Recorder = field(default_factory=Recorder)
    logits: Tensor | None = None
    seconds: float = 0.0

    def step(self, ids: Ids, /) -> Logits:
        """Feed the next token of every row; afterwards, `recorder` and `logits` hold this step's record."""
        started = time.perf_counter()
        self.recorder = Recorder()
        start = 0 if self.stepper.cache is None else self.stepper.prefix.shape[1]
        looking = self.recorder if self.edits is None else Chain((self.edits.start_at(start), self.recorder))
        logits = self.stepper.step(ids, probe=self.faults.probe(looking), dropout=self.dropout)
        wait_for(ids.device)
        self.logits, self.seconds = logits, time.perf_counter() - started
        return logits

    def select_rows(self, rows: Tensor, /) -> None:
        """Keep only these batch rows, in this order."""
        self.edits = None if self.edits is None else self.edits.select_rows(rows)
        self.stepper.select_rows(rows)


Choice = int | tuple[Hypothesis, ...]


def _choices(watched: RecordedSteps, fed: Tensor, vocabulary: Vocabulary, plan: Plan, limit: int) -> Iterator[Choice]:
    """Yield after each step the chosen id, or the hypotheses that a beam has kept; the ids `fed` are fed first."""
    first, teacher = fed[:, 0], fed[:, 1:]
    if isinstance(plan.choose, Beam):
        yield from beam_steps(watched, first, vocabulary, max_tokens=limit, beam=plan.choose)
        return
    for written in decode_steps(watched, first, vocabulary, max_tokens=limit, choose=plan.choose, teacher=teacher):
        yield written.ids[0]


@dataclass(frozen=True)
class _Common:
    """What all steps of one decoding share: the model, the source, the encoder's record and the plan."""

    model: AnyTransformer
    source: ReadSource
    encoder: Recorder
    plan: Plan

    def step(self, watched: RecordedSteps, choice: Choice) -> Step:
        """Return the record of the step that `watched` has just computed."""
        recorder, logits = watched.recorder, watched.logits
        assert logits is not None  # a step was made
        encoder = _repeat_record(self.encoder, len(logits))
        is_beam = isinstance(choice, tuple)
        sentences = self._sentences(watched, logits.argmax(dim=-1).tolist() if is_beam else [choice])
        trace = Trace(
            encoder.calls | recorder.calls,
            encoder.contexts | recorder.contexts,
            encoder.layers | recorder.layers,
            sentences,
            memory=self.model.memory_of(sentences[0], watched.stepper.memory),
            logits=logits.unsqueeze(1),
            info=self.model.info(self.plan.to, self.source.notes, forward=watched.seconds),
            interventions=self.plan.changes.interventions,
        )
        tokens = sentences[0].tgt
        hypotheses = choice if isinstance(choice, tuple) else ()
        best = self.model.codec.tokens((tokens[0].id, *hypotheses[0].ids)) if hypotheses else ()
        return Step(len(tokens) - 2, tokens[:-1], tokens[-1], logits[0], trace, hypotheses, watched.seconds, best)

    def _sentences(self, watched: RecordedSteps, chosen: list[int]) -> tuple[Sentence, ...]:
        prefixes = watched.stepper.prefix.tolist()
        first_row = 0 if watched.stepper.cache is None else len(prefixes[0]) - 1
        ids = [(*prefix, id_) for prefix, id_ in zip(prefixes, chosen, strict=True)]
        return tuple(replace(self.model.sentence(self.source, row), first_row=first_row) for row in ids)


def _repeat_record(encoder: Recorder, rows: int) -> Recorder:
    """Expand the encoder's record, which all rows of a beam share, to a batch axis of size `rows`, without copying."""

    def repeat(tensor: Tensor) -> Tensor:
        return tensor.expand(rows, *tensor.shape[1:])

    calls = GroupedCalls({site: encoder.calls.as_kept(site).map_tensors(repeat) for site in encoder.calls})
    contexts = {site: repeat(context) for site, context in encoder.contexts.items()}
    return Recorder(calls, contexts, {place: repeat(output) for place, output in encoder.layers.items()})
