"""The tabs of the Decoding page: the steps of a decoding, and a reply as it is written."""

from attnviz.text.glossary import definition
from attnviz.ui.address import persistent
from attnviz.ui.address.widgets import segments

TABS = {"steps": "Step by step", "reply": "Reply"}


def draw_bar() -> str:
    """Draw the row of tabs; return the one that is open."""
    chosen = persistent.text("tab")
    shown = chosen if chosen in TABS else "steps"
    means = "\n\n".join(f"**{title}**: {definition(title)}" for title in TABS.values())
    segments("tab", "View", TABS, shown, hide_label=True, means=means)
    return shown
