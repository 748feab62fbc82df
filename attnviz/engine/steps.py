"""The steps of decoding as one message: the encoder's part of the trace once, and the decoder's part of each step."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace

from torch import Tensor

from attnviz.engine.message import Message, pack_trace
from attnviz.models.protocol import Step
from attnviz.text.tokens import Token
from attnviz.tracing.trace import Trace
from attnviz.transformer.beam import Hypothesis

_ENCODED = "encoded"


def to_message(steps: Sequence[Step], more: dict[str, Tensor]) -> Message:
    """Encode the steps as a message that also holds the tensors `more`."""
    tensors, meta = dict(more), []
    if steps:
        tensors[_ENCODED] = pack_trace(_part(steps[0].trace, of_encoder=True))
    for step in steps:
        tensors[f"step.{step.index}"] = pack_trace(_part(step.trace, of_encoder=False))
        tensors[f"logits.{step.index}"] = step.logits
        meta.append({
            "index": step.index, "seconds": step.seconds, "prefix": [asdict(token) for token in step.prefix],
            "token": asdict(step.token), "best": [asdict(token) for token in step.best],
            "hypotheses": [asdict(each) for each in step.hypotheses],
        })  # fmt: skip
    return Message({"steps": meta}, tensors)


def from_message(message: Message) -> Iterator[Step]:
    """Decode the steps, each combined with the encoder's part. Raises KeyError or TypeError for another message."""
    said = message.meta["steps"]
    encoded = message.trace(_ENCODED) if said else None
    for one in said:
        trace = message.trace(f"step.{one['index']}")
        assert encoded is not None  # there is a step
        trace = replace(
            trace,
            calls={**encoded.calls, **trace.calls},
            contexts={**encoded.contexts, **trace.contexts},
            layers={**encoded.layers, **trace.layers},
            memory=encoded.memory,
        )
        prefix, best = (tuple(Token(**token) for token in one[name]) for name in ("prefix", "best"))
        hypotheses = tuple(Hypothesis(**(each | {"ids": tuple(each["ids"])})) for each in one["hypotheses"])
        logits = message.tensors[f"logits.{one['index']}"]
        yield Step(one["index"], prefix, Token(**one["token"]), logits, trace, hypotheses, one["seconds"], best)


def _part(trace: Trace, *, of_encoder: bool) -> Trace:
    """Return the encoder's part of a trace, or everything else."""
    return replace(
        trace,
        calls={site: call for site, call in trace.calls.items() if (site.kind == "encoder_self") == of_encoder},
        contexts={site: one for site, one in trace.contexts.items() if (site.kind == "encoder_self") == of_encoder},
        layers={key: one for key, one in trace.layers.items() if (key[0] == "encoder") == of_encoder},
        memory=trace.memory if of_encoder else None,
        logits=None if of_encoder else trace.logits,
    )
