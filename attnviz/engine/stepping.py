"""Decode on an engine that keeps no state: each request sends the whole prefix, each answer has some tokens ahead."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace

import torch
from torch import Tensor

from attnviz.engine import probes
from attnviz.engine.message import Message, pack_trace, strip_numbers
from attnviz.models.protocol import Step
from attnviz.text.tokens import Token
from attnviz.tracing.causes.edits import Edits
from attnviz.tracing.trace import Trace
from attnviz.transformer.beam import Hypothesis
from attnviz.transformer.probe import Probe

_ENCODED = "encoded"
Ask = Callable[[str, Message], bytes]
_AHEAD = 16  # tokens at most


class RemoteStepping:
    """A remote decoder: it is fed tokens and returns the logits of the next token. It belongs to one run.

    The engine continues with its most likely tokens; as long as these are fed, their logits are already here.
    """

    def __init__(
        self, ask: Ask, trace: Trace, reading: Probe | None, lengths: Mapping[str, Iterable[tuple[int, int]]], *,
        cached: bool, limit: int,
    ) -> None:  # fmt: skip
        self._ask, self._trace, self._reading, self._lengths = ask, pack_trace(strip_numbers(trace)), reading, lengths
        self._cached, self._limit = cached, limit
        self._rows, self._pieces = list(range(len(trace.sentences))), list[int]()
        self._prefix = torch.empty(len(self._rows), 0, dtype=torch.long)
        self._known: list[tuple[Tensor, Tensor]] = []  # the engine's next tokens, and the logits after each
        self._probe: Probe | None = None

    def begin(self) -> tuple[Tensor, int | None]:
        """Return the ids that each text begins with, `(batch, length)`, and the model's number of positions."""
        answer = self._request([], None, 0)
        return answer.tensors["begun"], answer.meta["positions"]

    def step(self, ids: Tensor, *, probe: Probe | None = None) -> Tensor:
        """Feed the next ids `(batch,)` or several `(batch, length)`, and return the logits `(batch, vocab_size)` after
        them.
        """
        new = (ids.unsqueeze(1) if ids.dim() == 1 else ids).cpu()
        self._prefix, self._pieces = torch.cat((self._prefix, new), dim=1), [*self._pieces, new.shape[1]]
        if self._known and probes.is_same(probe, self._probe) and torch.equal(self._known[0][0], new):
            return self._known.pop(0)[1]
        answer = self._request(self._pieces, probe, max(1, self._limit - self._prefix.shape[1] + 1))
        found, self._probe = answer.tensors["logits"], probe
        self._known = [
            (one.unsqueeze(1), after) for one, after in zip(answer.tensors["chosen"], found[1:], strict=True)
        ]
        return found[0]

    def select_rows(self, rows: Tensor) -> None:
        """Keep only these batch rows, in this order."""
        kept: Sequence[int] = rows.tolist()
        self._rows, self._prefix = [self._rows[row] for row in kept], self._prefix[kept]
        self._known = [(fed[kept], logits[kept]) for fed, logits in self._known]
        if isinstance(self._probe, Edits):
            self._probe = self._probe.select_rows(kept)

    def _request(self, pieces: Sequence[int], probe: Probe | None, most: int) -> Message:
        tensors = {"trace": self._trace, "prefix": self._prefix}
        most = min(most, _AHEAD)
        writing = probes.describe(
            None if probe is None else probe.start_at(0), self._step_lengths(pieces, most), tensors
        )
        meta = {
            "reading": probes.describe(self._reading, self._lengths, tensors), "writing": writing,
            "cached": self._cached, "limit": self._limit, "rows": self._rows, "pieces": list(pieces), "most": most,
        }  # fmt: skip
        return Message.from_bytes(self._ask("ahead", Message(meta, tensors)))

    def _step_lengths(self, pieces: Sequence[int], most: int) -> dict[str, list[tuple[int, int]]]:
        """Return the query and key lengths, by kind, of every step that the engine will compute."""
        ends = [sum(pieces[: count + 1]) for count in range(len(pieces))]
        ends += range(ends[-1] + 1, ends[-1] + most) if ends else ()
        src = {k_len for _, k_len in self._lengths["cross"]}
        return {
            "encoder_self": list(self._lengths["encoder_self"]),
            "decoder_self": [(end, end) for end in ends],
            "cross": [(end, k_len) for end in ends for k_len in src],
        }


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
    """Return only the part of a trace that belongs to the encoder, or, without `of_encoder`, only the rest."""
    return replace(
        trace,
        calls={site: call for site, call in trace.calls.items() if (site.kind == "encoder_self") == of_encoder},
        contexts={site: one for site, one in trace.contexts.items() if (site.kind == "encoder_self") == of_encoder},
        layers={key: one for key, one in trace.layers.items() if (key[0] == "encoder") == of_encoder},
        memory=trace.memory if of_encoder else None,
        logits=None if of_encoder else trace.logits,
    )
