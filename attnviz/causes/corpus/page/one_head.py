"""The part of the tab about one head: its measures, roles and attended tokens, and sample sentences."""

from collections.abc import Sequence

import streamlit as st

from attnviz.analysis.runs import HeadPlace
from attnviz.app import charts
from attnviz.app.address import persistent
from attnviz.app.markdown import literal
from attnviz.causes.corpus.figures import scatter
from attnviz.causes.corpus.numbers.samples import CorpusSample, quantile_samples, top_sentences
from attnviz.causes.corpus.numbers.studies import CorpusStudy
from attnviz.causes.corpus.tables import SPREAD, values_of
from attnviz.kit.glossary import definition
from attnviz.kit.views.labels import KINDS, head_name
from attnviz.text.display import display

_TOP, _BUCKETS, _EACH, _WORDS = 5, 5, 2, 12
_PARTS = ("least", "second fifth", "middle", "fourth fifth", "most")


def draw(study: CorpusStudy, place: HeadPlace, caption: list[str]) -> None:
    """Draw the results for one head: distributions of its measures, its roles, attended tokens and sample sentences."""
    kind, layer, head = place
    name = f"{KINDS[kind].tab} {head_name(layer, head)}"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(f"{name} over {int(study.profiles.measured.sum()):,} sentences", anchor=False)
        _link("Open in Heads", {"kind": kind, "layer": str(layer), "head": str(head)}, icon=":material/grid_view:")
    left, middle, right = st.columns([5, 3, 3])
    with left:
        _distributions(study, place, name, caption)
    with middle:
        _roles(study, place, name, caption)
    with right:
        _reads(study, place)
    _samples(study, place)


def _distributions(study: CorpusStudy, place: HeadPlace, name: str, caption: list[str]) -> None:
    nth = study.places.index(place)
    found = {}
    for measure, title in SPREAD.items():
        values = values_of(study, measure)
        found[title] = values[:, nth], scatter.edges(values)
    title = "Each bar counts sentences; the dotted line is the median.<br>All heads have the same axes"
    made = scatter.distribution_figure(found, title=title, theme=charts.theme())
    charts.show(made, key="corpus-spread", table=lambda: scatter.distribution_table(found), caption=[name, *caption])


def _roles(study: CorpusStudy, place: HeadPlace, name: str, caption: list[str]) -> None:
    shares = study.profiles.role_shares()
    kind, layer, head = place
    of_head = (shares["kind"] == kind) & (shares["layer"] == layer) & (shares["head"] == head)
    mine = shares.loc[of_head].dropna()
    if mine.empty:
        return
    title = "Of all rows, the strongest key is …"
    made = scatter.roles_figure(mine, title=title, theme=charts.theme())
    charts.show(made, key="corpus-roles", table=lambda: mine, caption=[name, *caption])


def _reads(study: CorpusStudy, place: HeadPlace) -> None:
    st.markdown("**Tokens that it reads more than an even head does**", help=definition("lift"))
    table = study.profiles.lift(place)
    more = table.loc[table["lift"] > 1].head(_WORDS)
    if more.empty:
        st.caption("No token occurs three times in the list.")
        return
    shown = more.assign(**{column: [display(text) for text in more[column]] for column in ("token", "piece")})
    st.dataframe(
        shown[["token", "piece", "lift", "share", "occurrences"]],
        hide_index=True,
        height=330,
        key="corpus-lift",
        column_config={
            "lift": st.column_config.NumberColumn(format="%.2f ×", help=definition("lift")),
            "share": st.column_config.NumberColumn(format="percent", help="Share of all the head's weight."),
        },
    )
    charts.take_along("corpus-reads", lambda: table)


def _samples(study: CorpusStudy, place: HeadPlace) -> None:
    """Draw sample sentences as links to the page Heads, where the row with the largest output is pinned."""
    st.markdown("**Sentences, by how much the head writes in them**", help=definition("writes"))
    if study.profiles.why_not:
        st.caption(literal(f"How much a head writes is not known for this model: {study.profiles.why_not}."))
        return
    top = top_sentences(study.profiles, place, count=_TOP)
    drawn = quantile_samples(study.profiles, place, buckets=_BUCKETS, each=_EACH)
    columns = st.columns(2)
    with columns[0]:
        st.caption("The most", help=definition("The most"))
        _list(study, place, top)
    with columns[1]:
        st.caption("Random sample: two sentences from each fifth, smallest first", help=definition("Random sample"))
        _list(study, place, drawn)


def _list(study: CorpusStudy, place: HeadPlace, samples: Sequence[CorpusSample]) -> None:
    kind, layer, head = place
    for sample in samples:
        part = f" · {_PARTS[sample.bucket]}" if sample.bucket >= 0 else ""
        more = {"src": sample.line.text, "kind": kind, "layer": str(layer), "head": str(head), "row": str(sample.row)}
        _link(
            f"{display(sample.line.text)} · {sample.written:.2f}{part}",
            {"tab": "heads", "tgt": sample.line.target, "do": "", **more},
        )


def _link(label: str, more: dict[str, str], icon: str | None = None) -> None:
    st.page_link("pages/heads.py", label=literal(label), icon=icon, query_params=persistent.link_to("Heads", more))
