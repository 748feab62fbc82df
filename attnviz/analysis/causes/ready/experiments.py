"""Experiments to begin with: one sentence each that shows something, and a count over many that says how far it holds.

`counts` makes the numbers again: a test does, and so can whoever reads them on the page. Needs no torch.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).parents[4] / "assets" / "experiments.json"
Numbers = dict[str, int | float]


@dataclass(frozen=True)
class ReadyExperiment:
    """What to do (`address`, as texts of a link to Causes), what the model then writes, and what it teaches and does
    not. `count_changes` is a sentence with places for `numbers`, which hold for `weights`.
    """

    name: str
    title: str
    address: Mapping[str, str]
    before: str
    after: str
    happens: str
    teaches: str
    does_not: str
    counted: str
    numbers: Numbers
    weights: str

    @property
    def typed(self) -> str:
        """The sentence that is changed: of a pair, the second."""
        return self.address.get("changed", self.address["src"])

    def counting(self, numbers: Mapping[str, int | float]) -> str:
        """Return the sentence with these numbers in it."""
        return re.sub(r"-(?=\d)", "\N{MINUS SIGN}", self.counted.format(**numbers))


@cache
def ready_experiments() -> tuple[ReadyExperiment, ...]:
    """Those that come along, for the translator that comes along."""
    said = json.loads(FILE.read_text(encoding="utf-8"))
    return tuple(ReadyExperiment(weights=said["weights"], **one) for one in said["experiments"])


def experiment(name: str) -> ReadyExperiment:
    """One of them by its name. Raises KeyError for a name that none has."""
    return {one.name: one for one in ready_experiments()}[name]
