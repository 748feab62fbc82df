"""What the page explains where a term stands: the words that its frame sends to the browser."""

import json

from streamlit.testing.v1 import AppTest


def read_terms(app: AppTest) -> dict[str, str]:
    """Each term of the page, and its definition."""
    found = {part.proto.component_name: part.proto for part in app.get("bidi_component")}
    return json.loads(found["attnviz.definitions"].json)["words"]
