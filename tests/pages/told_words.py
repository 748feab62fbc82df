"""What the page explains where a term stands: the words that its frame sends to the browser."""

import json

from streamlit.testing.v1 import AppTest


def told_words(app: AppTest) -> dict[str, str]:
    """Each term of the page, and its definition. The frame sends them once, as the last thing that its script has."""
    scripts = [part.proto.js_content for part in app.get("bidi_component")]
    (told,) = [script.rpartition("data: ")[2] for script in scripts if 'data: {"words"' in script]
    return json.JSONDecoder().raw_decode(told)[0]["words"]
