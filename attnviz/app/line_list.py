"""A table in which the visitor chooses a line. The choice is a text of the address."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from attnviz.app.address import persistent
from attnviz.app.components import widget
from attnviz.app.reports import NUMBER, reported_value


@dataclass(frozen=True)
class Lines:
    """A table to choose from: its label, its column titles, and the texts of each line.

    With `code` the lines are monospaced and numbered from 0. `helps` names, by column, the glossary term that explains
    the column's title.
    """

    label: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    code: bool = True
    helps: Mapping[str, str] = field(default_factory=dict)


def line_list(name: str, lines: Lines, *, values: Sequence[Any], value: Any) -> None:
    """Draw `lines` with the line of `value` marked.

    A click on a line writes its entry of `values` into the text `name`.
    """
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
