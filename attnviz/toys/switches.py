"""The switches of an experiment: a short label and a sentence for each part that can be left out or broken."""

from collections.abc import Sequence
from dataclasses import dataclass

from attnviz.toys.experiment import Experiment, experiment_of


@dataclass(frozen=True)
class Switch:
    """The words for a part that an experiment leaves out or breaks.

    `short` is the title of a run, `sentence` the entry in the list of switches.
    """

    short: str
    sentence: str


# By the part of an experiment's name (`attnviz.toys.experiment`).
SWITCHES = {
    "without-causal-mask": Switch("no causal mask", "The decoder sees the words that it has to write"),
    "leak-one-head": Switch("one head leaks", "One head of the first decoder layer sees later words"),
    "leak-one-token": Switch("one token leaks", "Every position sees one token too many"),
    "without-shifted-labels": Switch(
        "labels not shifted", "Each position has to output the word that it was given, not the next word"
    ),
    "without-positions": Switch("no positions", "Words, or patches, carry no position"),
    "without-padding-mask": Switch("no padding mask", "Attention treats padding like words"),
    "without-cross-attention": Switch("no cross-attention", "The decoder sees nothing of the source"),
    "pairs-30": Switch("30 pairs", "It trains on 30 pairs only"),
    "pairs-100": Switch("100 pairs", "It trains on 100 pairs only"),
    "pairs-300": Switch("300 pairs", "It trains on 300 pairs only"),
    "pairs-1000": Switch("1,000 pairs", "It trains on 1,000 pairs only"),
    "layers-1": Switch("1 layer", "It has one layer"),
    "layers-2": Switch("2 layers", "It has two layers"),
    "heads-1": Switch("1 head", "It has one head in each layer"),
    "heads-2": Switch("2 heads", "It has two heads in each layer"),
    "heads-4": Switch("4 heads", "It has four heads in each layer"),
    "d-model-64": Switch("d_model 64", "Its vectors have 64 numbers"),
    "without-scale": Switch("no 1/√d_k", "Scores are not divided by the square root of d_k"),
    "learning-rate-0.0003": Switch("learning rate 0.0003", "Its learning rate is a tenth as large"),
    "learning-rate-0.03": Switch("learning rate 0.03", "Its learning rate is ten times as large"),
    "learning-rate-0.1": Switch("learning rate 0.1", "Its learning rate is thirty times as large"),
}
NOTHING = "nothing left out"


def switches_for(task: str) -> list[str]:
    """Return the names of the parts that can be left out of a task's training, in display order."""
    return [part for part in SWITCHES if _changes_task(task, part)]


def switch(part: str) -> Switch:
    """Return the words for a part of an experiment's name, such as `without-causal-mask`.

    For a part that is not a listed switch, such as `steps-400`, they are made from the name.
    """
    if part in SWITCHES:
        return SWITCHES[part]
    name, _, value = part.rpartition("-")
    said = f"{name.replace('-', ' ')} {int(value):,}" if value.isdecimal() else part.replace("-", " ")
    return Switch(said, said[:1].upper() + said[1:])


def run_title(parts: Sequence[str]) -> str:
    """Return the title of a training run: the parts that are left out, or "Nothing left out"."""
    said = ", ".join(switch(part).short for part in parts)
    return said[:1].upper() + said[1:] if said else NOTHING[:1].upper() + NOTHING[1:]


def title_of(experiment: Experiment) -> str:
    """Return the title of an experiment's run, with its seed if that is not 1."""
    parts = [part for part in experiment.parts if not part.startswith("seed-")]
    seed = f", seed {experiment.seed}" if experiment.seed != 1 else ""
    return f"{run_title(parts)}{seed}"


def toy_title(experiment: Experiment) -> str:
    """Return the title of a toy in the list of models: its task and its switches."""
    told = title_of(experiment)
    return f"Toy: {experiment.toy_task.title}, {told[:1].lower()}{told[1:]}"


def _changes_task(task: str, part: str) -> bool:
    try:
        return experiment_of(task, [part]) != experiment_of(task)
    except ValueError:
        # A task of one head refuses a leak in one head, but another switch may allow it.
        return part == "leak-one-head" and not experiment_of(task).toy_task.is_image
