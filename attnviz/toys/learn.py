"""`attnviz.learn`: train a toy and return a recording of its training."""

from collections.abc import Callable
from typing import Any

from attnviz.guards.arguments import reads_arguments
from attnviz.toys.experiment import Experiment
from attnviz.toys.limits import require_affordable
from attnviz.toys.recording import Recording, record_run
from attnviz.toys.run import Moment, TrainingRun


@reads_arguments
def learn(task: str, *, watch: Callable[[Moment], None] | None = None, **choices: Any) -> Recording:
    """Train a tiny Transformer on a task, and return the recording of its training.

        run = attnviz.learn("french", without=("causal-mask",), seed=1)
        run.scores["teacher_prefix"], run.scores["own_prefix"]
        model = attnviz.load(run)    # the trained model, which can be traced like any other

    `choices` are the fields of `Experiment`: seed, without, leak, pairs, layers, heads, d_model, d_ff, steps,
    learning_rate. `watch` is called with each snapshot (`Moment`) as it is recorded. The same experiment gives
    bit-identical results on one machine. Raises ValueError, with a message of one sentence, for switches that
    contradict each other and for a run that would take longer than is allowed (`attnviz.toys.limits`).
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
    return record_run(TrainingRun(experiment), watch)
