"""A word that has a definition, as HTML on which pointer, touch and keyboard can open the definition.

The page sends the definitions to the browser (`attnviz.app.drawing.sheet`).
"""

import html
import re
from collections.abc import Callable

from attnviz.kit.glossary import Term, TryPlace, all_definitions, definition, tried_on


def term(word: str, shown: str = "") -> str:
    """Mark a term, so that the page explains it; `shown` is HTML to show instead of the word.

    Raise KeyError for a word without a definition.
    """
    definition(word)
    marked = html.escape(word, quote=True)
    return f"<span class='term' tabindex='0' data-term='{marked}'>{shown or html.escape(word)}</span>"


def term_if_known(word: str) -> str:
    """Mark a term as `term` does; return the escaped word if it has no definition."""
    return term(word) if word in all_definitions() else html.escape(word)


def without_terms(markup: str) -> str:
    """Remove the marks of `term` from HTML, for places without explanations."""
    return re.sub(r"<span class='term'[^>]*>(.*?)</span>", r"\1", markup)


def words_html(page: str, address: Callable[[TryPlace], str]) -> str:
    """Return a list of all terms on a page, each with its definition and a link to a place to try it.

    `address` returns the link's address. On a page, `attnviz/app/widgets/definitions` follows the link without a
    reload.
    """

    def entry(term: Term) -> str:
        href, name = html.escape(address(term.place), quote=True), html.escape(term.name, quote=True)
        link = f"<a href='{href}' target='_self' data-try='{name}'>{html.escape(term.place.label)}</a>"
        return f"<div><dt>{html.escape(term.name)}</dt><dd>{html.escape(term.text)} {link}</dd></div>"

    return f"<dl class='page-words'>{''.join(map(entry, tried_on(page)))}</dl>"
