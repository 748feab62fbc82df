"""A form for each kind of question. What can be chosen from the step's own picture is chosen from it."""

from collections.abc import Callable

import streamlit as st

from attnviz.lessons.draft import label
from attnviz.lessons.picture import Picture
from attnviz.lessons.question import CELL, CHOICE, COVERS, HEAD, NUMBER, ROW, TEXT, TOKEN, TRANSLATION
from attnviz.ui.lessons.draft_fields import Fields

_KINDS = {
    "": "No question",
    CELL: "Cells: where is most weight? (clicked on the map)",
    ROW: "A row: draw how its weight is shared out",
    HEAD: "A head: which of these?",
    TOKEN: "A token: what is written at this step?",
    TRANSLATION: "The translation: what does the model write?",
    NUMBER: "A number",
    CHOICE: "One of several answers",
    TEXT: "Free text, not scored",
}
_SPOTS = {
    "": "no third hint",
    "row": "the row",
    "map": "the large map",
    "grid": "the grid of heads",
    "strip": "the sentences",
}
_COVER = {"": "the usual part for this kind", **{name: name for name in COVERS}}
_OPTIONS = f"{label('options')}, one per line"


def draw(fields: Fields, picture: Picture | None) -> None:
    """Draw the form of a step's question; `picture` is the run of its link, if it has one."""
    fields.choose("kind", label("kind"), _KINDS)
    kind = fields.texts.get("kind", "")
    if kind not in _FORMS:
        return
    fields.area("ask", label("ask"), placeholder="Something that most people get wrong at first")
    _FORMS[kind](fields, picture)


def draw_common(fields: Fields) -> None:
    """Draw the fields that every kind of question has: hints, the reason, and the cover."""
    if fields.texts.get("kind", "") not in _FORMS:
        return
    with st.expander("Hints, why, and what is covered", expanded=True):
        left, right = st.columns(2)
        with left:
            fields.line("nudge", f"{label('hints')}: a nudge")
        with right:
            fields.line("suggestion", "Second hint: a suggestion")
        left, right = st.columns(2)
        with left:
            fields.choose("show", label("show"), _SPOTS)
        with right:
            fields.choose("cover", label("cover"), _COVER)
        fields.area("why", label("why"), placeholder="Explain the usual mistake (Markdown)")


def _cell(fields: Fields, picture: Picture | None) -> None:
    left, right = st.columns(2)
    with left:
        _row(fields, picture, empty="any row")
    with right:
        fields.choose("most", label("most"), {"": "1", **{str(n): str(n) for n in range(2, 6)}})


def _row_form(fields: Fields, picture: Picture | None) -> None:
    _row(fields, picture)


def _head(fields: Fields, picture: Picture | None) -> None:
    from attnviz.analysis.heads.metric_table import METRICS

    if picture is None:
        fields.line("heads", f"{label('heads')}, such as L1 H2, L2 H5")
    else:
        layers, heads = picture.trace.shape(picture.kind)
        every = [f"L{layer} H{head}" for layer in range(layers) for head in range(heads)]
        fields.draw_several("heads", f"{label('heads')} (2 to 8)", every, max_selections=8)
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        fields.choose("by", label("by"), {"": "…", "weight": "weight of a cell", **{name: name for name in METRICS}})
    with right:
        fields.switch("least", label("least"))
    if fields.texts.get("by") == "weight":
        _cell_of(fields, picture, ("row", "col"))


def _token(fields: Fields, picture: Picture | None) -> None:
    _row(fields, picture)
    fields.area("options", f"{_OPTIONS} (none: students type)", height="content")


def _translation(fields: Fields, picture: Picture | None) -> None:
    fields.area("options", f"{_OPTIONS} (none: students type)", height="content")


def _number(fields: Fields, picture: Picture | None) -> None:
    _measure(fields, picture, empty="…")
    left, right = st.columns(2)
    with left:
        fields.line("within", label("within"), placeholder="0")
    with right:
        fields.line("unit", label("unit"))


def _choice(fields: Fields, picture: Picture | None) -> None:
    fields.area("options", _OPTIONS, height="content")
    sentences = [line.strip() for line in fields.texts.get("options", "").split("\n") if line.strip()]
    _measure(fields, picture, empty="I say which one is right")
    if fields.texts.get("measure"):
        fields.area("when", f"{label('when')}, one per line", height="content", placeholder="0 to 0.5\n0.5 to 1")
    else:
        fields.choose(
            "right", label("right"), {"": "…"} | {str(at): said for at, said in enumerate(sentences, start=1)}
        )


def _measure(fields: Fields, picture: Picture | None, *, empty: str) -> None:
    from attnviz.lessons import mask_measures, run_measures
    from attnviz.lessons.measures import MEASURES

    titles = {name: f"{name}: {measure.means}" for name, measure in MEASURES.items()}
    fields.choose("measure", label("measure"), {"": empty, **titles})
    name = fields.texts.get("measure", "")
    if name not in MEASURES:
        return
    needs = MEASURES[name].needs
    _cell_of(fields, picture, tuple(need for need in ("row", "col") if need in needs))
    others = [need for need in needs if need not in ("row", "col")]
    if others or name in mask_measures.MEASURES or name in run_measures.MEASURES:
        said = f" (it needs {', '.join(others)})" if others else ""
        fields.line(
            "more", f"{label('with')}{said}", placeholder=", ".join(f"{need}: …" for need in others) or "mask: causal"
        )


def _cell_of(fields: Fields, picture: Picture | None, names: tuple[str, ...]) -> None:
    for name, place in zip(names, st.columns(len(names)) if names else (), strict=True):
        with place:
            _row(fields, picture) if name == "row" else _col(fields, picture)


def _row(fields: Fields, picture: Picture | None, *, empty: str = "…") -> None:
    found = [(row.text, row.output or row.input or "") for row in picture.maps.rows] if picture else []
    _position(fields, "row", empty, found, picture.row if picture else None)


def _col(fields: Fields, picture: Picture | None) -> None:
    found = [(col.text, col.text) for col in picture.maps.cols] if picture else []
    _position(fields, "col", "…", found, picture.col if picture else None)


def _position(
    fields: Fields,
    name: str,
    empty: str,
    found: list[tuple[str, str]],
    place: Callable[[str], int] | None,
) -> None:
    """Draw a choice of a row or a key of the picture, held as its token where that is the only one, else as its
    position.
    """
    title, text = label(name, fields.texts.get("kind", "")), fields.texts.get(name, "")
    try:
        at = "" if not text or place is None else str(place(text))
    except ValueError:
        at = None  # the picture has no such place: it is shown as it was typed, and the check says so
    if place is None or at is None:
        fields.line(name, f"{title} (its token, or its position from 0)")
        return

    def text_of(chosen: str) -> str:
        token = found[int(chosen)][1] if chosen else ""
        try:
            is_only = bool(token.strip()) and not token.isdecimal() and place(token) == int(chosen)
        except ValueError:
            is_only = False
        return token if is_only else chosen

    titles = {"": empty} | {str(i): f"{i}  {shown}" for i, (shown, _) in enumerate(found)}
    fields.choose_as(name, title, titles, (at, text_of))


def _draw_nothing(fields: Fields, picture: Picture | None) -> None:
    """Draw no fields: free text has none of its own."""


_FORMS: dict[str, Callable[[Fields, Picture | None], None]] = {
    CELL: _cell,
    ROW: _row_form,
    HEAD: _head,
    TOKEN: _token,
    TRANSLATION: _translation,
    NUMBER: _number,
    CHOICE: _choice,
    TEXT: _draw_nothing,
}
