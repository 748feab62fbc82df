"""Interventions in the frame of every page: chips below the top bar, each with a button that undoes it.

The text `do` of the address holds the interventions (`tracing.causes.notation`). Every page runs with them, or says
that it ignores them.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app.address import persistent
from attnviz.app.cache import traces
from attnviz.app.frame.page import current_page
from attnviz.app.frame.sentence_field import drop_written_target
from attnviz.app.markdown import literal
from attnviz.app.request import Request
from attnviz.kit.fields import Problem

if TYPE_CHECKING:
    from attnviz.models.protocol import Model
    from attnviz.tracing.causes.intervention import Intervention
    from attnviz.tracing.causes.switches import Head, Shapes

NAME = "do"
_ABSENT = "not in this model"


def change(interventions: "Sequence[Intervention]") -> None:
    """Replace the run's interventions. The model writes its target again.

    If the address cannot hold them all, nothing changes, and a note says why.
    """
    from attnviz.tracing.causes import notation

    text = notation.write(interventions)
    if problem := notation.length_problem(text):
        current_page().add(problem)
        return
    persistent.write({NAME: text or None})
    drop_written_target()


def switch_off(heads: "Iterable[Head]", shapes: "Shapes") -> None:
    """Switch off exactly these heads. Interventions of other kinds stay."""
    from attnviz.tracing.causes import notation, switches

    asked = notation.parse(persistent.text(NAME)).interventions
    change(switches.switch_heads_off(asked, shapes, heads))


def apply_to(request: Request) -> Request:
    """Return the request with those interventions of the address that its model supports, and draw their chips."""
    if not (text := persistent.text(NAME)):
        return request
    from attnviz.tracing.causes import notation, resolution

    asked, problems = notation.parse(text)
    try:
        loaded = traces.model(request.entry.name)
    except ValueError:  # the caller that runs it says so
        return request
    given, why = _measure_means(loaded, asked, request.to)
    found = resolution.split_by_fit(given, loaded.shapes, loaded.model_id)
    said = [_problem(sentence, is_part=bool(asked)) for sentence in (*problems, *found.notes, *why)]
    current_page().add(*persistent.linked_problems(said))
    absent = [one for one, numbered in zip(asked, given, strict=True) if _is_among(numbered, found.dropped)]
    _chips(asked, absent=absent)
    return replace(request, do=notation.write([one for one in asked if not _is_among(one, absent)]))


def _measure_means(
    loaded: "Model", asked: "Sequence[Intervention]", to: str
) -> "tuple[Sequence[Intervention], tuple[str, ...]]":
    """Return the interventions with the measured means that they use, and the problems.

    If the means cannot be measured, the interventions are returned unchanged with a sentence that says why.
    """
    place = st.empty()

    def tell(share: float, what: str) -> None:
        place.progress(share, text=what)

    try:
        return traces.with_means(loaded, asked, to, tell), ()
    except ValueError as why:
        return asked, (str(why),)
    finally:
        place.empty()


def _is_among(one: "Intervention", others: "Sequence[Intervention]") -> bool:
    return any(one is other for other in others)


def draw_ignored(why: str) -> None:
    """Draw the chips on a page or a tab that ignores interventions; `why` is the sentence that says so."""
    if text := persistent.text(NAME):
        from attnviz.tracing.causes import notation

        _chips(notation.parse(text).interventions, why=why)


def _chips(asked: "Sequence[Intervention]", *, absent: "Sequence[Intervention]" = (), why: str = "") -> None:
    from attnviz.kit.views.interventions import describe_change

    if not asked:
        return
    with st.container(key="interventions", horizontal=True, vertical_alignment="center", gap="small"):
        st.html(f"<span class='interventions-lead'>{why or 'Changes to the run'}</span>", width="content")
        for number, each in enumerate(asked):
            words = f"{describe_change(each)} ({_ABSENT})" if _is_among(each, absent) else describe_change(each)
            rest = [other for other in asked if other is not each]
            _button(f"undo-{number}", f"{words} ✕", f"Undo: {describe_change(each)}", lambda rest=rest: change(rest))
        if len(asked) > 1:
            _button("undo-all", "Undo all changes ✕", "Run the model unchanged", lambda: change(()))


def _button(key: str, label: str, means: str, take: Callable[[], None]) -> None:
    st.button(literal(label), key=key, help=literal(means), on_click=take, type="secondary")
    persistent.catch_up(key, take)


def _problem(sentence: str, *, is_part: bool) -> Problem:
    problem = Problem(sentence)
    problem.name, problem.is_part = NAME, is_part
    return problem
