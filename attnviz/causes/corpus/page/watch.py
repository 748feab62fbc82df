"""Progress of a study on the page: start it, show its progress until it is over, and offer a button that stops it."""

from functools import cache
from uuid import uuid4

import streamlit as st

from attnviz.analysis.corpus.lines import CorpusLine
from attnviz.analysis.one_at_a_time import OVER
from attnviz.app import layout
from attnviz.app.address import persistent
from attnviz.app.frame.page import current_page
from attnviz.app.markdown import literal
from attnviz.causes.corpus.numbers.studies import STAGES, CorpusStudy, Studies, StudyRun, StudyView
from attnviz.kit.glossary import definition
from attnviz.models.protocol import Model

EVERY = 0.7  # seconds
_WATCHER, _AGAIN = "corpus-watcher", "corpus-again"
_DOING = {
    "reading": "Reading: {} of {} sentences",
    "measuring": "Measuring every head: {} of {} batches",
    "gradient": "Importance by gradient: {} of {} batches",
    "ablation": "Switching off each head in turn: {} of {} sentences",
}
OTHERS = "The measuring continues, because {} more {} for this list."


@cache
def queue() -> Studies:
    """Return the queue of studies, which runs one study at a time for all visitors of this server."""
    return Studies()


def study(loaded: Model, lines: tuple[CorpusLine, ...], to: str, *, is_asked: bool) -> CorpusStudy | None:
    """Return the results so far of a study of these sentences, or None before the first results; draw the progress
    above.
    """
    if not is_asked:
        _button(f"Measure on {len(lines):,} {'sentence' if len(lines) == 1 else 'sentences'}")
        st.caption(literal(definition("Measure the list")))
        return None
    try:
        run = queue().ask(loaded, lines, to=to, again=st.session_state.pop(_AGAIN, False))
    except ValueError as refusal:
        layout.warn(str(refusal))
        _button("Ask again")
        return None
    view = run.look(_watcher())
    if view.state in OVER:
        _say_how_it_ended(view, len(lines))
    else:
        _progress(run, view)
    return view.study


def _button(label: str) -> None:
    st.button(label, key="corpus-read", type="primary", on_click=_ask, help=definition("Measure the list"))


def _ask() -> None:
    st.session_state[_AGAIN] = True
    persistent.write({"read": "1"})


def _say_how_it_ended(view: StudyView, count: int) -> None:
    if view.state == "failed":
        layout.warn(view.error)
    if view.state == "stopped":
        layout.note(_stopped_sentence(view, count))
    if view.state != "done":
        _button("Measure again")


def _stopped_sentence(view: StudyView, count: int) -> str:
    """Return a sentence that says how many sentences were measured before the study was stopped."""
    if view.study is None:
        return "Stopped before anything was measured."
    measured = int(view.study.profiles.measured.sum())
    taken_out = view.study.ablation.sentences if view.study.ablation is not None else 0
    return f"Stopped: heads were measured on {measured} of {count} sentences, and switched off on {taken_out}."


def _progress(run: StudyRun, drawn: StudyView) -> None:
    """Redraw the progress regularly, and rerun the page when there are new results."""

    def tick() -> None:
        view = run.look(_watcher())
        if view.state in OVER or view.study is not drawn.study:
            st.rerun()
        bar, button = st.columns([6, 1], vertical_alignment="center")
        bar.progress(_share(view), text=_text(view))
        button.button("Stop", key="corpus-stop", on_click=_stop, args=(run,), help=definition("Stop the list"))

    st.fragment(tick, run_every=EVERY)()


def _stop(run: StudyRun) -> None:
    if not run.stop(_watcher()):
        others = run.look().others
        current_page().add(OTHERS.format(others, "visitor waits" if others == 1 else "visitors wait"))


def _share(view: StudyView) -> float:
    return 0.0 if view.state == "waiting" else min(1.0, view.done / max(1, view.total))


def _text(view: StudyView) -> str:
    if view.state == "waiting":
        return f"Waiting: {view.ahead} {'list is' if view.ahead == 1 else 'lists are'} measured before this one"
    return f"{STAGES.index(view.stage) + 1} of {len(STAGES)}. {_DOING[view.stage].format(view.done, view.total)}"


def _watcher() -> str:
    return st.session_state.setdefault(_WATCHER, uuid4().hex)
