"""The pruning curve of a shipped model, as it lies beside the weights; of another, the command that computes it."""

import streamlit as st

from attnviz.analysis.corpus.in_card import COMMAND, merged_seeds, shipped_curve
from attnviz.models.catalogue import entries
from attnviz.models.protocol import Model
from attnviz.text.glossary import definition
from attnviz.text.languages import language_name
from attnviz.ui import charts, layout
from attnviz.ui.request import Request
from attnviz.views.causes.corpus.pruning_chart import pruning_chart

OF_ANOTHER = "python -m attnviz.analysis.corpus --model {}{} --out curve.csv < sentences.tsv"
SOURCE = "sentences: manythings.org/anki and tatoeba.org, CC BY 2.0 FR"
_NOT_HERE = (
    "Removing heads one after another takes minutes to hours, so this page does not do it. This command does; give one "
    "sentence per line, then a tab and its translation."
)


def draw(request: Request, loaded: Model) -> None:
    """The curve of the language that is asked for."""
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
        f"Orders were found on {first['orders_from']} other sentences. Bands: 95 % of bootstrap draws of the "
        "sentences; of the random orders, from the worst seed to the best."
    )
    made = pruning_chart(merged_seeds(table), title=title, theme=charts.theme())
    charts.show(made, key="pruning-curve", table=lambda: table, caption=[said, _caption(request, loaded)])
    st.caption(f"{said} The model is not retrained in between. Measured by:", help=definition("Pruning orders"))
    st.code(COMMAND.format(to=request.to), language="shell", wrap_lines=True)


def _caption(request: Request, loaded: Model) -> str:
    return f"{request.entry.title}, weights {loaded.model_id} · {SOURCE}"
