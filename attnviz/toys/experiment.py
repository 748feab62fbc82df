"""An experiment: a task, sizes, a seed, and what is left out or broken. Equal experiments give bit-identical results.

An experiment has a name, such as `french-without-causal-mask-seed-2`, from which it can be read again.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from attnviz.toys.tasks.catalogue import task
from attnviz.toys.tasks.task import Defaults, ToyTask
from attnviz.transformer.config import ModelConfig

# What may be left out, and the effect.
WITHOUT = {
    "causal-mask": "the decoder sees the words that it has to write",
    "shifted-labels": "each position has to output the word that it was given, not the next word",
    "positions": "words, or patches of an image, carry no position",
    "padding-mask": "attention treats the padding that fills a batch like words",
    "cross-attention": "the decoder sees nothing of the source",
    "scale": "scores are not divided by the square root of d_k",
}
# How a causal mask may leak.
LEAKS = {
    "": "it does not",
    "one-head": "one head of the first decoder layer sees later words",
    "one-token": "every position sees one token too many",
}
_OF_IMAGES = ("positions", "scale")  # of `WITHOUT`, what an encoder of images has
MOST_PAIRS = 5_000  # with more pairs, a toy learns as well as with all
_BOUNDS = {
    "seed": (0, 2**31 - 1), "layers": (1, 6), "heads": (1, 16), "d_model": (2, 256), "d_ff": (1, 1_024),
    "steps": (1, 20_000), "pairs": (1, MOST_PAIRS),
}  # fmt: skip
_WHOLE = ("seed", "pairs", "layers", "heads", "d-model", "d-ff", "steps")
_PART = re.compile(
    rf"(?P<without>without-(?:{'|'.join(WITHOUT)}))|(?P<leak>leak-(?:{'|'.join(filter(None, LEAKS))}))"
    rf"|(?P<whole>(?:{'|'.join(_WHOLE)})-[0-9]{{1,10}})|(?P<rate>learning-rate-[0-9]{{0,3}}\.?[0-9]{{1,9}}(?:e-[0-9]{{1,2}})?)"
)
_NAME = re.compile(rf"([a-z]{{1,20}})((?:-(?:{re.sub(r'[?]P<[a-z]+>', '?:', _PART.pattern)}))*)")
MOST = 300  # characters of a name


@dataclass(frozen=True)
class Experiment:
    """One fully specified training run. None means the task's default; `pairs` None means all pairs.

    Raises ValueError, with a message of one sentence, for sizes that cannot be built and for switches that contradict
    each other.
    """

    task: str
    seed: int = 1
    without: tuple[str, ...] = ()
    leak: str = ""
    pairs: int | None = None
    layers: int | None = None
    heads: int | None = None
    d_model: int | None = None
    d_ff: int | None = None
    steps: int | None = None
    learning_rate: float | None = None

    def __post_init__(self) -> None:
        own = task(self.task).defaults
        known = {
            "layers": own.n_layers, "heads": own.n_heads, "d_model": own.d_model, "d_ff": own.d_ff, "steps": own.steps,
            "learning_rate": own.learning_rate,
        }  # fmt: skip
        for name, value in known.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)
        object.__setattr__(self, "without", _parse_without(self.without))
        self._check_numbers()
        self._check_switches()
        self.config(1)  # raises ValueError for sizes that do not fit each other

    @property
    def toy_task(self) -> ToyTask:
        """The task of the experiment."""
        return task(self.task)

    @property
    def size(self) -> Defaults:
        """The sizes and the schedule, with all defaults filled in."""
        return replace(
            self.toy_task.defaults, n_layers=self.layers, n_heads=self.heads, d_model=self.d_model, d_ff=self.d_ff,
            steps=self.steps, learning_rate=self.learning_rate,
        )  # fmt: skip  # pyright: ignore[reportArgumentType]

    @property
    def key(self) -> str:
        """A cache key, equal for two experiments that train the same model."""
        return json.dumps(self.to_dict(), sort_keys=True)

    @property
    def parts(self) -> tuple[str, ...]:
        """The settings that differ from the task's defaults, such as `("without-causal-mask", "seed-2")`."""
        usual = Experiment(self.task)
        parts = [f"without-{name}" for name in self.without]
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name not in ("task", "without") and value != getattr(usual, field.name):
                parts.append(f"{field.name.replace('_', '-')}-{value}")
        return tuple(parts)

    @property
    def name(self) -> str:
        """A short name, also used for files: the task, and all settings that differ from its defaults."""
        return "-".join((self.task, *self.parts))

    @property
    def is_causal(self) -> bool:
        """Whether no position sees later positions."""
        return "causal-mask" not in self.without and not self.leak

    def config(self, vocab_size: int) -> ModelConfig:
        """Return the config of the Transformer to train."""
        size = self.size
        return ModelConfig(
            vocab_size, d_model=size.d_model, n_heads=size.n_heads, n_layers=size.n_layers, d_ff=size.d_ff,
            positions="positions" not in self.without and not self.toy_task.is_image,  # of patches they are learned
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Return the experiment as plain JSON types, which `from_dict` reads."""
        return asdict(self) | {"without": list(self.without)}

    @classmethod
    def from_dict(cls, said: Any) -> "Experiment":
        """Read the result of `to_dict`. Raises ValueError for anything else."""
        if not isinstance(said, dict) or "task" not in said:
            raise ValueError("an experiment has to name its task")
        if unknown := sorted(set(said) - {field.name for field in fields(cls)}, key=str):
            raise ValueError(f"it has an unknown setting {_display_value(unknown[0])!r}")
        return cls(**said)

    def _check_numbers(self) -> None:
        for name, (least, most) in _BOUNDS.items():
            value = getattr(self, name)
            if name == "pairs" and value is None:
                continue
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
                raise ValueError(f"{name} is a whole number from {least} to {most:,}, not {_display_value(value)}.")
        size = self.size
        if size.d_model % size.n_heads:
            raise ValueError(
                f"d_model must be a multiple of the number of heads, but {size.d_model} is not a multiple "
                f"of {size.n_heads}."
            )
        rate = self.learning_rate
        if isinstance(rate, bool) or not isinstance(rate, int | float) or not 1e-6 <= rate <= 0.3:
            raise ValueError(f"learning_rate is a number from 0.000001 to 0.3, not {_display_value(rate)}.")
        object.__setattr__(self, "learning_rate", float(rate))

    def _check_switches(self) -> None:
        if not isinstance(self.leak, str) or self.leak not in LEAKS:
            raise ValueError(f"leak is one of {', '.join(filter(None, LEAKS))}, not {_display_value(self.leak)!r}.")
        self._check_switches_of_images()
        if self.leak and "causal-mask" in self.without:
            raise ValueError("Without a causal mask everything is visible already, so nothing can leak.")
        if self.leak == "one-head" and self.heads == 1:
            raise ValueError(
                "In a model with a single head, a leak in one head is the same as no causal mask. "
                "Please leave out causal-mask instead of using a leak."
            )
        if self.toy_task.is_decoder_only:
            for name, what in (
                ("cross-attention", "cross-attention"),
                ("padding-mask", "padding: all its lines have the same length"),
            ):
                if name in self.without:
                    raise ValueError(f"The task {self.task} is learned by a decoder-only model, which has no {what}.")

    def _check_switches_of_images(self) -> None:
        absent = [name for name in self.without if name not in _OF_IMAGES] + ["causal-mask"] * bool(self.leak)
        if self.toy_task.is_image and absent:
            raise ValueError(
                f"The task {self.task} is learned by an encoder of images, which has no {absent[0]}. It can be trained "
                f"without {' or '.join(_OF_IMAGES)}."
            )


def _parse_without(said: Any) -> tuple[str, ...]:
    """Return the names of `without` in the order of `WITHOUT`. Raises ValueError for an unknown name."""
    names = (
        (said,) if isinstance(said, str) else tuple(said) if isinstance(said, tuple | list | set | frozenset) else None
    )
    if names is None:
        raise ValueError(f"without is a list of names, such as 'causal-mask', not {_display_value(said)}.")
    for name in names:
        if not isinstance(name, str) or name not in WITHOUT:
            raise ValueError(f"There is no {_display_value(name)!r} to leave out: there are {', '.join(WITHOUT)}.")
    return tuple(name for name in WITHOUT if name in names)


def _display_value(value: object) -> str:
    """Write a value as text, shortened for an error message."""
    try:
        return str(value)[:40]
    except ValueError:  # Python refuses to print integers of several thousand digits
        return "a number of many digits"


def experiment_of(task: str, parts: Sequence[str] = (), *, seed: int = 1) -> Experiment:
    """Return the experiment of a task with these parts of a name, such as "without-causal-mask".

    Raises ValueError, with a one-sentence message, for an unknown part, for two parts that contradict each other, and
    whenever `Experiment` itself does.
    """
    said: dict[str, Any] = {"seed": seed}
    for part in parts:
        name, value = _read_part(part)
        if name == "without":
            said["without"] = (*said.get("without", ()), value)
        elif name in said and name != "seed" and said[name] != value:
            raise ValueError(f"{name.replace('_', ' ')} is given twice, as {said[name]} and as {value}. Keep one.")
        else:
            said[name] = value
    return Experiment(task, **said)


def experiment_named(name: str) -> Experiment:
    """Return the experiment with this name. Raises ValueError, with a message of one sentence, for any other text."""
    found = _NAME.fullmatch(name) if len(name) <= MOST else None
    if found is None:
        raise ValueError(f"{name[:60]!r} is not the name of an experiment, such as french-without-causal-mask.")
    return experiment_of(found[1], [part[0] for part in _PART.finditer(found[2])])


def _read_part(part: str) -> tuple[str, Any]:
    """Parse one part of an experiment's name, such as `seed-2`, as a field of `Experiment` and its value."""
    found = _PART.fullmatch(part)
    if found is None:
        raise ValueError(
            f"{part[:40]!r} is not a switch. Switches are {', '.join(f'without-{name}' for name in WITHOUT)}, "
            f"leak-one-head, leak-one-token, {', '.join(f'{name}-…' for name in _WHOLE)} and learning-rate-…, with a "
            "number in place of …."
        )
    if found["without"]:
        return "without", part.removeprefix("without-")
    if found["leak"]:
        return "leak", part.removeprefix("leak-")
    name, _, value = part.partition("-rate-") if found["rate"] else part.rpartition("-")
    return ("learning_rate", float(value)) if found["rate"] else (name.replace("-", "_"), int(value))
