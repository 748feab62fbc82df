"""Runs of a step's link, with the cached models and traces that all visitors share."""

from attnviz.app import hosting
from attnviz.app.cache import traces
from attnviz.app.request import Request
from attnviz.lessons.lesson import Link
from attnviz.lessons.picture import LinkedPicture
from attnviz.models.catalogue import DEFAULT, entries, unshipped_entry
from attnviz.text.chat_link import read_chat


def request(link: Link) -> Request:
    """Return the `Request` for a run that opening this link would make: its model, texts, language and interventions.

    Raises TextError for an invalid conversation.
    """
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
        said.get("image", ""),
    )


def picture(link: Link | None) -> LinkedPicture | None:
    """Run the model on the inputs in a link's address; None without a link, and for a page that runs no model
    (Learning).

    Raises ValueError if the run is refused.
    """
    if link is None or link.page == "Learning":
        return None
    return shown_picture(link)


def shown_picture(link: Link) -> LinkedPicture:
    """Run the model on the inputs in the address of a link to a page that runs one, or use the cached run.

    Raises ValueError if the run is refused.
    """
    asked = request(link)
    if not traces.is_cached(asked):
        hosting.ensure_turn()
    return LinkedPicture(link, traces.model(asked.entry.name), traces.trace(asked))
