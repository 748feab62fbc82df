"""The main tab of the page Masks: the pipeline of one head with a mask to paint, and the text that the model
now writes.
"""

import html

import numpy as np
import pandas as pd
import streamlit as st

from attnviz.app import captions, charts
from attnviz.app.mount import mask_lab
from attnviz.masks.mask_lab import bench_payload, site_name
from attnviz.masks.numbers.both_ways import Changed, count_changed_rows, reads_ahead
from attnviz.masks.numbers.effect import Effect, Refused, distances
from attnviz.masks.numbers.findings import cells_table
from attnviz.masks.page.controls import adopt, last_edit
from attnviz.masks.page.experiment import MaskExperiment, drawn_while_written
from attnviz.text.display import display

ROUNDING = 1e-5  # two equal runs differ by less than this in float32


def picture(bench: MaskExperiment) -> None:
    """Draw scores, masked scores, weights and context of one head, with a mask to paint."""
    payload = captions.add_caption(bench_payload(bench, seq=last_edit()), site=site_name(bench.view))
    mask_lab(payload, on_change=adopt)


def draw_below(bench: MaskExperiment) -> None:
    """Draw the text that the model writes without and with the mask, and the maps as a table."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="mask-below"):
        verdict = st.container(key="mask-verdict")
        charts.numbers("mask-map", lambda: cells_table(bench.filled_scores, bench.rows, bench.cols))
    with verdict:
        drawn_while_written(bench, lambda: st.html(_verdict(bench)))


def _verdict(bench: MaskExperiment) -> str:
    """Return an HTML box with a sentence about what the model does under this mask.

    The box's data attributes hold the number of the edit that the sentence answers, and whether the model has finished
    its text ("whole") or not ("part").
    """
    is_whole, said = _says(bench)
    start = f"<b>{bench.mask_name.capitalize()} in {html.escape(bench.scope_text)}</b>"
    marks = f"data-edit='{last_edit()}' data-written='{'whole' if is_whole else 'part'}'"
    return f"<div class='verdict' role='status' {marks}>{start} {said}</div>"


def _says(bench: MaskExperiment) -> tuple[bool, str]:
    if not bench.model.writes:
        return True, _runs(bench)
    item, writing, unchanged = bench.view.item, bench.start_writing(), bench.unmasked_writing()
    after, before = _quote(writing.so_far(item)), _quote(unchanged.so_far(item))
    if not writing.done:
        return False, f"the model would say {after} <span class='was'>… {_so_far(writing)}</span>"
    # Computed only now, so that the first words do not wait for it.
    effect = bench.effect()
    if isinstance(effect, Refused):
        return True, _refusal(effect)
    if writing.error:
        return True, f"torch refuses to write: “{html.escape(writing.error)}”."
    if not unchanged.done:
        return False, f"the model would say {after} <span class='was'>instead of {before} … {_so_far(unchanged)}</span>"
    in_one_pass = f"<span class='was'>{_pass_sentence(bench, effect)}</span>"
    if after == before:
        return True, f"the model, writing step by step, still says {after}. {in_one_pass}"
    return True, f"the model, writing step by step, would say {after} instead of {before}. {in_one_pass}"


def _pass_sentence(bench: MaskExperiment, effect: Effect) -> str:
    """Say what changes in one pass over the whole target, and whether positions see later tokens there, which
    cannot happen while writing.
    """
    item = bench.view.item
    is_new = reads_ahead(effect.after, item) and not reads_ahead(effect.before, item)
    future = ", where positions now read later tokens" if is_new else ""
    told = _choices(count_changed_rows(bench.model, effect, item=bench.view.item))
    return f"In one pass over the whole target, as in training{future}, {told}."


def _choices(told: Changed) -> str:
    of = f"of {told.positions} positions"
    if told.nan:
        return f"the next token is NaN at {told.nan} {of}"
    return f"the likeliest next token changes at {told.other} {of}" if told.other else "no likeliest next token changes"


def _runs(bench: MaskExperiment) -> str:
    """Describe how the mask changes the model's attention maps, for a model that writes no text."""
    effect = bench.effect()
    if isinstance(effect, Refused):
        return _refusal(effect)
    return f"{_farthest_map(distances(effect, bench.view.item))}."


def _refusal(refusal: Refused) -> str:
    return f"torch refuses to run the model: “{html.escape(refusal.error)}”."


def _so_far(writing) -> str:
    return f"(tokens so far: {writing.count})"


def _farthest_map(table: pd.DataFrame) -> str:
    """Name the map that changed most, or count the maps that became NaN."""
    if lost := int(np.isnan(table["moved"].to_numpy()).sum()):
        return f"{lost} of the model's {len(table)} maps become NaN"
    row = table.loc[table["moved"].idxmax()]
    if row["moved"] < ROUNDING:
        return "no map of the model changes by more than rounding"
    most = f"{row['moved']:.1%} of a row's weight moves to other keys"
    return f"the map that changes most is L{row['layer']} H{row['head']}: {most}"


def _quote(written) -> str:
    note = f" ({html.escape(written.note)})" if written.note else ""
    return (f"<q>{html.escape(display(written.text))}</q>" if written.text else "nothing") + note
