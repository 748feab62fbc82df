"""The feed of live runs, a few times a second: how far each is, and its moments since the last time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attnviz.kit.wire import Blobs, Payload
from attnviz.learning.live.runs import LiveView
from attnviz.learning.widget.payload import describe_run, moments, run_key
from attnviz.toys.batches import watched_lines
from attnviz.toys.experiment import Experiment
from attnviz.toys.recording import recording_from_moments
from attnviz.toys.run import WATCHED


@dataclass(frozen=True)
class Piece:
    """A look at a run: `looked.moments` begin with number `since`."""

    experiment: Experiment
    looked: LiveView
    since: int


def feed_payload(pieces: Sequence[Piece]) -> Payload:
    """Pack looks at runs. Labels, which never change, come with a run's first moments."""
    blobs = Blobs()
    return Payload({"runs": [_piece(piece, blobs) for piece in pieces]}, blobs.join())


def _piece(piece: Piece, blobs: Blobs) -> Mapping[str, Any]:
    looked, about = piece.looked, piece.experiment.toy_task
    header: dict[str, Any] = {
        "key": run_key(piece.experiment),
        "state": looked.state,
        "ahead": looked.ahead,
        "since": piece.since,
    }
    if looked.moments:
        lines = tuple(watched_lines(about, WATCHED)) if not piece.since else ()
        found = recording_from_moments(piece.experiment, looked.moments, lines, {})
        header["moments"] = moments(found, blobs)
        if not piece.since:
            header["about"] = describe_run(found)
    return header
