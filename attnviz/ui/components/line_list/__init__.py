"""Lines to choose from, drawn as a table: a click or an arrow key chooses one, and the choice goes into a text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components.v2 import component

from attnviz.ui.address import persistent

_HERE = Path(__file__).parent
_HTML = '<div role="listbox" tabindex="0"></div>'


@dataclass(frozen=True)
class Lines:
    """A table: what it is called, its column titles, and a row of texts for each line.

    `code` draws them monospaced and numbered from 0.
    """

    label: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    code: bool = True


def line_list(name: str, lines: Lines, *, values: Sequence[Any], value: Any) -> None:
    """Draw `lines`, that of `value` marked; the one that is chosen goes from `values` into the text `name`."""
    key = f"lines-{name}"

    def take() -> None:
        chosen = st.session_state[key].get("chosen")
        if chosen is not None and 0 <= int(chosen["at"]) < len(values):
            persistent.write({name: str(values[int(chosen["at"])])})

    data = {
        "label": lines.label,
        "heads": list(lines.heads),
        "rows": [list(row) for row in lines.rows],
        "current": list(values).index(value),
        "code": lines.code,
    }
    _component()(key=key, data=data, on_chosen_change=take)
    persistent.catch_up(key, take)


@cache
def _component() -> Callable[..., Any]:
    style, script = ((_HERE / f"line_list.{ending}").read_text(encoding="utf-8") for ending in ("css", "js"))
    return component("attnviz_line_list", html=_HTML, css=style, js=script)
