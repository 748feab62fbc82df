"""A sortable table and a scatter chart of all heads in a study; a click in either chooses a head."""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from attnviz.analysis.runs import HeadPlace
from attnviz.app import charts, hosting, layout
from attnviz.app.address import persistent
from attnviz.app.address.widgets import select
from attnviz.causes.corpus.figures.scatter import head_scatter
from attnviz.causes.corpus.numbers.studies import CorpusStudy
from attnviz.causes.corpus.page.state import SentencesState
from attnviz.causes.corpus.tables import AXES, SPREAD, measures_of, shown_table
from attnviz.guards.spreadsheet import csv_file
from attnviz.kit.glossary import definition

_TABLE, _SCATTER = "corpus-heads", "corpus-scatter"
_MOST_CELLS = 300_000  # maximum rows of the long CSV file: sentences times heads


def draw(study: CorpusStudy, view: SentencesState, caption: list[str]) -> None:
    """Draw the table on the left, the scatter chart on the right, and the download buttons below the table."""
    left, right = st.columns([5, 4])
    with left:
        select("spread", "Spread of", list(SPREAD), view.spread, SPREAD.__getitem__, means=definition("Spread of"))
        _table(study, view)
        _files(study)
    with right:
        _scatter(study, view, caption)


def _table(study: CorpusStudy, view: SentencesState) -> None:
    shown = shown_table(study, view.spread)
    importance = {
        "by gradient": st.column_config.NumberColumn(help=definition("by gradient"), format="%.4f"),
        "lost without": st.column_config.NumberColumn(help=definition("lost without"), format="%.4f"),
        "± error": st.column_config.NumberColumn(help=definition("± error"), format="%.4f"),
        "helps": st.column_config.NumberColumn(help=definition("helps"), format="percent"),
    }
    st.dataframe(
        shown,
        key=_TABLE,
        hide_index=True,
        height=360,
        on_select=lambda: _take_row(study),
        selection_mode="single-row",
        column_config={
            "spread": st.column_config.BarChartColumn(help=definition("Spread of"), y_min=0),
            SPREAD[view.spread]: st.column_config.NumberColumn(help=definition("Spread of"), format="%.3f"),
            "writes": st.column_config.NumberColumn(help=definition("writes"), format="%.2f"),
            "strongest key, most often": st.column_config.TextColumn(help=definition("strongest key, most often")),
            **{name: config for name, config in importance.items() if name in shown},
        },
    )


def _scatter(study: CorpusStudy, view: SentencesState, caption: list[str]) -> None:
    there = measures_of(study)
    names = {name: there[_or_first(there, getattr(view, name))] for name in ("along", "up", "shade")}
    with st.container(horizontal=True, key="corpus-axes"):
        for name, label in (("along", "Along"), ("up", "Up"), ("shade", "Colour")):
            chosen = _or_first(there, getattr(view, name))
            select(
                name, label, list(there), chosen, lambda one: AXES[one].title, means=definition(f"{label} the heads")
            )
    chosen = (view.kind, view.layer, view.head)
    made = head_scatter(study.heads, tuple(names.values()), chosen=chosen, theme=charts.theme())  # type: ignore[arg-type]
    config = {"displaylogo": False, "modeBarButtonsToRemove": ["toImage"]}
    st.plotly_chart(made, key=_SCATTER, theme=None, config=config, on_select=_take_mark, selection_mode="points")
    charts.take_along(_SCATTER, lambda: study.heads, caption)


def _or_first(there: Mapping[str, Any], name: str) -> str:
    """Return the measure `name` if this study has it, otherwise the study's first measure.

    A model without targets, for example, has no importance.
    """
    return name if name in there else next(iter(there))


def _files(study: CorpusStudy) -> None:
    """Draw buttons that download CSV files: one row per head, and one row per sentence and head."""
    with st.container(horizontal=True, gap="xsmall", key="corpus-files"):
        _csv("CSV, every head", "heads", lambda: study.heads)
        if study.profiles.measured.sum() * len(study.places) <= _MOST_CELLS:
            _csv("CSV, every sentence", "sentences", study.sentence_table)
        else:
            layout.note(f"The table of all sentences and heads has more than {_MOST_CELLS:,} rows, so it is left out.")


def _csv(label: str, name: str, table: Callable[[], pd.DataFrame]) -> None:
    st.download_button(
        label,
        hosting.file_in_turn(lambda: csv_file(table())),
        file_name=f"attnviz-{name}.csv",
        mime="text/csv",
        on_click="ignore",
        key=f"corpus-{name}-csv",
    )


def _take_row(study: CorpusStudy) -> None:
    rows = _selection(_TABLE).get("rows", ())
    if rows and isinstance(rows[0], int) and 0 <= rows[0] < len(study.places):
        choose(study.places[rows[0]])


def _take_mark() -> None:
    points = _selection(_SCATTER).get("points", ())
    data = points[0].get("customdata") if points else None
    if isinstance(data, list) and len(data) >= 3:
        persistent.write(dict(zip(("kind", "layer", "head"), (str(part)[:20] for part in data), strict=False)))


def _selection(key: str) -> Mapping[str, Any]:
    said = st.session_state.get(key)
    found = said.get("selection") if isinstance(said, Mapping) else getattr(said, "selection", None)
    return found if isinstance(found, Mapping) else {}


def choose(place: HeadPlace) -> None:
    """Make this head the head in focus, on this page and on the other pages."""
    kind, layer, head = place
    persistent.write({"kind": kind, "layer": str(layer), "head": str(head)})
