"""Read the Learning page in tests."""

import json
from urllib.parse import parse_qs

from streamlit.testing.v1 import AppTest

from attnviz.kit.wire import unpack
from attnviz.toys.experiment import Experiment

PATIENCE = 120  # seconds, on a busy machine
BLIND = Experiment("french", without=("causal-mask",))


def header(app: AppTest) -> dict:
    """Read what the component is told, less the bytes of its maps."""
    return next(
        found
        for part in app.get("bidi_component")
        if part.proto.bytes and "asked" in (found := unpack(part.proto.bytes).header)
    )


def chosen_view(told: dict) -> dict:
    return {name: told["view"][name] for name in ("moment", "site", "guess")}


def notes(app: AppTest) -> list[str]:
    """Read the notes above the picture."""
    return [note.value.replace("\\", "") for note in (*app.error, *app.info)]


def copied_link(app: AppTest) -> dict[str, str]:
    """Return the link that the button copies."""
    (told,) = [
        json.loads(part.proto.json)["query"] for part in app.get("bidi_component") if '"query"' in part.proto.json
    ]
    return {name: texts[0] for name, texts in parse_qs(told, keep_blank_values=True).items()}


def states(app: AppTest) -> list[str]:
    return [run["state"] for run in header(app)["runs"]]
