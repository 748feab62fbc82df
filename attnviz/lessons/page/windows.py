"""A lesson in two windows of one browser: the panel alone in one, the picture in the other.

The address of each says what it is and the name of the line between them: the panel's window has it as `panel`, the
picture's as `beside`. The windows are two visits to the server; `companion` is how they tell each other.
"""

import re
import secrets

import streamlit as st

from attnviz.app.address import persistent
from attnviz.app.address.names import OF_WINDOW

PANEL, BESIDE = OF_WINDOW
_OF_PANELS = ("Lessons", "Class")  # the pages that a panel's window may show
_NAME = re.compile(r"[\w-]{8,40}", re.ASCII)
_OWN = "_attnviz_line"


def is_panel() -> bool:
    """Check whether this window has the panel alone."""
    return bool(persistent.text(PANEL))


def is_beside() -> bool:
    """Check whether this window has the picture, and its panel may be in another."""
    return bool(persistent.text(BESIDE))


def line() -> str:
    """Return the name of the line to the other window: that of the address, else a new window's."""
    own: str = st.session_state.setdefault(_OWN, secrets.token_hex(8))
    return persistent.text(PANEL) or persistent.text(BESIDE) or own


def tidy() -> None:
    """Take out of the address what does not hold on this page, or without an open lesson. Call it early in each run."""
    is_open = persistent.text("lesson") or persistent.text("class")
    for name in (PANEL, BESIDE):
        if not is_open or not _NAME.fullmatch(persistent.text(name)):
            persistent.write({name: None})
    if persistent.page() not in _OF_PANELS:
        persistent.write({PANEL: None})
    elif is_panel():
        persistent.write({BESIDE: None})
