"""Every term of every page has a place where it can be tried, and that place is there."""

import pytest

from attnviz.text.glossary import SECTIONS, tried_on, words_of
from attnviz.text.terms import places
from attnviz.ui.anatomy import state as anatomy
from attnviz.ui.causes import state as causes
from attnviz.ui.frame.menu import PATHS
from attnviz.ui.heads import tabs as heads
from attnviz.ui.implementations import state as implementations
from attnviz.ui.masks import state as masks
from attnviz.ui.site.terms import ANATOMY, IMPLEMENTATIONS

TABS = {
    "Heads": heads.TABS,
    "Masks": masks.TABS,
    "Causes": causes.TABS,
    "Anatomy": anatomy.TABS,
    "Implementations": implementations.TABS,
}
TITLES = PATHS.keys() - {"Welcome"}


@pytest.mark.parametrize("page", sorted(TITLES | {"Welcome"}))
def test_every_term_of_a_page_has_a_place_that_is_there(page: str) -> None:
    told = tried_on(page)
    assert [term for term, _, _ in told] == sorted(words_of(page), key=str.casefold)
    for term, text, place in told:
        assert text == words_of(page)[term]
        assert place.page in TITLES, term
        assert place.tab in TABS.get(place.page, {}) or place.tab == "", term


@pytest.mark.parametrize("section", SECTIONS)
def test_a_word_of_a_tab_is_tried_on_a_tab_that_shows_it(section: str) -> None:
    for term in SECTIONS[section]:
        place = places.place_of(term, section)
        shown = {"Anatomy": ANATOMY, "Implementations": IMPLEMENTATIONS}.get(place.page, {})
        tabs = [tab for tab, terms in shown.items() if term in terms]
        first = next(iter(TABS[place.page])) if place.page in TABS else ""
        title = TABS.get(place.page, {}).get(place.tab or first)
        assert not tabs or (place.tab or first) in tabs or term == title, (term, place, tabs)


def test_no_place_names_a_term_that_nobody_shows() -> None:
    by_page = {
        "Heads": places._HEADS, "Masks": places._MASKS, "Causes": places._CAUSES, "Anatomy": places._ANATOMY,
        "Implementations": places._IMPLEMENTATIONS,
    }  # fmt: skip
    for page, tabs in by_page.items():
        assert {term for terms in tabs.values() for term in terms} <= set(SECTIONS[page])
    assert {term for terms in places._FRAME.values() for term in terms} <= set(words_of("Welcome"))
