"""HTML table of the most probable next tokens of several runs side by side, with a description of each run."""

import html
from collections.abc import Sequence
from dataclasses import dataclass

from attnviz.kit.views.terms import term_if_known

MOST = 5


@dataclass(frozen=True)
class RunColumn:
    """A run's column in the table: its name, its description, and its most probable tokens as (text, probability).

    `candidates` is empty if the probabilities of the run are NaN.
    """

    name: str
    says: str
    candidates: Sequence[tuple[str, float]]


def next_tokens_table(ways: Sequence[RunColumn]) -> str:
    """Return a table with two columns for each run. All texts are escaped here."""
    heads = "".join(
        f"<th scope='colgroup' colspan='2'><b>{term_if_known(way.name)}</b><small>{html.escape(way.says)}</small></th>"
        for way in ways
    )
    lines = "".join(f"<tr>{''.join(_cells(way, place) for way in ways)}</tr>" for place in range(MOST))
    return f"<table class='next-tokens'><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"


def _cells(way: RunColumn, place: int) -> str:
    if not way.candidates:
        return "<td>NaN</td><td></td>" if place == 0 else "<td></td><td></td>"
    if place >= len(way.candidates):
        return "<td></td><td></td>"
    text, chance = way.candidates[place]
    return f"<td>{html.escape(text)}</td><td class='p' style='background-size:{chance:.1%} 3px'>{chance:.4f}</td>"
