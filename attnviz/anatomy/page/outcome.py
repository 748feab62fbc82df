"""The result of a changed line or a bug: torch's error, or the values and the map compared with the correct ones."""

import math

import streamlit as st
from torch import Tensor

from attnviz.analysis.outcome import Raised, SiteResult, largest_change
from attnviz.anatomy.page.experiment import SiteExperiment
from attnviz.app import charts
from attnviz.kit.views.panels import Panel, panels_figure, panels_table
from attnviz.kit.views.terms import term


def wrong_vs_right(bench: SiteExperiment, outcome: SiteResult | Raised, head: int, *, own_sizes: bool = False) -> None:
    """Draw the result of wrong attention code: torch's error, or values and map compared with the correct ones."""
    numbers(outcome)
    maps(bench, outcome, head, own_sizes=own_sizes)


def numbers(outcome: SiteResult | Raised) -> None:
    """Draw torch's error, or how far output, weights and row sums are from the correct ones."""
    if isinstance(outcome, Raised):
        st.code(outcome.error, language=None, wrap_lines=True)
        return
    low, high = outcome.row_sums
    shape = "has the right shape" if outcome.same_shape else "has a different shape"
    fact_line(
        f"output <b>{shape}</b> and is <b>{_error_text(outcome.output, outcome.right_output)}</b>",
        f"weights of all heads <b>{_error_text(outcome.attn, outcome.right_attn)}</b>",
        f"{term('row sums')} <b>{_sums(low, high)}</b>",
    )
    if not outcome.has_maps:
        st.caption("The weights have a different shape, so no map can be compared with the right one.")


def has_maps(outcome: SiteResult | Raised) -> bool:
    """Return whether there is a map to compare with the correct one."""
    return isinstance(outcome, SiteResult) and outcome.has_maps


def maps(bench: SiteExperiment, outcome: SiteResult | Raised, head: int, *, own_sizes: bool = False) -> None:
    """Draw the correct map, the map of the wrong code, and their difference, if there are maps."""
    if isinstance(outcome, Raised) or not outcome.has_maps:
        return
    item = outcome.shows_at(head)
    wrong, fine = outcome.attn[item, head].numpy(), outcome.right_attn[item, head].numpy()
    panels = [Panel("right", fine), Panel("as written", wrong), Panel("difference", wrong - fine, "signed")]
    labels = _positions(outcome) if own_sizes else bench.labels(item)
    place = f"{'other sizes' if own_sizes else bench.name}, H{head}, {bench.items[item]}"
    charts.show(
        panels_figure(panels, *labels, title=place, theme=charts.theme()),
        key="damage",
        table=lambda: panels_table(panels, *labels),
    )


def fact_line(*parts: str) -> None:
    """Draw a few facts on one line. The caller makes their HTML and escapes visitors' texts."""
    st.html(f"<div class='facts'>{''.join(f'<span>{part}</span>' for part in parts)}</div>")


def _error_text(found: Tensor, right: Tensor) -> str:
    if found.shape != right.shape:
        return "of a different shape"
    nans = int(found.isnan().sum())
    if nans:
        return f"{term('NaN')} in {nans:,} of {found.numel():,}"
    change = largest_change(found, right)
    return f"{term('off by up to')} {change:.3g}" if change > 1e-6 else "right"


def _sums(low: float, high: float) -> str:
    if math.isnan(low):
        return "NaN"
    ends = f"{low:.3g}", f"{high:.3g}"
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def _positions(outcome: SiteResult) -> tuple[list[str], list[str]]:
    rows, cols = ([f"position {at}" for at in range(size)] for size in outcome.right_attn.shape[2:])
    return rows, cols
