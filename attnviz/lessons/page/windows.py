"""A lesson in two windows of one browser: one with the panel alone, the other with the picture.

The connection between the windows has a name, which is in the address of both: as `panel` in the panel's window, and as
`beside` in the picture's window. The windows are two sessions on the server; `companion` sends messages between them.
"""

import re
import secrets

import streamlit as st

from attnviz.app.address import persistent
from attnviz.app.address.persistent import OF_WINDOW

PANEL, BESIDE = OF_WINDOW
_OF_PANELS = ("Lessons", "Class")  # the pages that a panel's window may show
_NAME = re.compile(r"[\w-]{8,40}", re.ASCII)
_OWN = "_attnviz_line"


def is_panel() -> bool:
    """Check whether this browser window shows only the lesson's panel, without a picture."""
    return bool(persistent.text(PANEL))


def is_beside() -> bool:
    """Check whether this window shows the picture, while its panel may be in another window."""
    return bool(persistent.text(BESIDE))


def line() -> str:
    """Return the name of the connection to the other window: from the address, or a new name for this session."""
    own: str = st.session_state.setdefault(_OWN, secrets.token_hex(8))
    return persistent.text(PANEL) or persistent.text(BESIDE) or own


def tidy() -> None:
    """Remove window parameters from the address if the page or a missing lesson makes them invalid.

    Call this early in each run.
    """
    is_open = persistent.text("lesson") or persistent.text("class")
    for name in (PANEL, BESIDE):
        if not is_open or not _NAME.fullmatch(persistent.text(name)):
            persistent.write({name: None})
    if persistent.page() not in _OF_PANELS:
        persistent.write({PANEL: None})
    elif is_panel():
        persistent.write({BESIDE: None})
