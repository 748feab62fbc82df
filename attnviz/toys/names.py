"""Read the name of an experiment, such as `french-without-causal-mask-seed-2`, which `Experiment.name` writes."""

import re
from collections.abc import Sequence
from typing import Any

from attnviz.toys.experiment import LEAKS, WITHOUT, Experiment

_WHOLE = ("seed", "pairs", "layers", "heads", "d-model", "d-ff", "steps")
_PART = re.compile(
    rf"(?P<without>without-(?:{'|'.join(WITHOUT)}))|(?P<leak>leak-(?:{'|'.join(filter(None, LEAKS))}))"
    rf"|(?P<whole>(?:{'|'.join(_WHOLE)})-[0-9]{{1,10}})|(?P<rate>learning-rate-[0-9]{{0,3}}\.?[0-9]{{1,9}}(?:e-[0-9]{{1,2}})?)"
)
_NAME = re.compile(rf"([a-z]{{1,20}})((?:-(?:{re.sub(r'[?]P<[a-z]+>', '?:', _PART.pattern)}))*)")
MOST = 300  # characters of a name


def experiment_of(task: str, parts: Sequence[str] = (), *, seed: int = 1) -> Experiment:
    """Return the experiment of a task with these parts of a name, such as "without-causal-mask".

    Raises ValueError, with a message of one sentence, for an unknown part, for two parts that contradict each other,
    and like `Experiment`.
    """
    said: dict[str, Any] = {"seed": seed}
    for part in parts:
        name, value = _read(part)
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


def _read(part: str) -> tuple[str, Any]:
    """Read one part of a name as a field of `Experiment` and its value."""
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
