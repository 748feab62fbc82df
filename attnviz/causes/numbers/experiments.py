"""Experiments to begin with: one sentence each that shows something, and a count over many that says how far it holds.

`counts` makes the numbers again: a test does, and so does “Count again” on the page. Needs no torch.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from attnviz.places import ASSETS

FILE = ASSETS / "experiments.json"
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
    def typed_sentence(self) -> str:
        """The sentence that is changed: of a pair, the second."""
        return self.address.get("changed", self.address["src"])

    def fill_numbers(self, numbers: Mapping[str, int | float]) -> str:
        """Put these numbers into the sentence."""
        return re.sub(r"-(?=\d)", "\N{MINUS SIGN}", self.counted.format(**numbers))


@cache
def ready_experiments() -> tuple[ReadyExperiment, ...]:
    """Return the shipped experiments, for the shipped translator."""
    said = json.loads(FILE.read_text(encoding="utf-8"))
    return tuple(ReadyExperiment(weights=said["weights"], **one) for one in said["experiments"])


def experiment(name: str) -> ReadyExperiment:
    """Return an experiment by its name. Raises KeyError for an unknown name."""
    return {one.name: one for one in ready_experiments()}[name]
