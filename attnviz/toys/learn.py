"""`attnviz.learn`: train a toy and return a recording of its training."""

import os
from collections.abc import Callable
from typing import Any

from attnviz.guards.arguments import reads_arguments
from attnviz.toys.experiment import Experiment
from attnviz.toys.recording import Recording, record
from attnviz.toys.run import Moment

VARIABLE = "ATTNVIZ_LEARN_SECONDS"
SECONDS = 15.0  # on one core
_MOST = 3_600.0


@reads_arguments
def learn(task: str, *, watch: Callable[[Moment], None] | None = None, **choices: Any) -> Recording:
    """Train a tiny Transformer on a task, and return the recording of its training.

        run = attnviz.learn("french", without=("causal-mask",), seed=1)
        run.scores["teacher_prefix"], run.scores["own_prefix"]
        model = attnviz.load(run)    # the trained model, which can be traced like any other

    `choices` are the fields of `Experiment`: seed, without, leak, pairs, layers, heads, d_model, d_ff, steps,
    learning_rate. `watch` is called with each snapshot (`Moment`) as it is recorded. The same experiment gives
    bit-identical results on one machine. Raises ValueError, with a message of one sentence, for switches that
    contradict each other and for a run that would take longer than is allowed.
    """
    try:
        experiment = Experiment(task, **choices)
    except TypeError:
        if not set(choices) - set(Experiment.__dataclass_fields__):
            raise
        known = ", ".join(Experiment.__dataclass_fields__)
        unknown = ", ".join(sorted(set(choices) - set(Experiment.__dataclass_fields__)))
        raise ValueError(f"learn() takes {known}; it does not take {unknown}.") from None
    require_affordable(experiment)
    return record(experiment, watch)


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
        raise ValueError(
            f"{VARIABLE}={said[:40]!r} is not a number of seconds. Please set it to a number up to {_MOST:.0f}."
        )
    return seconds


def estimate(experiment: Experiment) -> float:
    """Estimate the seconds of CPU that a run takes on an ordinary core, including scoring.

    Measured runs differ from the estimate by at most a third.
    """
    size = experiment.size
    # Long lines in one stack; short ones in two; 17 tokens in one.
    stacks = 1.6 if experiment.toy_task.is_decoder_only else 1.0 if experiment.toy_task.is_image else 2.2
    work = size.d_model * (4 * size.d_model + 2 * size.d_ff) / 1e6
    layer = 0.65 + 0.1 * size.n_heads + 12 * work  # milliseconds for calls, attention maps and matrix products
    return 1.0 + size.steps * (1.0 + stacks * size.n_layers * layer) / 1_000


def require_affordable(experiment: Experiment, allowed: float | None = None) -> None:
    """Raise ValueError, with a message of one sentence, if a run would take longer than is allowed."""
    allowed = seconds_allowed() if allowed is None else allowed
    if (seconds := estimate(experiment)) > allowed:
        raise ValueError(
            f"This run would take about {seconds:.0f} seconds of CPU time, but only {allowed:.0f} are "
            f"allowed. Please use fewer steps or a smaller model, or raise {VARIABLE}."
        )
