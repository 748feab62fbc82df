"""What Streamlit would work out again in every run, although it is the same each time, is worked out once.

The colours and fonts of the theme are read from some hundred options. Whether a text of HTML is but styles is asked of
every character. A message is hashed whole to know whether the browser has it, a widget's script of 200 kB included.
`attnviz/ui/streamlit_internals.py` sets these into Streamlit's modules, whose names it checks.
"""

import hashlib
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any

from streamlit import config
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NewSession_pb2 import CustomThemeConfig

_LARGE = 10_000  # characters of a script, as many as make a message that a browser keeps
_SCRIPTS, _TEXTS = 64, 256  # that are known at a time: pages have some thirty scripts, and a few style sheets


def theme(populate: Callable[..., None]) -> Callable[..., None]:
    """`populate(message, section)` from what it said for that section before; asked again when the options are."""
    told: dict[str, CustomThemeConfig] = {}
    config.on_config_parsed(told.clear, force_connect=True)

    @wraps(populate)
    def remembered(message: CustomThemeConfig, section: str = "theme") -> None:
        if section not in told:
            made = CustomThemeConfig()
            populate(made, section)
            told[section] = made
        if told[section].ByteSize():  # else the section would count as said
            message.MergeFrom(told[section])

    return remembered


def is_only_styles(ask: Callable[[str], bool]) -> Callable[[str], bool]:
    """`ask(html)`, which is asked once of a text."""
    return wraps(ask)(lru_cache(maxsize=_TEXTS)(ask))


def hash_of_parts(populate: Callable[[ForwardMsg], None]) -> Callable[[ForwardMsg], None]:
    """`populate(message)` as before; of a large script the hash counts that is known, and not the script itself."""

    @wraps(populate)
    def remembered(message: ForwardMsg) -> None:
        component = _component(message)
        script = component.js_content if component is not None and not message.hash else ""
        if component is None or len(script) < _LARGE:
            populate(message)
            return
        component.js_content = _digest(script)
        try:
            populate(message)
        finally:
            component.js_content = script
        message.metadata.cacheable = True  # for all its length

    return remembered


def _component(message: ForwardMsg) -> Any:
    """The component that a message draws, or None."""
    if message.WhichOneof("type") != "delta" or message.delta.WhichOneof("type") != "new_element":
        return None
    element = message.delta.new_element
    return element.bidi_component if element.WhichOneof("type") == "bidi_component" else None


@lru_cache(maxsize=_SCRIPTS)
def _digest(script: str) -> str:
    return hashlib.blake2b(script.encode(), digest_size=16).hexdigest()
