"""What Streamlit works out once says the same as what it works out anew."""

from typing import Any

import pytest
from streamlit import config
from streamlit.elements import html
from streamlit.navigation.page import Page
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session

from attnviz.ui import streamlit_internals
from attnviz.ui.sending import remembered

streamlit_internals.install()
SECTIONS = ("theme", "theme.light", "theme.dark", "theme.sidebar", "theme.light.sidebar", "theme.dark.sidebar")


@pytest.mark.parametrize("section", SECTIONS)
def test_the_theme_is_the_same_each_time_and_as_streamlit_says_it(section: str) -> None:
    said = [CustomThemeConfig() for _ in range(3)]
    populate: Any = app_session._populate_theme_msg
    populate.__wrapped__(said[0], section)
    for message in said[1:]:
        populate(message, section)
    assert said[0] == said[1] == said[2]


def test_a_section_that_says_nothing_stays_unsaid() -> None:
    theme = CustomThemeConfig()
    remembered.theme(lambda message, section: None, config.on_config_parsed)(theme.light, "theme.light")
    assert not theme.HasField("light")


def test_the_theme_is_asked_again_when_the_options_are_read_again() -> None:
    asked: list[str] = []
    populate = remembered.theme(lambda message, section: asked.append(section), config.on_config_parsed)
    for _ in range(2):
        populate(CustomThemeConfig(), "theme")
    config.get_config_options(force_reparse=True)
    populate(CustomThemeConfig(), "theme")
    assert asked == ["theme", "theme"]


def test_a_page_is_made_once_and_each_run_has_one_of_its_own() -> None:
    made: list[str] = []

    def create(path: str, *, default: bool = False) -> Page:
        made.append(path)
        page = Page.__new__(Page)
        page._default, page._can_be_called = default, False
        return page

    pages = remembered.pages(create)
    first, second, home = pages("a.py"), pages("a.py"), pages("a.py", default=True)
    first._can_be_called = True
    assert made == ["a.py", "a.py"]
    assert not second._can_be_called
    assert (second._default, home._default) == (False, True)


@pytest.mark.parametrize("text", ["<style>a {}</style>", "<style>a {}</style><p>b</p>", "<!-- c --><STYLE></STYLE>"])
def test_what_is_but_styles_is_so_each_time(text: str) -> None:
    ask: Any = html._html_only_style_tags
    assert ask(text) is ask(text) is ask.__wrapped__(text)
