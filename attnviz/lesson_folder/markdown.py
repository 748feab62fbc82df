"""A lesson's texts as HTML: HTML in a lesson stays text, and links into the app lead to an instance."""

import re
from collections.abc import Sequence
from urllib.parse import urlencode

from markdown_it import MarkdownIt
from markdown_it.token import Token as Block

from attnviz.lessons.lesson import PAGES, Link
from attnviz.lessons.parts import link_of

_READER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_FOREIGN = re.compile(r"\s*(//|\\\\|(?!data:)[a-z][a-z0-9+.-]*:)", re.IGNORECASE)  # another site's address
_PATHS = {page: path for path, page in PAGES.items()}


def to_html(text: str, instance: str = "") -> str:
    """Return Markdown as HTML; a link into the app leads to that instance, or is plain text where there is none.

    An image on another site becomes a link to it: a folder requests nothing from other sites unless its reader follows
    a link.
    """
    blocks = _READER.parse(text)
    for block in blocks:
        if block.children:
            block.children = _link_images(_lead(block.children, instance))
    return _READER.renderer.render(blocks, _READER.options, {})


def instance_link(link: Link, instance: str) -> str:
    """Return the address of a link's picture on an instance."""
    texts = {name: text for name, text in link.texts.items() if text}
    return f"{instance}/{_PATHS[link.page]}?{urlencode(texts)}"


def _link_images(parts: Sequence[Block]) -> list[Block]:
    """Replace images on other sites by links; inside a link, by their text alone."""
    kept, depth = [], 0
    for part in parts:
        depth += {"link_open": 1, "link_close": -1}.get(part.type, 0)
        address = str(part.attrs.get("src", ""))
        if part.type != "image" or not _FOREIGN.match(address):
            kept.append(part)
            continue
        text = Block("text", "", 0, content=part.content or address)
        kept += [text] if depth else [Block("link_open", "a", 1, {"href": address}), text, Block("link_close", "a", -1)]
    return kept


def _lead(parts: Sequence[Block], instance: str) -> list[Block]:
    kept, dropped = [], 0
    for part in parts:
        if part.type == "link_open":
            address = str(part.attrs.get("href", ""))
            if link := link_of(address):
                part.attrs["href"] = instance_link(link, instance)
                dropped += not instance
            elif address.startswith("/"):
                part.attrs["href"] = instance + address
                dropped += not instance
            if dropped:
                continue
        elif part.type == "link_close" and dropped:
            dropped -= 1
            continue
        kept.append(part)
    return kept
