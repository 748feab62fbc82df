"""Differences between the results of all implementations, on the same weights and the same input."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd
import torch
from torch import Tensor

from attnviz.analysis.site.outcome import largest_change
from attnviz.implementations.site_inputs import SiteInputs
from attnviz.implementations.ways import WAYS

COLUMNS = ("one", "other", "output", "attn")


@dataclass(frozen=True, eq=False)
class Equivalence:
    """`table` has a row for each ordered pair of ways: max |Δ| of outputs and of weights (NaN where a way has none).
    `refused` says why a way cannot have this site's sizes.
    """

    results: Mapping[str, tuple[Tensor, Tensor | None]]
    table: pd.DataFrame
    refused: Mapping[str, str]

    @property
    def largest_difference(self) -> float:
        """The largest difference between any two outputs or weights."""
        return float(self.table[["output", "attn"]].max().max())

    def grid(self, of: str) -> pd.DataFrame:
        """Make a square table of max |Δ| of "output" or "attn", a way a row and a column."""
        names = list(self.results)
        return self.table.pivot_table(index="one", columns="other", values=of, dropna=False).reindex(
            index=names, columns=names
        )


@torch.inference_mode()
def equivalence(inputs: SiteInputs) -> Equivalence:
    """Run every implementation on a site's inputs."""
    results: dict[str, tuple[Tensor, Tensor | None]] = {}
    refused: dict[str, str] = {}
    for name, way in WAYS.items():
        try:
            results[name] = way.make(inputs.weights)(*inputs.call)
        except ValueError as error:
            refused[name] = str(error)
    rows = [
        (
            one,
            other,
            largest_change(results[one][0], results[other][0]),
            largest_change(results[one][1], results[other][1]),
        )
        for one in results
        for other in results
    ]
    return Equivalence(results, pd.DataFrame(rows, columns=list(COLUMNS)), refused)
