"""A word of a page that has a definition, as HTML that the pointer, a finger and the keyboard can ask.

What they are told, the page says (`attnviz.ui.mount`), from the glossary.
"""

import html
from collections.abc import Callable

from attnviz.text.glossary import TERMS, definition, tried_on
from attnviz.text.terms.places import TryPlace


def term(word: str, shown: str = "") -> str:
    """A term that can be asked; `shown` is HTML to show in its place. KeyError if nobody has defined it."""
    definition(word)
    marked = html.escape(word, quote=True)
    return f"<span class='term' tabindex='0' data-term='{marked}'>{shown or html.escape(word)}</span>"


def term_if_known(word: str) -> str:
    """As `term`; the word alone, escaped, where it has no definition."""
    return term(word) if word in TERMS else html.escape(word)


def words_html(page: str, address: Callable[[TryPlace], str]) -> str:
    """All terms of a page, each with its definition and a link to where it can be tried; `address` makes the link.

    On a page `attnviz/widgets/definitions` follows it without a reload.
    """

    def entry(word: str, text: str, place: TryPlace) -> str:
        href, name = html.escape(address(place), quote=True), html.escape(word, quote=True)
        link = f"<a href='{href}' target='_self' data-try='{name}'>{html.escape(place.said)}</a>"
        return f"<div><dt>{html.escape(word)}</dt><dd>{html.escape(text)} {link}</dd></div>"

    return f"<dl class='page-words'>{''.join(entry(*told) for told in tried_on(page))}</dl>"
