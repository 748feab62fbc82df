"""The tab "Many sentences": measures of every head over a list of sentences, and the pruning curve."""

from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app import charts, layout
from attnviz.app.address.widgets import segments
from attnviz.app.request import Request
from attnviz.causes.corpus.figures.scatter import pruning_chart
from attnviz.causes.corpus.numbers.pruning import COMMAND, merged_seeds, shipped_curve
from attnviz.causes.corpus.page import lists, one_head, overview, watch
from attnviz.causes.corpus.page.state import LISTS, PARTS, SentencesState, current_view
from attnviz.kit.glossary import definition
from attnviz.models.catalogue import entries
from attnviz.text.languages import language_name

if TYPE_CHECKING:
    from attnviz.causes.corpus.numbers.studies import CorpusStudy
    from attnviz.models.protocol import Model
    from attnviz.tracing.trace import Trace

OF_ANOTHER = "python -m attnviz.causes.corpus --model {}{} --out curve.csv < sentences.tsv"
SOURCE = "sentences: manythings.org/anki and tatoeba.org, CC BY 2.0 FR"
_NOT_HERE = (
    "Removing heads one after another takes minutes to hours, so this page does not do it. You can "
    "run this command instead. Its input file has one line per sentence: the sentence, a tab, and the "
    "translation."
)
AS_IT_IS = "The changes to the run, shown above, are not applied here. The unchanged model reads the list."


def draw(request: Request, loaded: "Model", trace: "Trace") -> SentencesState:
    """Draw the tab Many sentences; return its state, which a copied link stores."""
    view = current_view(request.entry, trace)
    bar = st.container(horizontal=True, key="corpus-bar")
    with bar:
        segments("part", "Over many sentences", PARTS, view.part, hide_label=True)
    if view.part == "pruning":
        _pruning_curve(request, loaded)
        return view
    with bar:
        segments("sentences", "Sentences", LISTS, view.sentences, hide_label=True)
    if request.interventions:
        layout.note(AS_IT_IS)
    lines = lists.picker(view, request.to, _lines_help(loaded))
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


def _lines_help(loaded: "Model") -> str:
    if loaded.inputs.takes_target:
        return "One sentence per line. You may add a tab and its translation; otherwise the model writes it."
    return "One sentence per line."


def _caption(request: Request, study: "CorpusStudy", view: SentencesState) -> list[str]:
    into = f" into {language_name(request.to)}" if request.to else ""
    said = f"{int(study.profiles.measured.sum()):,} sentences{into}"
    source = f" · {SOURCE}" if view.sentences == "shipped" else ""
    return [f"{said}{source}", f"{request.entry.title}, weights {study.corpus.like.model_id}"]


def _pruning_curve(request: Request, loaded: "Model") -> None:
    """Draw a shipped model's pruning curve for the chosen language, or the command that computes another model's."""
    st.markdown("**Heads removed one after another**", help=definition("Pruning curve"))
    is_shipped = request.entry in entries()
    try:
        table = shipped_curve(request.entry.folder, request.to, loaded.model_id) if is_shipped else None
    except ValueError as refusal:
        layout.warn(str(refusal))
        return
    if table is None:
        st.caption(_NOT_HERE)
        language = f" --to {request.to}" if request.to else ""
        st.code(OF_ANOTHER.format(request.entry.name, language), language="shell", wrap_lines=True)
        return
    first = table.iloc[0]
    title = f"Into {language_name(request.to)}, {first['sentences']} held-out sentences"
    said = (
        f"Orders were found on {first['orders_from']} other sentences. A band shows where 95 % of bootstrap draws of "
        "the sentences lie; for the random orders it reaches from the worst seed to the best."
    )
    made = pruning_chart(merged_seeds(table), title=title, theme=charts.theme())
    charts.show(made, key="pruning-curve", table=lambda: table, caption=[said, _curve_caption(request, loaded)])
    st.caption(f"{said} The model is not retrained in between. Measured by:", help=definition("Pruning orders"))
    st.code(COMMAND.format(to=request.to), language="shell", wrap_lines=True)


def _curve_caption(request: Request, loaded: "Model") -> str:
    return f"{request.entry.title}, weights {loaded.model_id} · {SOURCE}"
