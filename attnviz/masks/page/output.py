"""The tab that shows a run of the model with the mask: its text, its next tokens, and the change of every map."""

import pandas as pd
import streamlit as st

from attnviz.app import charts, layout
from attnviz.app.address.widgets import select
from attnviz.kit.glossary import definitions
from attnviz.masks.figures.figures import moved_figure
from attnviz.masks.figures.tables import next_tokens_table
from attnviz.masks.numbers import effect as masks_effect
from attnviz.masks.numbers.both_ways import BothWays, both_ways
from attnviz.masks.page.experiment import MaskExperiment, drawn_while_written
from attnviz.masks.tabs import says as picture
from attnviz.masks.tabs.says import SaysState
from attnviz.text.entries import token_texts


def says(bench: MaskExperiment) -> SaysState:
    """Draw the written text and the five most probable next tokens, before and after, the change of every map,
    and the spread of NaN.
    """
    view = layout.state_in_address(SaysState)
    _says(bench, view)
    return view


def _says(bench: MaskExperiment, view: SaysState) -> None:
    effect, item = bench.effect(), bench.view.item
    st.html(picture.title(bench))
    if isinstance(effect, masks_effect.Refused):
        st.html(picture.refusal(effect.error))
        return
    left, right = st.columns([6, 6], gap="medium")
    with left:
        words = st.container()
        if bench.model.writes:
            _next_tokens(bench, effect, view.step)
        else:
            st.caption(picture.NO_WRITER)
    with right:
        _maps(bench, effect)
        _nan(effect, item)
    if bench.model.writes:
        with words:
            drawn_while_written(
                bench, lambda: st.html(picture.words_table(bench, bench.unmasked_writing(), bench.start_writing()))
            )


def _next_tokens(bench: MaskExperiment, effect: masks_effect.Effect, chosen: int | None) -> None:
    """Draw the next tokens at one position in three runs: without the mask, and with the mask both step by step
    and in one pass.
    """
    ins = token_texts(bench.trace.query_tokens("decoder_self", bench.view.item))
    step = picture.shown_step(bench, effect, chosen)
    label = picture.LABEL
    select("step", label, range(len(ins)), step, lambda at: f"{at}: {ins[at]}", means=definitions("Masks")[label])
    found = both_ways(bench.model, effect, bench.written_up_to(step), item=bench.view.item)
    st.html(next_tokens_table(picture.run_columns(bench, found, step)))
    st.html(f"<div class='verdict' role='note'>{picture.explain_columns(bench, found, step)}</div>")
    charts.numbers("says-next", lambda: _table(bench, found, step))


def _table(bench: MaskExperiment, found: BothWays, step: int) -> pd.DataFrame:
    lines = [
        {"run": way.name, "rank": rank, "token": text, "probability": chance}
        for way in picture.run_columns(bench, found, step)
        for rank, (text, chance) in enumerate(way.candidates, start=1)
    ]
    return pd.DataFrame(lines, columns=["run", "rank", "token", "probability"])


def _maps(bench: MaskExperiment, effect: masks_effect.Effect) -> None:
    table = masks_effect.distances(effect, bench.view.item)
    charts.show(moved_figure(table, theme=charts.theme()), key="moved", table=lambda: table)
    st.caption(picture.maps_caption(bench))


def _nan(effect: masks_effect.Effect, item: int) -> None:
    spread = masks_effect.nan_positions(effect.after, item)
    if not spread["NaN positions"].to_numpy().any():
        return
    st.caption(picture.NAN_SPREADS)
    st.dataframe(spread, hide_index=True, key="says-nan")
