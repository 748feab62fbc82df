"""Read the Causes page in tests."""

from streamlit.testing.v1 import AppTest

from attnviz.kit.wire import Payload, unpack

SRC = "a big red dog"


def payload(app: AppTest) -> Payload:
    """Read what the large component of the tab is told."""
    (component,) = [part for part in app.get("bidi_component") if part.proto.bytes]
    return unpack(component.proto.bytes)


def header(app: AppTest) -> dict:
    """Return the payload's header."""
    return payload(app).header


def notes(app: AppTest) -> str:
    """Read the notes above the picture."""
    return "\n".join(note.value for note in (*app.error, *app.info, *app.warning)).replace("\\", "")


def head_numbers(told: dict, name: str) -> list:
    """Return one number of each head."""
    return [value for group in told["groups"] for value in group[name]]
