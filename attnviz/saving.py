"""`attnviz.save`: write a trace, or another result, as one npz file."""

from pathlib import Path

from attnviz.guards.arguments import reads_arguments
from attnviz.toys.recording import Recording
from attnviz.toys.storage import save as save_recording
from attnviz.toys.translator.recording import TranslatorRecording
from attnviz.tracing.external.weights import BareWeights
from attnviz.tracing.storage import save as save_trace
from attnviz.tracing.trace import Trace


@reads_arguments
def save(made: Trace | BareWeights | Recording | TranslatorRecording, path: str | Path, *, maps: bool = True) -> None:
    """Write a trace or a recording as npz; `attnviz.load_trace` and `attnviz.load_recording` read it again.

    With `maps`, a trace's weights and scores are written too, which `load_trace` would compute again. The keys of the
    file are listed in `attnviz.tracing.storage` and `attnviz.toys.storage`.
    """
    if isinstance(made, Recording | TranslatorRecording):
        save_recording(made, path)
    else:
        save_trace(made, path, maps=maps)
