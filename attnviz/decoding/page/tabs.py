"""The tabs of the page Decoding: the steps of a decoding, and a reply."""

from attnviz.app.address import persistent
from attnviz.app.address.widgets import segments
from attnviz.app.cache import traces
from attnviz.kit.glossary import definition
from attnviz.models.catalogue import Entry

TABS = {"steps": "Step by step", "reply": "Reply"}


def draw_bar(entry: Entry) -> str:
    """Draw the row of tabs, and return the name of the open one.

    The row is omitted for a model that writes no replies, unless a link asks for the tab Reply.
    """
    chosen = persistent.text("tab")
    shown = chosen if chosen in TABS else "steps"
    if shown == "steps" and not writes_replies(entry):
        return shown
    means = "\n\n".join(f"**{title}**: {definition(title)}" for title in TABS.values())
    segments("tab", "View", TABS, shown, hide_label=True, means=means)
    return shown


def writes_replies(entry: Entry) -> bool:
    """Return whether a model continues a text or a conversation, as decoders do."""
    return traces.inputs(entry).is_prompt
