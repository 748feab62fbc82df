"""`python -m attnviz learn reverse --without causal-mask --seed 1 --out run.npz`: train a toy and save its
recording.
"""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attnviz.toys.recording import Recording
    from attnviz.toys.run import Moment

_CHOICES = ("seed", "leak", "pairs", "layers", "heads", "d_model", "d_ff", "steps", "learning_rate")


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments. An omitted one keeps the task's default."""
    parser.add_argument("task", help="french, reverse, sort, twice, add or digits")
    parser.add_argument("--out", type=Path, help="an .npz file; attnviz.toys.storage lists its keys")
    parser.add_argument("--without", action="append", default=[], metavar="NAME",
                        help="what to leave out (repeatable): causal-mask, shifted-labels, positions, padding-mask, "
                            "cross-attention, scale")  # fmt: skip
    parser.add_argument("--leak", default="", help="one-head or one-token: where the causal mask leaks")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first weights and of the lines drawn")
    parser.add_argument("--pairs", type=int, help="how many lines to train on (default: all)")
    for name in ("layers", "heads", "d-model", "d-ff", "steps"):
        parser.add_argument(f"--{name}", type=int)
    parser.add_argument("--learning-rate", type=float)
    parser.add_argument("--json", action="store_true", help="the scores as one JSON object")


def line(options: argparse.Namespace) -> str:
    """Train a toy, write its recording, and return its scores as a line.

    Raises ValueError for unusable arguments, and OSError if the file cannot be written.
    """
    import attnviz
    from attnviz.guards import plain_file
    from attnviz.toys.experiment import Experiment

    if options.out is not None:  # before the run, not after it
        plain_file.require_place(options.out)
    choices: dict[str, Any] = {name: getattr(options, name) for name in _CHOICES}
    choices["without"] = tuple(options.without)
    with _Bar(Experiment(options.task, **choices).size.steps) as bar:
        recording = attnviz.learn(options.task, watch=bar, **choices)
    if options.out is not None:
        attnviz.save(recording, options.out)
    return _format_scores(recording, options.json)


def _format_scores(recording: "Recording", as_json: bool) -> str:
    """Format the scores as one line of text or JSON."""
    if as_json:
        return json.dumps(dict(recording.scores))
    return ", ".join(f"{name} {score:.4f}" for name, score in recording.scores.items())


class _Bar:
    """A progress bar on standard error, drawn only if that is a terminal."""

    def __init__(self, steps: int) -> None:
        from tqdm import tqdm

        self._bar: Any = tqdm(total=steps, unit=" updates", disable=None)

    def __call__(self, moment: "Moment") -> None:
        self._bar.update(moment.step - self._bar.n)
        self._bar.set_postfix(
            loss=f"{moment.losses[-1]:.4f}" if moment.losses else "-",
            teacher_prefix=f"{moment.teacher_prefix:.2f}",
            own_prefix=f"{moment.own_prefix:.2f}",
        )

    def __enter__(self) -> "_Bar":
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()
