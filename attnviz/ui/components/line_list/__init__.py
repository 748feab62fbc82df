"""Lines to choose from, drawn as a table: a click or an arrow key chooses one, and the choice goes into a text."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from streamlit.components.v2 import component

from attnviz.ui.address import persistent
from attnviz.ui.components import pieces
from attnviz.ui.components.told import NUMBER, told

_HERE = Path(__file__).parent
_HTML = '<div class="lines"><div role="listbox" tabindex="0"></div></div>'


@dataclass(frozen=True)
class Lines:
    """A table: what it is called, its column titles, and a row of texts for each line.

    `code` draws them monospaced and numbered from 0. `helps` names the term that a column's title is
    explained by; the page says what it means.
    """

    label: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    code: bool = True
    helps: Mapping[str, str] = field(default_factory=dict)


def line_list(name: str, lines: Lines, *, values: Sequence[Any], value: Any) -> None:
    """Draw `lines`, that of `value` marked; the one that is chosen goes from `values` into the text `name`."""
    key = f"lines-{name}"

    def take() -> None:
        chosen = told(key, "chosen", {"at": NUMBER})
        if chosen is not None and 0 <= chosen["at"] < len(values):
            persistent.write({name: str(values[chosen["at"]])})

    data = {
        "label": lines.label,
        "heads": list(lines.heads),
        "helps": dict(lines.helps),
        "rows": [list(row) for row in lines.rows],
        "current": list(values).index(value),
        "code": lines.code,
    }
    _component()(key=key, data=data, on_chosen_change=take)
    persistent.catch_up(key, take)


@cache
def _component() -> Callable[..., Any]:
    style, script = ((_HERE / f"line_list.{ending}").read_text(encoding="utf-8") for ending in ("css", "js"))
    look = pieces.joined("css", (pieces.SHARED, ("definitions",)))
    return component("attnviz_line_list", html=_HTML, css=look + style, js=script)
