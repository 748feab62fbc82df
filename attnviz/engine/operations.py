"""The operations of the engine: each takes a message and returns the bytes of an answer.

No operation keeps state, so that any replica can answer, and answer a repeated request. Bad input raises ValueError,
and an error inside torch is a RuntimeError, each with a message of one sentence.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor

from attnviz.engine import probes, stepping
from attnviz.engine.message import Message, pack_trace
from attnviz.engine.probes import CannotTravelError
from attnviz.models.protocol import Model, TextGenerator
from attnviz.text.limits import cuts_are_shown
from attnviz.tracing import storage
from attnviz.tracing.causes import serialization
from attnviz.tracing.causes.edits import Edits
from attnviz.tracing.interventions import Chain
from attnviz.tracing.rounding import Rounding
from attnviz.tracing.trace import Trace
from attnviz.transformer.beam import Beam
from attnviz.transformer.decoding import Choose, Sampling, likeliest_ids
from attnviz.transformer.probe import Probe

_LOGITS_BYTES = 8 << 20  # most bytes of logits for the tokens that are generated ahead
_AHEAD = 16  # tokens
STATE = "choose.state"  # state of the random generator, before and after a run


def trace(model: Model, asked: Message) -> bytes:
    """Answer a request to run a model on texts; the answer is the saved trace."""
    with cuts_are_shown():
        made = model.trace(*asked.meta["args"], **_options(asked))
    return storage.to_bytes(_require_trace(made))


def rerun(model: Model, asked: Message) -> bytes:
    """Run one pass over a trace's sentences with a probe, and return the new trace and the states of random
    generators.
    """
    probe = probes.read(asked.meta["probe"], asked.tensors)
    again = _require_trace(model.rerun(asked.trace(), probe))
    states = {f"state.{n}": each.generator.get_state() for n, each in enumerate(roundings(probe))}
    return Message({}, {"trace": pack_trace(again), **states}).to_bytes()


def logits_under(model: Model, asked: Message) -> bytes:
    """Compute the logits of copies of a sentence, each copy with its own interventions."""
    edits = probes.read(asked.meta["probe"], asked.tensors)
    if not isinstance(edits, Edits):
        raise ValueError("The message has no edits for the copies of the run.")
    return Message({}, {"logits": model.logits_under(asked.trace(), edits, rows=asked.meta["rows"])}).to_bytes()


def stepwise(model: Model, asked: Message) -> bytes:
    """Answer a request to decode step by step; the answer holds every step."""
    choose, more = read_choice(asked.meta["choose"], asked.tensors, model.device), {}
    with cuts_are_shown():
        found = list(model.stepwise(*asked.meta["args"], choose=choose, **_options(asked)))
    if isinstance(choose, Sampling) and model.device.type == "cpu":
        more[STATE] = choose.generator.get_state()
    return stepping.to_message(found, more).to_bytes()


def ahead(model: Model, asked: Message) -> bytes:
    """Answer a request for the logits of the next steps of decoding: `(steps, batch, vocab_size)`.

    The steps are those after the prefix, and after the greedy tokens `chosen` that follow it. The prefix is fed in the
    same pieces as before, so that a cache holds the same; `rows` are the batch rows that are still running. Without a
    prefix, the answer is the ids that each text begins with, and the model's number of positions.
    """
    said, reading = asked.meta, probes.read(asked.meta["reading"], asked.tensors)
    with torch.inference_mode():
        writer = model.generator(asked.trace(), reading, cached=said["cached"], limit=said["limit"])
        if not said["pieces"]:
            return Message({"positions": writer.positions}, {"begun": writer.prompt_ids}).to_bytes()
        writing = probes.read(said["writing"], asked.tensors)
        return Message({}, _write_ahead(writer, asked, writing)).to_bytes()


def translate(model: Any, asked: Message) -> bytes:
    """Translate texts; the answer holds the translations, and notes on each."""
    notes: list[tuple[int, str]] = []
    how = _options(asked)
    if hasattr(model, "translate"):
        found = model.translate(asked.meta["texts"], tell=lambda index, note: notes.append((index, note)), **how)
    else:
        found = []
        for index, text in enumerate(asked.meta["texts"]):
            written, said = model.write_target(text, **how)
            found.append(written)
            notes += [(index, note) for note in said]
    return Message({"texts": found, "notes": notes}).to_bytes()


def words(model: Model, asked: Message) -> bytes:
    """Answer a request to decode ids to text and tokens, or to tokenize a text."""
    if "ids" in asked.meta:
        text, tokens = model.decode_ids(asked.meta["ids"])
    else:
        text, tokens = "", model.encode_target(asked.meta["text"], to=asked.meta["to"])
    return Message({"text": text, "tokens": [asdict(token) for token in tokens]}).to_bytes()


Operation = Callable[[Model, Message], bytes]
OPERATIONS: Mapping[str, Operation] = {
    one.__name__: one for one in (trace, rerun, logits_under, stepwise, ahead, translate, words)
}


def roundings(probe: Probe | None) -> list[Rounding]:
    """Return the parts of a probe that use random numbers, in order."""
    if isinstance(probe, Chain):
        return [found for each in probe.probes for found in roundings(each)]
    return [probe] if isinstance(probe, Rounding) else []


def _options(asked: Message) -> dict[str, Any]:
    done = serialization.read(asked.meta.get("interventions", ()), asked.tensors)
    return dict(asked.meta["how"]) | {"interventions": done}


def _require_trace(made: Any) -> Trace:
    if not isinstance(made, Trace):
        raise ValueError(
            made.missing_reason or "attnviz cannot look into this model's attention, so the engine cannot send it."
        )
    return made


def _write_ahead(writer: TextGenerator, asked: Message, probe: Probe | None) -> dict[str, Tensor]:
    said, prefix, stepper = asked.meta, asked.tensors["prefix"].to(writer.prompt_ids.device), writer.stepper
    if said["rows"] != list(range(len(writer.prompt_ids))):
        stepper.select_rows(torch.tensor(said["rows"], device=writer.prompt_ids.device))
    at, logits = 0, prefix.new_zeros((), dtype=torch.float)
    for length in said["pieces"]:
        start = at if said["cached"] else 0
        logits = stepper.step(prefix[:, at : at + length], probe=None if probe is None else probe.start_at(start))
        at += length
    found, fed = [logits], []
    for _ in range(ahead_of(logits, said["most"]) - 1):
        chosen = likeliest_ids(writer.vocabulary.forbid(logits))
        if bool(logits.isnan().any()) or set(chosen.tolist()) <= writer.vocabulary.ends:
            break
        start = at if said["cached"] else 0
        logits = stepper.step(chosen.unsqueeze(1), probe=None if probe is None else probe.start_at(start))
        found, fed, at = [*found, logits], [*fed, chosen], at + 1
    chosen = torch.stack(fed) if fed else prefix.new_zeros((0, len(logits)))
    return {"logits": torch.stack(found).float(), "chosen": chosen}


def ahead_of(logits: Tensor, most: int) -> int:
    """Return how many tokens to generate ahead; few for a large vocabulary, because the logits of each are sent."""
    return max(1, min(_AHEAD, most, _LOGITS_BYTES // max(1, 4 * logits.numel())))


def describe_choice(choose: Choose | Beam, tensors: dict[str, Tensor]) -> dict[str, Any]:
    """Encode how decoding chooses tokens as JSON types; a random generator's state goes into `tensors`.

    Raises CannotTravelError for any other choice than greedy, sampling and beam search.
    """
    if choose is likeliest_ids:
        return {"type": "likeliest"}
    if isinstance(choose, Beam):
        return {"type": "beam", "size": choose.size, "length_penalty": choose.length_penalty}
    if isinstance(choose, Sampling):
        tensors[STATE] = choose.generator.get_state()
        return {"type": "sampling", "seed": choose.generator.initial_seed(), "temperature": choose.temperature,
                "top_k": choose.top_k, "top_p": choose.top_p}  # fmt: skip
    raise CannotTravelError("The engine can only choose the likeliest token, sample, or search with a beam.")


def read_choice(said: Mapping[str, Any], tensors: Mapping[str, Tensor], device: torch.device) -> Choose | Beam:
    """Decode the result of `describe_choice`. A generator on another device than the CPU restarts from its seed."""
    rest = {name: value for name, value in said.items() if name not in ("type", "seed")}
    if said["type"] == "likeliest":
        return likeliest_ids
    if said["type"] == "beam":
        return Beam(**rest)
    generator = torch.Generator(device)
    if device.type == "cpu":
        generator.set_state(tensors[STATE])
    else:
        generator.manual_seed(int(said["seed"]))
    return Sampling(generator, **rest)
