"""Toys as models by name, `toy:french-without-causal-mask`: shipped with the package, or trained by this server.

A link carries the name. The same experiment has the same weights on one machine, so that the name says which they are.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from attnviz.doors import door
from attnviz.models.catalogue import TOY, Entry, toy_of

if TYPE_CHECKING:
    from attnviz.models.toy.image_toy import ImageToy
    from attnviz.models.toy.toy import Toy
    from attnviz.toys.experiment import Experiment


def is_toy(name: str) -> bool:
    """Check whether a model's name is that of a toy."""
    return name.startswith(TOY)


def entry(name: str) -> Entry:
    """Return the entry of a toy for the list of models."""
    from attnviz.toys.experiment import experiment_named
    from attnviz.toys.switches import toy_title

    try:
        experiment = experiment_named(name.removeprefix(TOY))
    except ValueError:
        return Entry(name, Path(name), name[:60], ())
    return Entry(name, Path(name), toy_title(experiment), ())


def name_of(experiment: "Experiment") -> str:
    """Return the name under which a toy is opened."""
    return TOY + experiment.name


def toy(name: str) -> "Toy | ImageToy":
    """Open a toy by its name. Raises ValueError if no toy has this name, or if the toy is no longer stored."""
    from attnviz.toys.experiment import experiment_named

    experiment = experiment_named(name.removeprefix(TOY))
    recording = door("openable_recording")(experiment)
    if recording is None:
        raise ValueError(f"The toy {experiment.name} is no longer stored here. Open Learning and train it again.")
    return toy_of(recording, entry(name).title)
