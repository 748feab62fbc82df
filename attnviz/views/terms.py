"""A word of a page that has a definition, as HTML that the pointer, a finger and the keyboard can ask.

What they are told, the page says (`attnviz.ui.mount`), from the glossary.
"""

import html

from attnviz.text.glossary import TERMS, definition


def term(word: str, shown: str = "") -> str:
    """A term that can be asked; `shown` is HTML to show in its place. KeyError if nobody has defined it."""
    definition(word)
    marked = html.escape(word, quote=True)
    return f"<span class='term' tabindex='0' data-term='{marked}'>{shown or html.escape(word)}</span>"


def term_if_known(word: str) -> str:
    """As `term`; the word alone, escaped, where it has no definition."""
    return term(word) if word in TERMS else html.escape(word)
