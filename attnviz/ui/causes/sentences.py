"""What heads do over many sentences: one sentence tells a story that many refute."""

from typing import TYPE_CHECKING

import streamlit as st

from attnviz.text.languages import language_name
from attnviz.ui import layout
from attnviz.ui.address.widgets import segments
from attnviz.ui.causes.corpus import curve, lists, one_head, overview, watch
from attnviz.ui.causes.corpus.state import LISTS, PARTS, SentencesState, current_view
from attnviz.ui.request import Request

if TYPE_CHECKING:
    from attnviz.analysis.corpus.study import CorpusStudy
    from attnviz.models.protocol import Model
    from attnviz.tracing.trace import Trace

AS_IT_IS = "The changes above do not apply here: the unchanged model reads the list."


def draw(request: Request, loaded: "Model", trace: "Trace") -> SentencesState:
    """Draw the tab; what a link to it carries."""
    view = current_view(request.entry, trace)
    bar = st.container(horizontal=True, key="corpus-bar")
    with bar:
        segments("part", "Over many sentences", PARTS, view.part, hide_label=True)
    if view.part == "pruning":
        curve.draw(request, loaded)
        return view
    with bar:
        segments("sentences", "Sentences", LISTS, view.sentences, hide_label=True)
    if request.interventions:
        layout.note(AS_IT_IS)
    lines = lists.picker(view, request.to, _asked_of(loaded))
    study = watch.study(loaded, lines, request.to, is_asked=view.read) if lines else None
    if study is not None and study.profiles.measured.any():
        _results(request, study, view)
    return view


def _results(request: Request, study: "CorpusStudy", view: SentencesState) -> None:
    caption = _caption(request, study, view)
    if study.why_not:
        st.caption(study.why_not)
    overview.draw(study, view, caption)
    one_head.draw(study, (view.kind, view.layer, view.head), caption)  # type: ignore[arg-type]


def _asked_of(loaded: "Model") -> str:
    if loaded.inputs.takes_target:
        return "One sentence per line. You may add a tab and its translation; otherwise the model writes it."
    return "One sentence per line."


def _caption(request: Request, study: "CorpusStudy", view: SentencesState) -> list[str]:
    into = f" into {language_name(request.to)}" if request.to else ""
    said = f"{int(study.profiles.measured.sum()):,} sentences{into}"
    source = f" · {curve.SOURCE}" if view.sentences == "shipped" else ""
    return [f"{said}{source}", f"{request.entry.title}, weights {study.corpus.like.model_id}"]
