"""The terms that pages show, each defined in a sentence or two: what a person reads under the pointer.

A page asks by the term as it is written on screen; a term that is missing is an error, so that a test finds it.
"""

from collections.abc import Mapping

from attnviz.text.terms.causes import CAUSES
from attnviz.text.terms.decoding import DECODING
from attnviz.text.terms.frame import FRAME
from attnviz.text.terms.heads import HEADS
from attnviz.text.terms.learning import LEARNING
from attnviz.text.terms.many_sentences import MANY_SENTENCES
from attnviz.text.terms.masks import MASKS
from attnviz.text.terms.places import TryPlace, place_of
from attnviz.text.terms.site import SITE

TERMS = HEADS | MASKS | DECODING | CAUSES | MANY_SENTENCES | LEARNING | SITE | FRAME
SECTIONS: Mapping[str, Mapping[str, str]] = {
    "Heads": HEADS,
    "Masks": MASKS,
    "Decoding": DECODING,
    "Causes": CAUSES | MANY_SENTENCES,
    "Learning": LEARNING,
    "Anatomy": SITE,
    "Implementations": SITE,
}
_BY_NAME = {term.lower(): text for term, text in TERMS.items()}


def definition(term: str) -> str:
    """What a term means, in a sentence or two; as it is written, else in capitals or not. KeyError for a term that
    nobody has defined.
    """
    return TERMS.get(term) or _BY_NAME[term.lower()]


def words_of(page: str) -> Mapping[str, str]:
    """The terms that stand on the page of this title: its own, and the frame's."""
    return {**FRAME, **SECTIONS.get(page, {})}


def tried_on(page: str) -> tuple[tuple[str, str, TryPlace], ...]:
    """The terms of a page in the order of the alphabet: each with what it means, and where it can be tried."""
    own = SECTIONS.get(page, {})
    return tuple(
        (term, text, place_of(term, page if term in own else "frame"))
        for term, text in sorted(words_of(page).items(), key=lambda entry: entry[0].casefold())
    )


def places_of(page: str) -> Mapping[str, TryPlace]:
    """Where each term that may be asked on a page is tried: those of the page, and those of Heads, whose names the
    pictures of other pages use too.
    """
    of_pictures = {term: place_of(term, "Heads") for term in HEADS}
    return of_pictures | {term: place for term, _, place in tried_on(page)}
