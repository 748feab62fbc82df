"""The names of parameters in an address: which ones are kept from page to page, and which ones older links use."""

from collections.abc import Mapping

OF_WINDOW = ("panel", "beside")  # what a window is to another one: stays, whatever address is opened in it
BAR = ("model", "src", "chat", "to", "tgt", "new", "do", "lesson", "lesson_step", "class", *OF_WINDOW)  # on every page
SITE = ("kind", "layer", "head")
# The head in focus goes along to the pages that show one.
FOCUS: dict[str, tuple[str, ...]] = {
    "Heads": SITE,
    "Masks": SITE,
    "Decoding": ("layer", "head"),
    "Causes": SITE,
    "Anatomy": SITE,
    "Implementations": SITE,
}
# Names that older links use: a name means one thing on every page now, and a tab is called tab.
FORMER = {
    "Heads": {"part": "quadrant"},
    "Masks": {"room": "tab", "other": "instead"},
    "Decoding": {"map_layer": "layer", "map_head": "head"},
    "Anatomy": {"part": "tab"},
}
# What a page shows while nothing is said: a sentence that a single head turns, so that there is something to see.
OPENING: dict[str, dict[str, str]] = {
    "Causes": {"src": "I love you.", "to": "fr", "do": "off.cross.2.0"},
}
OF_LINKS = ("v", "weights")  # what a shared link says besides, and no address of ours


def window_texts(texts: Mapping[str, str]) -> dict[str, str]:
    """Select the parameters of an address that describe the browser window, such as whether the menu is hidden."""
    return {name: texts[name] for name in OF_WINDOW if texts.get(name)}
