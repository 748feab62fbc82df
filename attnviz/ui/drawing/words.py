"""The words of a page: their explanations at the pointer, each with a link to a place to try it."""

from functools import cache
from typing import Any

from attnviz.text.glossary import TryPlace, places_of, words_of
from attnviz.ui.address import navigation, persistent
from attnviz.ui.components import widget
from attnviz.ui.reports import TEXT, reported_value

_KEY = "definitions"


def explain(page: str) -> None:
    """Explain the page's words, once on the page of this title, wherever they stand, while something points at them.

    The component draws nothing by itself: it watches the page's buttons, list entries and labels, Streamlit's and those
    in our widgets, and finds each by the text that it shows, or by its `data-term` (`attnviz.views.terms`). A widget
    that explains its own terms (`shared/js/definitions.js`) is left alone; both have one bubble and one look.
    """
    widget(_KEY)(key=_KEY, data=_words_data(page), on_go_change=lambda: _go(page))


@cache
def _words_data(page: str) -> dict[str, Any]:
    """Return the words of a page, and the place to try each."""
    places = {term: (place.page, place.tab, place.title) for term, place in places_of(page).items()}
    return {"words": dict(words_of(page)), "places": places}


def address(place: TryPlace) -> dict[str, str]:
    """Return the address of a place: the page as this visitor left it, and the tab."""
    texts = {name: text for name, text in persistent.address(place.page).items() if name != "tab"}
    return texts | ({"tab": place.tab} if place.tab else {})


def _go(page: str) -> None:
    """Open the place to try the word whose link was followed, in the next run."""
    asked = reported_value(_KEY, "go", {"word": TEXT})
    place = places_of(page).get(asked["word"]) if asked is not None else None
    if place is not None:
        navigation.send(place.page, address(place))
