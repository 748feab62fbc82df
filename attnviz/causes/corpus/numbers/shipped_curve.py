"""The pruning curve of a shipped model: a CSV file beside the weights, and a section of the model card."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from attnviz.text.languages import language_name

COMMAND = "python -m attnviz.causes.corpus --to {to} --halves --card < assets/sentences/{to}.tsv"
_HEADING = "## Heads removed, {}"
_COUNTS = 6  # number of columns between 0 and all heads removed


def curve_path(folder: Path, to: str) -> Path:
    """Return the path of the pruning curve for a target language."""
    return folder / f"pruning-{to}.csv"


def shipped_curve(folder: Path, to: str, weights: str) -> pd.DataFrame | None:
    """Read the pruning curve of these weights, in the format of `PruningCurve.table`; None if there is no file.

    Raise ValueError with a message of one sentence if the curve belongs to other weights.
    """
    path = curve_path(folder, to)
    if not path.is_file():
        return None
    table = pd.read_csv(path)
    if set(table["weights"]) != {weights}:
        raise ValueError(f"{path.name} was counted with other weights than these: {COMMAND.format(to=to)} repeats it.")
    return table


def write_card(folder: Path, to: str) -> None:
    """Write the curve's section into a model card, replacing the previous section."""
    path = folder / "README.md"
    section = card_section(pd.read_csv(curve_path(folder, to)), to)
    path.write_text(insert_section(path.read_text(encoding="utf-8"), section), encoding="utf-8")


def card_section(table: pd.DataFrame, to: str) -> str:
    """Return the curve as Markdown: BLEU and log-probability by order and number of removed heads, and the method."""
    first, has_bleu = table.iloc[0], not table.dropna(subset=["bleu"]).empty
    counts = _thin_out(sorted(table["removed"].unique().tolist()))
    return "\n\n".join(
        (
            _HEADING.format(language_name(to)),
            f"Heads taken out one after another, without training again: BLEU, and the mean log-probability of a "
            f"target token in nats, on {first['sentences']} sentences of `assets/sentences/{to}.tsv`; orders were "
            f"found on {first['orders_from']} others of it. In brackets: half the width of a 95 % interval, of "
            "sentences drawn again 1,000 times; for random orders, half the range of the seeds. "
            f"`{COMMAND.format(to=to)}` repeats it; `pruning-{to}.csv` has every point.",
            *([_table(table, "bleu", counts, "BLEU", digits=1)] if has_bleu else []),
            _table(table, "log_probability", counts, "nats a token", digits=2),
        )
    )


def insert_section(card: str, section: str) -> str:
    """Insert a section into a model card before "## Limits", replacing a section with the same heading."""
    heading = section.split("\n", 1)[0]
    without = re.sub(rf"^{re.escape(heading)}\n.*?(?=^## |\Z)", "", card, flags=re.DOTALL | re.M)
    before, limits, after = without.partition("## Limits")
    return f"{before}{section}\n\n{limits}{after}" if limits else f"{without.rstrip()}\n\n{section}\n"


def merged_seeds(table: pd.DataFrame) -> pd.DataFrame:
    """Merge a curve's random orders into one line: the mean of the seeds, with their minimum and maximum as bounds."""
    is_random = table["order"].str.startswith("random, seed")
    if not is_random.any():
        return table
    seeds = table.loc[is_random, "order"].nunique()
    groups = table[is_random].groupby("removed")
    found = groups[["removed"]].first().assign(order=f"random, mean of {seeds} seeds")
    for name in ("log_probability", "bleu"):
        found[name], found[f"{name}_low"], found[f"{name}_high"] = (
            getattr(groups[name], how)() for how in ("mean", "min", "max")
        )
    return pd.concat([table.loc[~is_random], found], ignore_index=True)


def _table(table: pd.DataFrame, name: str, counts: list[int], title: str, *, digits: int) -> str:
    lines = [f"| {title}, heads removed | {' | '.join(map(str, counts))} |", "| --- |" + " --- |" * len(counts)]
    for order, part in merged_seeds(table).groupby("order", sort=False):
        points = part.set_index("removed").to_dict("index")
        cells = [_cell(points[count], name, digits) if count in points else "" for count in counts]
        lines.append(f"| {order} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(point: Mapping[str, Any], name: str, digits: int) -> str:
    if np.isnan(point[name]):
        return ""
    half = (point[f"{name}_high"] - point[f"{name}_low"]) / 2
    return f"{point[name]:.{digits}f} (±{half:.{digits}f})".replace("-", "−")


def _thin_out(counts: list[int]) -> list[int]:
    """Return the first number, the last one, and evenly spaced numbers between them."""
    step = max(1, round((len(counts) - 1) / _COUNTS))
    return sorted({*counts[::step], counts[-1]})
