"""Running a trained toy on a typed line: its output, and the maps of each head."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from attnviz.models.toy.toy import Toy
from attnviz.toys.tasks.task import Words
from attnviz.tracing.record import Sentence
from attnviz.transformer.probe import Kind


@dataclass(frozen=True, eq=False)
class OwnLine:
    """A toy's output for a typed line.

    `right` is the correct answer, or None if the line is not one of the task's. `maps` has for each kind the attention
    `(layers, heads, q_len, k_len)` while the toy writes `wrote` from its own prefix, as uint8 with 255 for 1.
    """

    src: Words
    wrote: Words
    right: Words | None
    sentence: Sentence
    maps: Mapping[Kind, np.ndarray]


def own_line(toy: Toy, text: str) -> OwnLine:
    """Run a toy on a line. Raise TextError for an empty line, or for a word that the toy does not know."""
    source = toy.read(text)
    src = toy.codec.words([token.id for token in source.src or source.begun])
    wrote = tuple(toy.write(text).split())
    trace = toy.trace(text, new_tokens=max(1, len(wrote)) if toy.is_decoder_only else None)
    maps: dict[Kind, np.ndarray] = {kind: (trace.attn(kind) * 255).round().byte().numpy() for kind in trace.kinds}
    return OwnLine(src, wrote, toy.experiment.toy_task.answer(src), trace.sentences[0], maps)
