"""The runs behind the page Learning: a cache of recordings, and the queue of live runs."""

from functools import cache
from typing import TYPE_CHECKING

from attnviz.app.cache.bounded import BoundedCache

if TYPE_CHECKING:
    from attnviz.learning.live.runs import LiveRuns
    from attnviz.toys.experiment import Experiment
    from attnviz.toys.recording import Recording

_KEPT = 32  # recordings in the cache, half a megabyte at most each


@cache
def queue() -> "LiveRuns":
    """Return the queue of trainings that visitors watch, which has one worker process for this server."""
    from attnviz.learning.live.runs import LiveRuns

    return LiveRuns()


def recording_of(experiment: "Experiment") -> "Recording | None":
    """Return the shipped recording of an experiment; None if there is none.

    Raise ValueError with a message of one sentence for an unreadable file, such as one from another version.
    """
    from attnviz.toys import shipped

    return _recordings.get(experiment) if shipped.is_shipped(experiment) else None


def recording_or_none(experiment: "Experiment") -> "Recording | None":
    """Return the shipped recording of an experiment; None if there is none or it cannot be read."""
    try:
        return recording_of(experiment)
    except ValueError:
        return None


def openable_recording(experiment: "Experiment") -> "Recording | None":
    """Return a recording with weights: of a recent live run, or else a shipped one."""
    trained = queue().finished_recording(experiment)
    found = trained if trained is not None else recording_of(experiment)
    return found if found is not None and found.weights is not None else None


def _read(experiment: "Experiment", _progress: object = None) -> "Recording":
    from attnviz.toys import shipped
    from attnviz.toys.storage import toy_recording

    found = toy_recording(shipped.path(experiment))
    if found.experiment != experiment:
        raise ValueError(f"{shipped.path(experiment).name} holds another experiment: make recordings writes it again.")
    return found


_recordings: "BoundedCache[Experiment, Recording]" = BoundedCache(_read, most=_KEPT)
