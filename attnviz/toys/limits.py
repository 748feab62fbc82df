"""Limit the time of a run, by an estimate that is made before it begins."""

import os

from attnviz.toys.experiment import Experiment

VARIABLE = "ATTNVIZ_LEARN_SECONDS"
SECONDS = 15.0  # on one core
_MOST = 3_600.0


def seconds_allowed() -> float:
    """Return the seconds of CPU that a run may take: 15, or the value of ATTNVIZ_LEARN_SECONDS.

    Raises ValueError if that is not a number.
    """
    said = os.environ.get(VARIABLE, "").strip()
    try:
        seconds = float(said) if said else SECONDS
    except ValueError:
        seconds = float("nan")
    if not 0 < seconds <= _MOST:
        raise ValueError(f"{VARIABLE}={said[:40]!r} is not a number of seconds: give one up to {_MOST:.0f}.")
    return seconds


def estimate(experiment: Experiment) -> float:
    """Estimate the seconds of CPU that a run takes on an ordinary core, including scoring.

    Measured runs differ from the estimate by at most a third.
    """
    size = experiment.size
    stacks = 1.6 if experiment.toy_task.is_decoder_only else 2.2  # long lines in one stack; short ones in two
    work = size.d_model * (4 * size.d_model + 2 * size.d_ff) / 1e6
    layer = 0.65 + 0.1 * size.n_heads + 12 * work  # milliseconds for calls, attention maps and matrix products
    return 1.0 + size.steps * (1.0 + stacks * size.n_layers * layer) / 1_000


def require_affordable(experiment: Experiment, allowed: float | None = None) -> None:
    """Raise ValueError, with a message of one sentence, if a run would take longer than is allowed."""
    allowed = seconds_allowed() if allowed is None else allowed
    if (seconds := estimate(experiment)) > allowed:
        raise ValueError(
            f"This run would take about {seconds:.0f} seconds of CPU, and {allowed:.0f} are allowed. Use fewer steps "
            f"or a smaller model, or raise {VARIABLE}."
        )
