"""What Streamlit would work out again in every run, although it is the same each time, is worked out once.

The colours and fonts of the theme are read from some hundred options; every page's file is looked for on the disk;
whether a text of HTML is but styles is asked of every character; a message is hashed whole to know whether the browser
has it, a widget's script of 200 kB included.
`attnviz/ui/streamlit_internals.py` sets these into Streamlit's modules, whose names it checks.
"""

import hashlib
from collections.abc import Callable
from copy import copy
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any

_LARGE = 10_000  # characters of a script, as many as make a message that a browser keeps
_TEXTS = 256  # that are known at a time: pages have a few style sheets, and some HTML with numbers in it
_scripts: dict[str, str] = {}  # of components, by names that say what they are


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


def by_content(name: str, script: str) -> str:
    """A name for a component that says by a hash what its script is, so that nothing else has it."""
    named = f"{name}_{hashlib.blake2b(script.encode(), digest_size=16).hexdigest()}"
    _scripts[named] = script
    return named


def hash_of_parts(populate: Callable[[Any], None]) -> Callable[[Any], None]:
    """`populate(message)` as before; for a script that the component's name says, the name counts alone."""

    @wraps(populate)
    def remembered(message: Any) -> None:
        component = message.delta.new_element.bidi_component  # an empty one where there is none
        script = _scripts.get(component.component_name, "")
        if not script:
            populate(message)
            return
        component.ClearField("js_content")
        populate(message)
        component.js_content = script
        message.metadata.cacheable = message.metadata.cacheable or len(script) >= _LARGE

    return remembered
