"""Colours for a host that has none of its own: what the page around says of itself holds before the system's."""

import tomllib
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.each_case import each_case
from tests.heads.component.heads_page import NEEDS_A_BROWSER

pytestmark = NEEDS_A_BROWSER

CONFIG = Path(__file__).parents[3] / ".streamlit" / "config.toml"
NAMES = {
    "background": "backgroundColor", "paper": "secondaryBackgroundColor", "ink": "textColor", "accent": "primaryColor",
}  # fmt: skip
SHOW = """(themes, [node, name, value, theme]) => {
  if (name) document[node].setAttribute(name, value);
  const place = document.createElement("div");
  themes.setTheme(place, theme)();
  if (name) document[node].removeAttribute(name);
  return Object.fromEntries([...place.style].map((one) => [one.slice(6), place.style.getPropertyValue(one)]));
}"""


@pytest.fixture(scope="module")
def show(module):
    script = module("kit/js/hosts/themes.js")
    return lambda node="body", name="", value="", theme="auto": script(SHOW, [node, name, value, theme])


def test_widget_colours_equal_the_apps_theme(show) -> None:
    themes = tomllib.loads(CONFIG.read_text(encoding="utf-8"))["theme"]
    for name in ("light", "dark"):
        assert show(theme=name) == {ours: themes[name][theirs] for ours, theirs in NAMES.items()}


@each_case(
    ("node", "name", "value", "expected"),
    [
        ("body", "data-jp-theme-light", "true", "light"),
        ("body", "data-jp-theme-light", "false", "dark"),
        ("body", "data-vscode-theme-kind", "vscode-light", "light"),
        ("body", "data-vscode-theme-kind", "vscode-high-contrast", "dark"),
        ("body", "data-vscode-theme-kind", "vscode-high-contrast-light", "light"),
        ("documentElement", "theme", "dark", "dark"),
        ("body", "", "", "system"),
    ],
)
def test_auto_follows_the_page_and_else_the_system(empty_page: Page, show, node, name, value, expected) -> None:
    for system in ("light", "dark"):
        empty_page.emulate_media(color_scheme=system)
        assert show(node, name, value) == show(theme=system if expected == "system" else expected)
