"""The recordings that come with attnviz and that its lessons quote. `make recordings` makes them again."""

from pathlib import Path

from attnviz.places import ASSETS
from attnviz.toys.experiment import Experiment

FOLDER = ASSETS / "recordings"

# With weights, so that the model can be opened. The others show only the run, and their files are half as large.
WITH_WEIGHTS = (
    Experiment("french"),
    Experiment("french", without=("causal-mask",)),
    Experiment("reverse"),
    Experiment("reverse", without=("causal-mask",)),
    Experiment("sort"),
    Experiment("french", leak="one-head"),
    Experiment("french", without=("positions",)),
    Experiment("french", without=("cross-attention",)),
    Experiment("reverse", without=("padding-mask",)),
    Experiment("sort", without=("positions",)),
    Experiment("twice"),
    Experiment("digits"),
    Experiment("digits", without=("positions",)),
)
WITHOUT_WEIGHTS = (
    Experiment("french", without=("shifted-labels",)),
    Experiment("french", pairs=30),
    Experiment("french", pairs=100),
    Experiment("french", pairs=300),
    Experiment("reverse", leak="one-token"),
    Experiment("reverse", without=("positions",)),
    Experiment("reverse", heads=1, d_model=64, seed=2),
    Experiment("reverse", heads=1, d_model=64, seed=2, without=("scale",)),
    Experiment("sort", without=("causal-mask",)),
    Experiment("twice", layers=1),
    Experiment("twice", heads=1),
    Experiment("twice", without=("causal-mask",)),
    Experiment("add"),
)


def path(experiment: Experiment) -> Path:
    """Return the path of an experiment's recording, if it is shipped."""
    return FOLDER / f"{experiment.name}.npz"


def is_shipped(experiment: Experiment) -> bool:
    """Whether the experiment's recording comes with attnviz."""
    return path(experiment).is_file()
