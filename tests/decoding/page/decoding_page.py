"""Read the Decoding page after AppTest has run it: the data of its component, the verdict, and the texts."""

import re

from streamlit.testing.v1 import AppTest

from attnviz.kit.wire import unpack

PAIR = {"src": "I love you", "to": "fr", "tgt": "un chien rouge"}


def header(app: AppTest) -> dict:
    """Read what the component is told, less the bytes of its maps."""
    (component,) = [part for part in app.get("bidi_component") if part.proto.bytes]
    return unpack(component.proto.bytes).header


def verdict(app: AppTest) -> str:
    """Return the verdict in words."""
    (block,) = [part.proto.body for part in app.get("html") if "data-verdict=" in part.proto.body]
    return re.sub(r"<[^>]+>", " ", block)


def copied_link(app: AppTest) -> str:
    """Return the link that the button copies."""
    (told,) = [part.proto.json for part in app.get("bidi_component") if part.proto.json.startswith('{"query"')]
    return told


def notes(app: AppTest) -> str:
    """Read the notes above the picture."""
    return "\n".join(note.value for note in (*app.error, *app.info, *app.warning)).replace("\\", "")
