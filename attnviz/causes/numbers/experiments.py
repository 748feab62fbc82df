"""Ready-made experiments: each shows an effect in one sentence, and a count over many sentences says how general it is.

`counts` recomputes the numbers, for a test and for “Count again” on the page. This module does not import torch.
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
    """A ready-made experiment.

    `address` holds the parameters of a link to Causes, `before` and `after` the texts that the model writes, `teaches`
    and `does_not` what the experiment shows and does not show. `counted` is a sentence with placeholders for `numbers`,
    which were counted with the model `weights`.
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
        """The sentence that the experiment changes; for a pair of sentences, the second."""
        return self.address.get("changed", self.address["src"])

    def fill_numbers(self, numbers: Mapping[str, int | float]) -> str:
        """Return the sentence `counted` with these numbers filled in."""
        return re.sub(r"-(?=\d)", "\N{MINUS SIGN}", self.counted.format(**numbers))


@cache
def ready_experiments() -> tuple[ReadyExperiment, ...]:
    """Return the shipped experiments, for the shipped translator."""
    said = json.loads(FILE.read_text(encoding="utf-8"))
    return tuple(ReadyExperiment(weights=said["weights"], **one) for one in said["experiments"])


def experiment(name: str) -> ReadyExperiment:
    """Return the experiment with this name. Raise KeyError for an unknown name."""
    return {one.name: one for one in ready_experiments()}[name]
