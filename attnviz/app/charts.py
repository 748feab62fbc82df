"""Plotly figures on a page, with buttons that save a figure as PNG or SVG, and its numbers as a table or CSV."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from attnviz.app import captions, hosting
from attnviz.app.mount import picture_tools
from attnviz.guards.spreadsheet import csv_file

if TYPE_CHECKING:
    import pandas as pd

    Table = Callable[[], pd.DataFrame]
Height = Literal["content", "stretch"]  # the figure's own, or that of its place


def show(
    made: Any,
    *,
    key: str,
    table: "Table",
    caption: list[str] | None = None,
    height: Height = "content",
    has_tools: bool = True,
) -> None:
    """Draw a figure, and below it the buttons that save it. `table` computes its numbers when a visitor asks for them.

    `key` consists of ASCII letters, digits and dashes, because it names the files. `caption` is printed below the
    picture in a file; without it the page's caption is used.
    """
    chart(made, key=key, height=height, has_tools=has_tools)
    take_along(key, table, caption)


def chart(made: Any, *, key: str, height: Height = "content", has_tools: bool = True) -> None:
    """Draw a figure as wide as its container. `has_tools` adds Plotly's tool bar at the figure's upper edge."""
    # Plotly's own button would save a picture without its caption.
    config = {
        "displaylogo": False,
        "modeBarButtonsToRemove": ["toImage"],
        "displayModeBar": None if has_tools else False,
    }
    st.plotly_chart(made, key=key, width="stretch", height=height, theme=None, config=config)


def take_along(key: str, table: "Table", caption: list[str] | None = None) -> None:
    """Draw the buttons for the chart with this `key`: PNG and SVG, made in the browser, and its numbers as CSV or
    table.
    """
    name = f"attnviz-{key}"
    with st.container(horizontal=True, gap="xsmall", width="content", vertical_alignment="center", key=f"{key}-tools"):
        picture_tools(key, name=name, caption=captions.lines() if caption is None else caption)
        st.download_button(
            "CSV",
            hosting.file_in_turn(lambda: csv_file(table())),
            file_name=f"{name}.csv",
            mime="text/csv",
            on_click="ignore",
            key=f"{key}-csv",
        )
        numbers(key, table)


def numbers(key: str, table: "Table") -> None:
    """Draw a button that opens a picture's numbers as a table, which can be read aloud, sorted and copied."""
    with st.popover("Table", key=f"{key}-table", on_change="rerun") as opened:
        if opened.open:
            st.dataframe(table(), hide_index=True, width="content", height="auto", key=f"{key}-numbers")


def theme() -> str:
    """Return the browser's theme, "light" or "dark"."""
    return st.context.theme.type or "light"
