"""What the page explains where a term stands: the words that its frame sends to the browser."""

import json

from streamlit.testing.v1 import AppTest


def told_words(app: AppTest) -> dict[str, str]:
    """Each term of the page, and its definition. The frame sends them once."""
    (told,) = [json.loads(part.proto.json) for part in app.get("bidi_component") if '{"words"' in part.proto.json]
    return told["words"]
