"""A word of a page that has a definition, as HTML that the pointer, a finger and the keyboard can ask.

The page sends their definitions to the browser (`attnviz.app.drawing.sheet`).
"""

import html
import re
from collections.abc import Callable

from attnviz.kit.glossary import Term, TryPlace, all_definitions, definition, tried_on


def term(word: str, shown: str = "") -> str:
    """Mark a term, so that the page explains it; `shown` is HTML to show in its place.

    Raises KeyError for a word without a definition.
    """
    definition(word)
    marked = html.escape(word, quote=True)
    return f"<span class='term' tabindex='0' data-term='{marked}'>{shown or html.escape(word)}</span>"


def term_if_known(word: str) -> str:
    """Mark a term as `term` does; return the word alone, escaped, if it has no definition."""
    return term(word) if word in all_definitions() else html.escape(word)


def without_terms(markup: str) -> str:
    """Take the marks of `term` away from HTML, for where no page explains them."""
    return re.sub(r"<span class='term'[^>]*>(.*?)</span>", r"\1", markup)


def words_html(page: str, address: Callable[[TryPlace], str]) -> str:
    """List all terms of a page, each with its definition and a link to where it can be tried; `address` makes the link.

    On a page `attnviz/app/widgets/definitions` follows it without a reload.
    """

    def entry(term: Term) -> str:
        href, name = html.escape(address(term.place), quote=True), html.escape(term.name, quote=True)
        link = f"<a href='{href}' target='_self' data-try='{name}'>{html.escape(term.place.label)}</a>"
        return f"<div><dt>{html.escape(term.name)}</dt><dd>{html.escape(term.text)} {link}</dd></div>"

    return f"<dl class='page-words'>{''.join(map(entry, tried_on(page)))}</dl>"
