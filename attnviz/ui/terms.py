"""Definitions where a term stands: under the pointer, under a finger, and by the Tab key. The glossary has them all."""

import html
from collections.abc import Iterable

import streamlit as st

from attnviz.text.glossary import definition
from attnviz.ui.markdown import literal


def term(name: str, shown: str = "") -> str:
    """HTML of a term with its definition; `shown` is HTML that stands there in the term's place."""
    words = html.escape(definition(name))
    return f"<span class='term' tabindex='0'>{shown or html.escape(name)}<span role='tooltip'>{words}</span></span>"


def explained(*names: str) -> str:
    """Markdown for a widget's `help`: the definitions of a few terms."""
    if len(names) == 1:
        return literal(definition(names[0]))
    return "\n\n".join(f"**{literal(name)}**: {literal(definition(name))}" for name in names)


def words(names: Iterable[str]) -> None:
    """A button that opens the terms of a part of the page, each with its definition."""
    listed = "".join(f"<dt>{html.escape(name)}</dt><dd>{html.escape(definition(name))}</dd>" for name in names)
    with st.popover("Words", help="The terms on this part of the page, each in a sentence", key="words"):
        st.html(f"<dl class='words'>{listed}</dl>")
