"""The class's answers compared with the right answer, and the first round compared with the second."""

import html
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from attnviz.app import charts
from attnviz.app.frame import screen
from attnviz.app.markdown import literal
from attnviz.classroom.page import rehearsing, seat, teacher
from attnviz.classroom.page.room import teachers
from attnviz.classroom.page.seat import Seat
from attnviz.classroom.state import AFTER, BEFORE, BothRounds, RoundSummary, TeacherView, WrittenText
from attnviz.lessons.page.run import picture
from attnviz.lessons.picture import LinkedPicture
from attnviz.lessons.question import CELL, CHOICE, HEAD, NUMBER, ROW, TEXT, Question
from attnviz.lessons.scoring import RIGHT_FROM, fold_text

if TYPE_CHECKING:
    import pandas as pd

_NAMES = {BEFORE: "First round", AFTER: "Second round"}
_CHART = "class-answers"
_MOST_TYPED = 7  # different texts that have a bar of their own


def draw(found: TeacherView, question: Question) -> None:
    """Draw the figure for the question's kind, for the last or the chosen round, and the right answer."""
    rounds = {name: one for name, one in found.summaries.items() if one.answered}
    if not rounds:
        st.caption("No answers.")
    else:
        with st.container(
            horizontal=True, horizontal_alignment="distribute", vertical_alignment="bottom", key="class-rounds"
        ):
            st.html(shares(question, rounds, found.both, rehearsing.invented_note(found)))
            chosen = _choose_round(list(rounds))
        with st.container(key="class-drawn"):
            _draw_figure(found, question, chosen)
    with st.container(key="class-why"):
        if found.truth is not None and found.truth.said:
            st.success(literal(f"Right: {found.truth.said}"), icon=":material/check:")
        if question.why:
            st.markdown(question.why)


def shares(question: Question, rounds: dict[str, RoundSummary], both: BothRounds | None, whom: str = "") -> str:
    """Return HTML with a bar for the share of right answers in each round.

    It also shows the change among the members who answered in both rounds. `whom` is printed after each number of
    students.
    """
    lines = [
        f"<dt>{_NAMES[name]}</dt><dd>{_share(question, one, whom)}</dd>"
        for name, one in rounds.items()
        if one.share_right is not None
    ]
    if both is not None and len(lines) > 1:
        lines.append(f"<dt>Both rounds</dt><dd>of the {both.members}{whom} who answered both: {_change(both)}</dd>")
    return f"<dl class='class-shares'>{''.join(lines)}</dl>" if lines else "<p></p>"


def _share(question: Question, one: RoundSummary, whom: str) -> str:
    """Return a bar and numbers for one round: the shared weight for drawn rows, or the share of right answers."""
    if question.kind == ROW:
        return (
            f"{_meter(one.mean_score or 0.0)} <b>{one.mean_score or 0.0:.0%}</b> of the weight shared on average; "
            f"{one.right} of {one.scored}{whom} shared {RIGHT_FROM:.0%} or more"
        )
    share = one.share_right or 0.0
    return f"{_meter(share)} <b>{one.right} of {one.scored}</b>{whom} right ({share:.0%}){_score(one)}"


def _meter(share: float) -> str:
    return f"<meter min='0' max='1' value='{share:.4f}'></meter>"


def _change(both: BothRounds) -> str:
    return f"<b>{both.first} → {both.second}</b> right"


def _score(one: RoundSummary) -> str:
    """Return the mean score as text if it differs from the share of right answers; "" otherwise."""
    is_news = one.mean_score is not None and abs(one.mean_score - (one.share_right or 0)) >= 0.005
    return f", mean score {one.mean_score:.0%}" if is_news else ""


def _choose_round(names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    return st.segmented_control(
        "Answers", names, default=names[-1], format_func=_NAMES.__getitem__, key="class-round", required=True
    )


def _draw_figure(found: TeacherView, question: Question, chosen: str) -> None:
    one = found.summaries[chosen]
    truth = found.truth.answer if found.truth is not None else None
    try:
        shown = picture(found.lesson.picture(found.at))
    except ValueError as problem:
        st.warning(literal(str(problem)))
        shown = None
    from attnviz.classroom.figures.answers_chart import enlarge_for_projector

    figure, table = _figure(question, one, truth, shown)
    if one.texts:
        _picking_button(found, chosen)
    if figure is None:
        st.html(texts(one.texts))
        return
    caption = [question.ask, f"{one.answered} answers of{rehearsing.invented_note(found) or ' a class'}"]
    if screen.is_presented():
        charts.show(
            enlarge_for_projector(figure), key=_CHART, table=table, caption=caption, height="stretch", has_tools=False
        )
    else:
        charts.show(figure, key=_CHART, table=table, caption=caption)


def _figure(
    question: Question, one: RoundSummary, truth: Any, shown: LinkedPicture | None
) -> "tuple[Any, Callable[[], pd.DataFrame]]":
    """Return the figure for the question's kind, and a function that makes a table of its numbers."""
    import pandas as pd

    from attnviz.classroom.figures import answers_chart as drawn

    theme = charts.theme()
    if question.kind == CELL and shown is not None and one.cells is not None:
        rows, cols = ([label.text for label in labels] for labels in (shown.maps.rows, shown.maps.cols))
        lines = [(rows[row], cols[col], count) for (row, col), count in sorted(one.cells.items())]
        site, right = (shown.layer, shown.head), [tuple(cell) for cell in truth or ()]
        made = drawn.clicks_on_map(shown.maps, site, one.cells, right, theme=theme)
        return made, lambda: pd.DataFrame(lines, columns=["row", "key", "clicked"])
    if question.kind == ROW and shown is not None and truth is not None:
        keys = [col.text for col in shown.maps.cols]
        made = drawn.rows_compared(keys, one.row, truth, theme=theme)
        return made, lambda: pd.DataFrame({"key": keys, "class": one.row, "model": truth})
    if question.kind == NUMBER and truth is not None:
        made = drawn.dots_on_a_line(one.numbers, truth, question.within, unit=question.unit, theme=theme)
        return made, lambda: pd.DataFrame({"answer": one.numbers})
    if question.kind == HEAD and one.heads is not None:
        names = [f"L{layer} H{head}" for layer, head in question.heads]
        counts = [one.heads.get(pair, 0) for pair in question.heads]
        right = question.heads.index(tuple(truth)) if truth is not None else None
        return _bars(names, counts, right)
    if question.kind == CHOICE or question.options:
        return _bars([option.text for option in question.options], one.options, truth)
    if question.kind != TEXT:
        return _bars(*count_typed(one.texts, truth))
    return None, pd.DataFrame


def count_typed(said: Sequence[WrittenText], right: str | None) -> tuple[list[str], list[int], int | None]:
    """Count the typed answers. Return the most frequent ones, their counts, and the index of the right one.

    Case, punctuation and spaces are ignored. Texts that the teacher did not pick are counted together as others, except
    the right answer, which is spelled as the model writes it.
    """
    counts, first = Counter[str](), dict[str, str]() if right is None else {fold_text(right): right}
    for one in said:
        if one.is_picked or (right is not None and fold_text(one.text) == fold_text(right)):
            counts[fold_text(one.text)] += 1
            first.setdefault(fold_text(one.text), one.text)
    most = counts.most_common(_MOST_TYPED)
    rest = len(said) - sum(count for _, count in most)
    names, numbers = [first[name] for name, _ in most], [count for _, count in most]
    at = next((at for at, (name, _) in enumerate(most) if right is not None and name == fold_text(right)), None)
    return (names, numbers, at) if not rest else ([*names, "others"], [*numbers, rest], at)


def _bars(names: Sequence[str], counts: Sequence[int], right: int | None) -> "tuple[Any, Callable[[], pd.DataFrame]]":
    import pandas as pd

    from attnviz.classroom.figures import answers_chart as drawn

    made = drawn.bars_of_choices(names, counts, right, theme=charts.theme())
    return made, lambda: pd.DataFrame({"option": list(names), "chosen": list(counts)})


def texts(said: Sequence[WrittenText]) -> str:
    """Return the texts that the teacher picked, as a list in HTML, escaped."""
    lines = "".join(f"<li><q><bdi>{html.escape(one.text)}</bdi></q></li>" for one in said if one.is_picked)
    return f"<ul class='class-texts' tabindex='0' aria-label='What the class wrote'>{lines}</ul>"


_BOX = "class-pick"


def _picking_button(found: TeacherView, in_round: str) -> None:
    """Draw a button with the number of shown texts, which opens the list of all texts.

    No text is sent to this screen before the button was pressed.
    """
    said = found.summaries[in_round].texts
    shown = sum(one.is_picked for one in said)
    own = seat.current_seat()
    if st.button(f"Pick texts to show ({shown} of {len(said)} shown)", key="class-picking") and own is not None:
        st.dialog("Texts of the class", width="medium", on_dismiss="rerun")(_list)(own, found, in_round)


def _list(own: Seat, found: TeacherView, in_round: str) -> None:
    st.caption(
        "Open this list where the class does not see your screen, for example with “Your link” on your phone. "
        "The class sees the texts that you tick, without names."
    )
    for one in found.summaries[in_round].texts:
        key = f"{_BOX}-{one.id}"
        st.checkbox(literal(one.text), value=one.is_picked, key=key, on_change=_pick, args=(own, one.id, key))


def _pick(own: Seat, answer: int, key: str) -> None:
    teacher.act(lambda of, **more: teachers(own).pick(of, answer, **more), own, is_picked=st.session_state[key])
