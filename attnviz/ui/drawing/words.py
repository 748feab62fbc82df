"""The words of a page: explained where something points at them, with a link to where each can be tried."""

import json
from functools import cache

from attnviz.text.glossary import places_of, words_of
from attnviz.text.terms.places import TryPlace
from attnviz.ui.address import persistent
from attnviz.ui.lessons import going
from attnviz.ui.reported import TEXT, reported
from attnviz.ui.sending.carried import definitions

_KEY = "definitions"


def explain(page: str, *, carries: str) -> None:
    """Draw once on the page of this title; `carries` is the large widget that it is going to draw, or ""."""
    definitions(_told(page), key=_KEY, on_go=lambda: _go(page), carries=carries)


@cache
def _told(page: str) -> str:
    """The words of a page and where each is tried, as JSON."""
    places = {term: (place.page, place.tab, place.title) for term, place in places_of(page).items()}
    return json.dumps({"words": dict(words_of(page)), "places": places})


def address(place: TryPlace) -> dict[str, str]:
    """What the address of a place says: the page as this visitor left it, and the tab."""
    texts = {name: text for name, text in persistent.address(place.page).items() if name != "tab"}
    return texts | ({"tab": place.tab} if place.tab else {})


def _go(page: str) -> None:
    """The run that follows opens where the word is tried whose link was followed."""
    asked = reported(_KEY, "go", {"word": TEXT})
    place = places_of(page).get(asked["word"]) if asked is not None else None
    if place is not None:
        going.send(place.page, address(place))
