"""What Streamlit would work out again in every run, although it is the same each time, is worked out once.

The colours and fonts of the theme are read from some hundred options; every page's file is looked for on the disk;
whether a text of HTML is but styles is asked of every character.
`attnviz/ui/streamlit_internals.py` sets these into Streamlit's modules, whose names it checks.
"""

from collections.abc import Callable
from copy import copy
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any

_TEXTS = 256  # that are known at a time: pages have a few style sheets, and some HTML with numbers in it


def theme(populate: Callable[..., None], when_read: Callable[..., Any]) -> Callable[..., None]:
    """`populate(message, section)` from what it said for that section before.

    It is asked again after the options were read again: `when_read` has a function called then.
    """
    told: dict[str, Any] = {}
    when_read(told.clear, force_connect=True)

    @wraps(populate)
    def remembered(message: Any, section: str = "theme") -> None:
        if section not in told:
            made = type(message)()
            populate(made, section)
            told[section] = made
        if told[section].ByteSize():  # else the section would count as said
            message.MergeFrom(told[section])

    return remembered


def pages(create: Callable[..., Any]) -> Callable[..., Any]:
    """`create(path)`, a page that is run once, as a copy of what it gave for that path before."""
    made: dict[tuple[str, bool], Any] = {}

    @wraps(create)
    def remembered(path: str | Path, *, default: bool = False) -> Any:
        name = str(path), default
        if name not in made:
            made[name] = create(path, default=default)
        return copy(made[name])

    return remembered


def is_only_styles(ask: Callable[[str], bool]) -> Callable[[str], bool]:
    """`ask(html)`, which is asked once of a text."""
    return wraps(ask)(lru_cache(maxsize=_TEXTS)(ask))
