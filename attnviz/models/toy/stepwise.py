"""A toy's decoding, one token at a time with every step recorded."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from attnviz.learning.network import ToyNetwork
from attnviz.learning.words import ToyWords
from attnviz.learning.writing import ToyStepper
from attnviz.models.protocol import Step
from attnviz.text.tokens import Token
from attnviz.tracing.causes.resolution import NO_INTERVENTIONS, CheckedInterventions
from attnviz.tracing.causes.stepping import apply_edits
from attnviz.tracing.record import RunInfo, Sentence
from attnviz.tracing.recorder import Recorder
from attnviz.tracing.trace import Trace
from attnviz.transformer.decoding import Choose
from attnviz.transformer.layers import ForwardContext


@dataclass(frozen=True)
class ToyPlan:
    """How to decode: a source as typed and as tokens, what every target begins with, the ids that a teacher feeds (its
    own choices are fed where there are none), how many tokens may be written, and what is done to the run.
    """

    text: str
    src: tuple[Token, ...]
    begun: tuple[Token, ...]
    taught: tuple[int, ...] | None
    limit: int
    choose: Choose
    cached: bool
    changes: CheckedInterventions = NO_INTERVENTIONS


@torch.inference_mode()
def steps(network: ToyNetwork, words: ToyWords, plan: ToyPlan, info: RunInfo) -> Iterator[Step]:
    """Decode as planned, a `Step` at a time: the last row of its decoder maps is what the step computed."""
    encoder, resolved = Recorder(), plan.changes.resolve([_begun(words, plan)])
    src = torch.tensor([[token.id for token in plan.src]], dtype=torch.long)
    src_mask = network.src_mask(src)
    memory = network.encode(src, src_mask, ForwardContext(resolved.chain_with(encoder)))
    fed = [token.id for token in plan.begun] if plan.taught is None else list(plan.taught)
    total = len(fed) + (plan.limit - 1 if plan.taught is None else 0)
    stepper = ToyStepper(network, memory, src_mask, capacity=total, cached=plan.cached)
    fed_under = apply_edits(stepper, resolved.edits)
    for index in range(total):
        recorder, started = Recorder(), time.perf_counter()
        logits = fed_under.step(torch.tensor([fed[index]]), probe=recorder)
        seconds = time.perf_counter() - started
        chosen = int(plan.choose(words.rules.forbid(logits)))
        sentence = _sentence(words, plan, (*fed[: index + 1], chosen))
        sentence = replace(sentence, first_row=0 if stepper.cache is None else index)
        told = replace(info, forward_seconds=seconds)
        made = _step(sentence, stepper, (encoder, recorder), logits, told)
        yield replace(made, trace=replace(made.trace, interventions=plan.changes.interventions))
        if index + 1 == len(fed):
            if chosen in words.rules.ends:
                return
            fed.append(chosen)


def _begun(words: ToyWords, plan: ToyPlan) -> Sentence:
    """What is there before anything is written."""
    if not plan.src:
        return Sentence(tgt=plan.begun, tgt_text=plan.text, cut=True)
    taught = () if plan.taught is None else words.tokens(plan.taught)
    return Sentence(plan.src, taught, plan.text, words.text(plan.taught or ()), cut=True)


def _sentence(words: ToyWords, plan: ToyPlan, ids: tuple[int, ...]) -> Sentence:
    if plan.src:
        return Sentence(plan.src, words.tokens(ids), plan.text, words.text(ids))
    given = min(len(plan.begun), len(ids))
    text, tokens = words.continued(plan.text, plan.begun[:given], ids[given:])
    return Sentence(tgt=tokens, tgt_text=text)


def _step(
    sentence: Sentence, stepper: ToyStepper, recorders: tuple[Recorder, Recorder], logits: Tensor, info: RunInfo
) -> Step:
    encoder, own = recorders
    trace = Trace(
        encoder.calls | own.calls, encoder.contexts | own.contexts, encoder.layers | own.layers, (sentence,),
        memory=stepper.memory if sentence.src else None, logits=logits.unsqueeze(1), info=info,
    )  # fmt: skip
    tokens = sentence.tgt
    return Step(len(tokens) - 2, tokens[:-1], tokens[-1], logits[0], trace, seconds=info.forward_seconds)
