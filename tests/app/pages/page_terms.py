"""Read the explained terms of a page: the words that its frame sends to the browser."""

import json

from streamlit.testing.v1 import AppTest


def read_terms(app: AppTest) -> dict[str, str]:
    """Return each term of the page with its definition."""
    found = {part.proto.component_name: part.proto for part in app.get("bidi_component")}
    return json.loads(found["attnviz.definitions"].json)["words"]
