"""What a link to the Patch tab carries."""

from dataclasses import dataclass

from attnviz.pictures.fields import Say, choice, declared, text, whole
from attnviz.text.limits import MAX_CHARACTERS
from attnviz.ui.causes.state import CausesState

MOST_CELLS = 200
_MOST_TOKEN = 200


def _cells(asked: str, bound: object, default: tuple[str, ...], say: Say) -> tuple[str, ...]:
    """The cells that a link puts in force."""
    from attnviz.analysis.causes.pairs.in_place import Cell  # which has torch

    parts = dict.fromkeys(asked.split("~")[:MOST_CELLS])
    if bad := [part for part in parts if Cell.of(part) is None]:
        say("a cell is a kind, a layer and a head, or a stack, a layer and a position, such as cross.1.3",
            "without that cell", bad[0])  # fmt: skip
    return tuple(part for part in parts if part not in bad)


@dataclass(frozen=True)
class PatchState(CausesState):
    """`changed` is the second sentence, `way` whether the clean run's numbers go into the changed one ("in") or the
    other way round, `step` the row that is asked about (None: where the runs differ most). `a` and `b` are the metric's
    tokens and `c` and `d` the control's: typed, or `#` and an id; "" for those that the runs suggest. `put` are the
    cells in force.
    """

    changed: str = text(limit=MAX_CHARACTERS)
    way: str = choice("in", ("in", "out"))
    step: int | None = whole(used="where the runs differ most")
    a: str = text(limit=_MOST_TOKEN)
    b: str = text(limit=_MOST_TOKEN)
    c: str = text(limit=_MOST_TOKEN)
    d: str = text(limit=_MOST_TOKEN)
    put: tuple[str, ...] = declared((), _cells, "~".join)
