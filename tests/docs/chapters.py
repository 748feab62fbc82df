"""Read the chapters of docs/guide and docs/concepts: their text, names on screen, and links to the app."""

import re
from functools import cache
from html import unescape
from pathlib import Path

from attnviz.lessons.lesson import Link
from attnviz.lessons.measures import compute_measure
from attnviz.lessons.picture import LinkedPicture, pictures
from attnviz.lessons.question import NUMBER, Question
from attnviz.lessons.reading import link_of
from tests.lessons.told import says

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CHAPTERS = tuple(sorted((*DOCS.glob("guide/*.md"), *DOCS.glob("concepts/*.md"))))
APP = "http://localhost:8501"
WITHOUT_PICTURE = ("/", "/lessons", "/class")
_run = pictures()
_BOLD = re.compile(r"\*\*(.+?)\*\*")
_ADDRESS = re.compile(rf"\({APP}(/[^)\s]*)\)")
_LIVE = re.compile(r"```\{live\} (\S+)")


@cache
def text(name: str) -> str:
    """Read a chapter such as `guide/heads`, its lines joined, without marks of emphasis."""
    raw = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    return " ".join(re.sub(r"\*+", "", raw).split())


def tells(name: str, sentence: str, *values: float) -> bool:
    """Whether a chapter has this sentence with these values."""
    return says(text(name), sentence, *values)


def bold(chapter: Path) -> list[str]:
    """Return the words in bold: a chapter sets names on screen in bold."""
    joined = " ".join(chapter.read_text(encoding="utf-8").split())
    return [unescape(found) for found in _BOLD.findall(joined)]


def live(chapter: Path) -> list[str]:
    """Return the names of the gallery's scripts whose pictures a chapter shows."""
    return _LIVE.findall(chapter.read_text(encoding="utf-8"))


def addresses(chapter: Path) -> list[str]:
    """Return the addresses of a chapter's links to the app, without the host."""
    return _ADDRESS.findall(chapter.read_text(encoding="utf-8"))


def links() -> dict[str, Link]:
    """Return each address that leads to a picture, as the app reads it."""
    every = dict.fromkeys(address for chapter in CHAPTERS for address in addresses(chapter))
    found = {address: link_of(address) for address in every if address.partition("?")[0] not in WITHOUT_PICTURE}
    return {address: link for address, link in found.items() if link is not None}


def picture(name: str, part: str) -> LinkedPicture:
    """Run a chapter's one link that has `part` in its query."""
    (address,) = [found for found in addresses(DOCS / f"{name}.md") if part in found]
    link = link_of(address)
    assert link is not None
    return _run(link)


def run(link: Link) -> LinkedPicture:
    """Run a link, or return its earlier run."""
    return _run(link)


def measure(shown: LinkedPicture, name: str, row: str = "", **more: str) -> float:
    """Compute a number of a picture that a lesson could ask for."""
    return compute_measure(shown, Question(NUMBER, "", row=row, measure=name, more=more))
