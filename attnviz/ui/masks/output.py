"""The tab of the model's run with the mask on: its words, its next tokens, every later map.

The words are written step by step and the next tokens come from one pass over the whole target; each says so, for a
mask between target positions means something else in each.
"""

import html
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from attnviz.analysis.masks import effect as masks_effect
from attnviz.analysis.masks.both_ways import BothWays, both_ways
from attnviz.analysis.rerun import Writing
from attnviz.pictures.fields import PageState, whole
from attnviz.text.display import display, display_token
from attnviz.text.entries import token_texts
from attnviz.text.glossary import definitions
from attnviz.ui import charts, layout
from attnviz.ui.address.widgets import select
from attnviz.ui.masks.experiment import MaskExperiment
from attnviz.ui.masks.streaming import drawn_while_written
from attnviz.views.masks.figures import moved_figure
from attnviz.views.masks.next_tokens_table import RunColumn, next_tokens_table
from attnviz.views.terms import term

NO_FUTURE = "no future tokens exist yet"
AHEAD = "as in training: position {step} can read what comes after it"
NOT_AHEAD = "as in training: {named}, position {step} reads nothing that comes after it"


@dataclass(frozen=True)
class SaysState(PageState):
    """The decoder step whose next tokens are listed; None for the one that changed most."""

    step: int | None = whole()


def says(bench: MaskExperiment) -> SaysState:
    """Draw translation and top-5 next tokens, before and after; how far every map moved; how far NaN spread."""
    view = layout.state_in_address(SaysState)
    _says(bench, view)
    return view


def _says(bench: MaskExperiment, view: SaysState) -> None:
    effect, item = bench.effect(), bench.view.item
    st.html(f"<h4 class='room'>The model, run again {bench.named} at {html.escape(bench.where)}</h4>")
    if isinstance(effect, masks_effect.Refused):
        st.html(f"<div class='verdict'>torch refuses: “{html.escape(effect.error)}”. Nothing ran.</div>")
        return
    left, right = st.columns([6, 6], gap="medium")
    with left:
        words = st.container()
        if bench.model.writes:
            _next_tokens(bench, effect, view.step)
        else:
            st.caption("This model writes no text. See its maps for what the mask changes.")
    with right:
        _maps(bench, effect)
        _nan(effect, item)
    if bench.model.writes:
        with words:
            drawn_while_written(bench, lambda: _words(bench))


def _words(bench: MaskExperiment) -> None:
    """Draw what the model writes, before and after, as far as it has come: all of it, for texts may part late."""
    what = "translation" if bench.model.languages else "what it writes"
    rows = _row("before", bench.unmasked_writing(), bench.view.item) + _row("after", bench.writing(), bench.view.item)
    head = f"<tr><th></th><th>{what}, <b>{term('written step by step')}</b>: {NO_FUTURE}</th></tr>"
    st.html(f"<table class='words'>{head}{rows}</table>")


def _row(name: str, writing: Writing, item: int) -> str:
    one = writing.so_far(item)
    so_far = "" if writing.done else f"tokens so far: {writing.count}"
    note = writing.error or one.note or so_far
    said = html.escape(display(one.text)) + (f" <small>({html.escape(note)})</small>" if note else "")
    return f"<tr><th>{name}</th><td>{said}</td></tr>"


def _next_tokens(bench: MaskExperiment, effect: masks_effect.Effect, chosen: int | None) -> None:
    """List one position's next tokens three times: without the mask, with it and no future, with it and the future."""
    ins = token_texts(bench.trace.query_tokens("decoder_self", bench.view.item))
    # A pinned row is a step where rows are decoder steps.
    pinned = bench.view.row if bench.view.kind != "encoder_self" else None
    step = pinned if chosen is None else chosen
    if step is None or step >= len(ins):
        step = masks_effect.step_that_changed_most(effect, bench.view.item)
    assert step is not None  # one of both is a number
    label = "Next tokens after"
    select("step", label, range(len(ins)), step, lambda at: f"{at}: {ins[at]}", means=definitions("Masks")[label])
    found = both_ways(bench.model, effect, bench.written_up_to(step), item=bench.view.item)
    st.html(next_tokens_table(_ways(bench, found, step)))
    st.html(f"<div class='verdict' role='note'>{_lesson(bench, found, step)}</div>")
    charts.numbers("says-next", lambda: _table(bench, found, step))


def _ways(bench: MaskExperiment, found: BothWays, step: int) -> list[RunColumn]:
    shown = [
        [(display_token(token), chance) for token, chance in candidates]
        for candidates in (found.before, found.step_by_step, found.one_pass)
    ]
    ahead = AHEAD if found.reads_ahead else NOT_AHEAD if found.one_pass else "as in training"
    return [
        RunColumn("unchanged", "with the model's own mask", shown[0]),
        RunColumn("written step by step", NO_FUTURE, shown[1]),
        RunColumn("one pass over the whole target", ahead.format(step=step, named=bench.named), shown[2]),
    ]


def _lesson(bench: MaskExperiment, found: BothWays, step: int) -> str:
    """Explain which column holds a future, and what that means for training."""
    if not found.step_by_step or not found.one_pass:
        way = "In one pass" if found.step_by_step else "Step by step" if found.one_pass else "Both ways"
        return (
            f"{way} NaN has reached this position: there is no next token. In one pass a NaN row also reaches "
            "earlier positions, even through the causal mask: its weight there is 0, and 0 × NaN is NaN. Step by step, "
            "only earlier tokens count."
        )
    if not found.reads_ahead:
        near = f"to {found.apart:.1e} of a probability" if found.apart else "to the last bit"
        return (
            f"<b>Both ways agree</b>, {near}: {bench.named} no later token reaches a "
            "position. That is why training can process the whole target in one pass."
        )
    own = (
        "This model has no causal mask and reads ahead without this one too."
        if found.read_before
        else "This model was trained with the mask, and never learned to read ahead."
    )
    return (
        f"<b>Same mask, same tokens up to here: only the later tokens differ.</b> Step by step, position {step} is the "
        "last one, so it has no later tokens to see, masked or not. In one pass the rest of the target is there, and "
        "this position can read it. Training is such a pass: without the causal mask a model would learn to copy its "
        f"answers from the later tokens, and could not write on its own. {own}"
    )


def _table(bench: MaskExperiment, found: BothWays, step: int) -> pd.DataFrame:
    lines = [
        {"run": way.name, "rank": rank, "token": text, "probability": chance}
        for way in _ways(bench, found, step)
        for rank, (text, chance) in enumerate(way.candidates, start=1)
    ]
    return pd.DataFrame(lines, columns=["run", "rank", "token", "probability"])


def _maps(bench: MaskExperiment, effect: masks_effect.Effect) -> None:
    table = masks_effect.distances(effect, bench.view.item)
    charts.show(moved_figure(table, theme=charts.theme()), key="moved", table=lambda: table)
    st.caption(f"Measured in one pass over the same tokens, as it is and {bench.named}.")


def _nan(effect: masks_effect.Effect, item: int) -> None:
    spread = masks_effect.nan_positions(effect.after, item)
    if not spread["NaN positions"].to_numpy().any():
        return
    st.caption(
        "NaN spreads: a NaN row of one layer becomes a NaN key and value in the next, and 0 × NaN is NaN, so even a "
        "mask does not stop it."
    )
    st.dataframe(spread, hide_index=True, key="says-nan")
