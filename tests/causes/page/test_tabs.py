"""The Causes page without a browser: its tabs, and its notes on links that ask for missing things."""

import pytest

from attnviz.causes.page.state import TABS


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_opens(open_page, tab: str) -> None:
    app = open_page("causes", src="a big red dog", to="fr", tab=tab)
    assert not app.exception
    assert not app.error


def test_a_tab_that_there_is_not_is_said_and_the_first_one_opens(open_page) -> None:
    app = open_page("causes", src="a big red dog", to="fr", tab="guess")
    assert not app.exception
    assert any("guess" in note.value and "attribute" in note.value for note in app.info)
