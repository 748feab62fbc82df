"""Runs of a step's link, with the models and traces that all visitors share."""

from attnviz.app import hosting
from attnviz.app.cache import traces
from attnviz.app.request import Request
from attnviz.lessons.lesson import Link
from attnviz.lessons.picture import LinkedPicture
from attnviz.models.catalogue import DEFAULT, entries, unshipped_entry
from attnviz.text.chat_link import read_chat


def request(link: Link) -> Request:
    """Return the top bar's request when the link is opened. Raises TextError for a conversation that is none."""
    said, name = link.texts, link.texts.get("model") or DEFAULT
    entry = next((one for one in entries() if one.name == name), None) or unshipped_entry(name)
    to = said.get("to", "") or (entry.languages[0] if entry.languages else "")
    new, turns = said.get("new", ""), read_chat(said.get("chat", ""))
    return Request(
        entry,
        "" if turns else said.get("src", ""),
        to,
        said.get("tgt", ""),
        int(new[:4]) if new.isdecimal() else 0,
        said.get("do", ""),
        turns,
    )


def picture(link: Link | None) -> LinkedPicture | None:
    """Return the link's picture; None for no link, and for a page that runs nothing of the bar.

    Raises ValueError with one sentence.
    """
    if link is None or link.page == "Learning":
        return None
    return shown_picture(link)


def shown_picture(link: Link) -> LinkedPicture:
    """Return the picture of a link to a page that runs the bar's model. Raises ValueError with one sentence."""
    asked = request(link)
    if not traces.is_cached(asked):
        hosting.ensure_turn()
    return LinkedPicture(link, traces.model(asked.entry.name), traces.trace(asked))
