"""A word of a page that has a definition: what makes it one that the pointer, a finger and the keyboard can ask."""

import html

from attnviz.text.glossary import TERMS, definition


def term(word: str) -> str:
    """The attributes of the HTML element that holds `word`. Raises KeyError for a word that nobody has defined."""
    definition(word)
    return f"class='term' tabindex='0' data-term='{html.escape(word, quote=True)}'"


def term_if_known(word: str) -> str:
    """As `term`; nothing for a word without a definition."""
    return term(word) if word in TERMS else ""
