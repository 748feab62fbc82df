"""The menu in the rail: every page as this visitor left it, with the sentence that is typed above."""

from urllib.parse import urlencode

import streamlit as st

from attnviz.ui import mount
from attnviz.ui.address import navigation, persistent
from attnviz.ui.reports import TEXT, reported_value

KEY = "rail"
_ICONS = {  # of Material Symbols, which Streamlit brings; the welcome is reached by the name of the program
    "Welcome": "",
    "Heads": "grid_view",
    "Masks": "gradient",
    "Decoding": "stairs",
    "Causes": "help_center",
    "Learning": "trending_down",
    "Anatomy": "splitscreen_left",
    "Implementations": "notes",
    "Lessons": "school",
    "Class": "groups",
}
PATHS = {page: f"pages/{page.lower()}.py" if icon else "dashboard.py" for page, icon in _ICONS.items()}


def title_of(path: str) -> str:
    """Return the title of that file's page."""
    return next(page for page, known in PATHS.items() if known == path)


def draw(current: str) -> None:
    """Draw the menu on the page of that title; a click is one step for Back."""
    mount.rail([_entry(page) for page in PATHS], current, key=KEY, on_go=_go)
    if navigation.is_going():  # clicked when the server had just been restarted
        st.rerun()


def _entry(page: str) -> dict[str, str]:
    # Of this server, wherever its pages begin: an address that begins with no slash is read against the page's own.
    place = page.lower() if _ICONS[page] else "."
    query = urlencode(persistent.address(page))
    return {"page": page, "icon": _ICONS[page], "address": f"{place}?{query}" if query else place}


def _go() -> None:
    """Open the page that was clicked in the next run, with what else was chosen in the same moment."""
    asked = reported_value(KEY, "go", {"page": TEXT})
    if asked is not None and asked["page"] in PATHS:
        navigation.send(asked["page"])
