"""Data for the Learning component about a translator's training: curves, and every head's maps for each watched
sentence.

The layout is that of a toy's run (`attnviz.learning.widget.payload`): a header, and the compressed recorded steps.
"""

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.kit.wire import Blobs
from attnviz.learning.widget.payload import Packed, kind_header, packed_key
from attnviz.text.display import display
from attnviz.toys.translator.recording import TranslatorRecording, WatchedLine

MOST_WRITTEN = 400  # maximum characters of a line


@dataclass(frozen=True, eq=False)
class ShownTranslator:
    """A translator's training as the page shows it; `packed` is the result of `pack` for its recording."""

    title: str
    packed: Packed

    @property
    def key(self) -> str:
        """A short id, the same for equal trainings."""
        return packed_key(self.packed)

    def header(self, blobs: Blobs) -> dict[str, Any]:
        """Return this training's part of the payload's header."""
        said, content = self.packed
        return {
            "key": self.key,
            "name": "translator",
            "title": self.title,
            "state": "recorded",
            "note": "",
            "outcome": [],
            "trained": False,
            **said,
            "packed": [blobs.add(np.frombuffer(content, dtype=np.uint8)), len(content)],
        }


def pack(recording: TranslatorRecording) -> Packed:
    """Return a recording's part of a header, and its recorded steps compressed."""
    blobs = Blobs()
    said = {"about": _describe(recording), "moments": _moments(recording, blobs)}
    return said, zlib.compress(blobs.join(), 6)


def _describe(recording: TranslatorRecording) -> dict[str, Any]:
    """Describe what is the same at every step: sentences with their kinds, names of scores, and the loss of
    guessing.
    """
    return {
        "of": "translator",
        "sentences": [_sentence(recording, at, line) for at, line in enumerate(recording.lines)],
        "curves": list(recording.scores),
        "guess": recording.guess,
        "vocabulary": recording.vocab_size,
        "updates": recording.steps[-1],
    }


def _sentence(recording: TranslatorRecording, at: int, line: WatchedLine) -> dict[str, Any]:
    sentence = line.sentence
    return {
        "to": display(line.to),
        "src": _cut(sentence.src_text),
        "tgt": _cut(sentence.tgt_text),
        "learned": line.learned,
        "kinds": [kind_header(kind, sentence, maps.shape[1:]) for kind, maps in recording.maps[at].items()],
    }


def _moments(recording: TranslatorRecording, blobs: Blobs) -> dict[str, Any]:
    """Pack the curves and maps of each recorded step, maps by sentence and then by kind; return the offsets."""
    count = len(recording.steps)
    maps = [found.reshape(count, -1) for of_line in recording.maps for found in of_line.values()]
    return {
        "steps": list(recording.steps),
        "curves": blobs.add(np.stack([recording.held_out_loss, *recording.scores.values()], axis=1).astype("<f4")),
        "maps": blobs.add(np.concatenate(maps, axis=1)),
        "wrote": [list(map(_cut, texts)) for texts in recording.wrote],
    }


def _cut(text: str) -> str:
    shown = display(text)
    return shown if len(shown) <= MOST_WRITTEN else shown[:MOST_WRITTEN].rstrip() + " …"
