"""A table whose lines are chosen: the choice is a text of the address."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from attnviz.app.address import persistent
from attnviz.app.components import widget
from attnviz.app.reports import NUMBER, reported_value


@dataclass(frozen=True)
class Lines:
    """A table to choose from: its label, its column titles, and a row of texts for each line.

    `code` draws them monospaced and numbered from 0. `helps` names the term that a column's title is
    explained by; the page says what it means.
    """

    label: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    code: bool = True
    helps: Mapping[str, str] = field(default_factory=dict)


def line_list(name: str, lines: Lines, *, values: Sequence[Any], value: Any) -> None:
    """Draw `lines`, that of `value` marked; a chosen line writes its one of `values` into the text `name`."""
    key = f"lines-{name}"

    def take() -> None:
        chosen = reported_value(key, "chosen", {"at": NUMBER})
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
    widget("line_list")(key=key, data=data, on_chosen_change=take)
    persistent.catch_up(key, take)
