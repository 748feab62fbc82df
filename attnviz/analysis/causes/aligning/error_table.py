"""Alignment errors of every way, computed once for shipped weights: read here, written by the command."""

from pathlib import Path

import pandas as pd

from attnviz.analysis.causes.aligning.ways import Aligner
from attnviz.analysis.causes.gold import FOLDER

ERRORS = FOLDER / "errors"


def known_errors(model_id: str) -> pd.DataFrame | None:
    """Read the shipped table of `alignment_errors` for these weights; None without one."""
    path = ERRORS / f"{model_id}.tsv"
    if path not in ERRORS.glob("*.tsv"):  # which an id with a path in it never is
        return None
    return pd.read_csv(path, sep="\t").astype({"layer": "Int64", "head": "Int64"})  # with a place for "of all"


def write_errors(table: pd.DataFrame, model_id: str) -> Path:
    """Write the table of these weights, to four digits, and delete those of other weights."""
    ERRORS.mkdir(exist_ok=True)
    for other in ERRORS.glob("*.tsv"):
        other.unlink()
    path = ERRORS / f"{model_id}.tsv"
    table.to_csv(path, sep="\t", index=False, float_format="%.4f", lineterminator="\n")
    return path


def rates(table: pd.DataFrame, to: str) -> dict[Aligner, float]:
    """Return the rate of each way in a language; none where the table does not have that language."""
    if to not in table:
        return {}
    sites = table[["layer", "head"]].astype(object).where(table[["layer", "head"]].notna(), None)
    return {
        Aligner(method, layer, head, reading): float(rate)
        for method, layer, head, reading, rate in zip(
            table["method"], sites["layer"], sites["head"], table["reading"], table[to], strict=True
        )
    }
