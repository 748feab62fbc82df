"""Where a trace comes from."""

from dataclasses import dataclass


@dataclass(frozen=True)
class RunInfo:
    """Where a trace comes from: the weights' id, language, device and dtype, and what was said about the input.

    `forward_seconds` is the pass that was recorded, `decoding_seconds` the step-by-step decoding before it.
    """

    model_id: str = ""
    to: str = ""
    device: str = "cpu"
    dtype: str = "float32"
    forward_seconds: float = 0.0
    decoding_seconds: float = 0.0
    notes: tuple[str, ...] = ()
