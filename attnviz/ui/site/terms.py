"""The parts of Anatomy and of Implementations to choose from, and the terms of the chosen one.

A term in HTML of the page is a `term` of `attnviz.views.terms`; these here are for widgets.
"""

import html
from collections.abc import Mapping

import streamlit as st

from attnviz.text.glossary import definition, words_on
from attnviz.ui.address import widgets
from attnviz.ui.markdown import literal


def explain_terms(*names: str) -> str:
    """Join the definitions of a few terms as Markdown for a widget's `help`."""
    if len(names) == 1:
        return literal(definition(names[0]))
    return "\n\n".join(f"**{literal(name)}**: {literal(definition(name))}" for name in names)


def choose_part(page: str, parts: Mapping[str, str], chosen: str) -> None:
    """Draw the parts of a page to choose from, and a button that opens the terms of the chosen one."""
    with st.container(key="parts", horizontal=True, vertical_alignment="center", gap="small"):
        widgets.segments("tab", "Part of the page", parts, chosen, hide_label=True)
        terms = {name: definition(name) for name in words_on(page, chosen)}
        listed = "".join(f"<dt>{html.escape(name)}</dt><dd>{html.escape(text)}</dd>" for name, text in terms.items())
        with st.popover("Words", help="Terms on this part of the page", key="words"):
            st.html(f"<dl class='words' tabindex='0'>{listed}</dl>")
