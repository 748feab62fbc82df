"""The glossary: the terms on the pages, each with a short definition and a place to try it.

`assets/terms/README.md` describes the file format. A page looks up a term as written on screen; an unknown term is an
error, so that a test finds it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from attnviz.places import ASSETS

FOLDER = ASSETS / "terms"
FILES = {  # page -> file of its terms; all pages also have shared.md and the frame's terms
    "Heads": "heads.md",
    "Masks": "masks.md",
    "Decoding": "decoding.md",
    "Causes": "causes.md",
    "Learning": "learning.md",
    "Anatomy": "site.md",
    "Implementations": "site.md",
}
_SHARED, _FRAME = "shared.md", "frame.md"
_HEADING = re.compile(r"^(#{1,2}) (.+?) *$", re.MULTILINE)
_PLACE = re.compile(r"(?P<page>\w+)(?:: (?P<title>.+) \((?P<tab>\w+)\))?")


@dataclass(frozen=True)
class TryPlace:
    """A place to try a term: a page by its title, and a tab by its name in links and its title.

    The tab is "" for a page's first tab, or for a page without tabs.
    """

    page: str
    tab: str = ""
    title: str = ""

    @property
    def label(self) -> str:
        """The text of a link to the place."""
        return f"Try it on {self.page}: {self.title}" if self.title else f"Try it on {self.page}"


@dataclass(frozen=True)
class Term:
    """A term as written on screen, its definition, and the place where it can be tried."""

    name: str
    text: str
    place: TryPlace


@dataclass(frozen=True)
class TermFile:
    """A file of the glossary: its terms by name, and for each place the term names in its line `Words:`."""

    terms: Mapping[str, Term]
    words: Mapping[TryPlace, tuple[str, ...]]


_added: dict[str, dict[str, Term]] = {}  # page -> terms from pictures of other packages, by name


def definition(term: str) -> str:
    """Return the definition of a term as written or in lower case. Raise KeyError for an unknown term."""
    known = all_definitions()
    return known.get(term) or known[term.lower()]


@cache
def all_definitions() -> Mapping[str, str]:
    """Return the definitions on all pages, by term as written and in lower case."""
    pages = [definitions(page) for page in FILES]
    written = {term: text for texts in (*pages, words_of("")) for term, text in texts.items()}
    return {term.lower(): text for term, text in written.items()} | written


@cache
def definitions(page: str) -> Mapping[str, str]:
    """Return the definitions of a page's own terms, without those of the frame; {} for a page without a file."""
    return {term.name: term.text for term in _terms(page).values()}


@cache
def words_of(page: str) -> Mapping[str, str]:
    """Return the definitions of all terms on a page: those of the frame, and the page's own."""
    frame = {term.name: term.text for term in _read(_FRAME, page).terms.values()}
    return {**frame, **definitions(page)}


def tried_on(page: str) -> list[Term]:
    """Return all terms on a page, in alphabetical order."""
    terms = {**_read(_FRAME, page).terms, **_terms(page)}
    return sorted(terms.values(), key=lambda term: term.name.casefold())


@cache
def places_of(page: str) -> Mapping[str, TryPlace]:
    """Return the place of each term that a page can explain: the page's terms and those of Heads, which the
    pictures on other pages use too.
    """
    of_pictures = {name: term.place for name, term in _terms("Heads").items()}
    return of_pictures | {term.name: term.place for term in tried_on(page)}


def words_on(page: str, tab: str) -> tuple[str, ...]:
    """Return the terms that a tab of a page uses, in the order of the file."""
    words = _read(FILES[page], page).words
    return next(names for place, names in words.items() if (place.page, place.tab) == (page, tab))


def text_of(file: str, name: str, **values: object) -> str:
    """Return the text under a heading of a file with values filled in: `{heads}` becomes the value named heads.

    Raise ValueError if the text uses a value that is not given.
    """
    text = _read(file, "").terms[name].text
    try:
        return text.format(**values)
    except (KeyError, IndexError, ValueError) as error:
        known = ", ".join(f"{{{value}}}" for value in values) or "no value"
        raise ValueError(f"assets/terms/{file}, {name!r}: cannot fill in {error}; the text may use {known}.") from error


def read_terms(file: Path, page: str) -> TermFile:
    """Read another package's file of terms, which can be tried on `page`. Raise ValueError as `parse` does."""
    return parse(file.read_text(encoding="utf-8"), str(file), page)


def add_terms(file: Path, page: str) -> None:
    """Make a page of the app also explain the terms in another package's file.

    Terms of attnviz keep their definition. Raise ValueError as `parse` does.
    """
    added = _added.setdefault(page, {})
    added |= {name: term for name, term in read_terms(file, page).terms.items() if name not in added}
    for cached in (all_definitions, definitions, words_of, places_of):
        cached.cache_clear()


def parse(text: str, file: str, page: str) -> TermFile:
    """Parse a file of the glossary.

    Terms before its first `# ` heading can be tried on `page`. Raise ValueError, which names the file and the heading,
    if the text violates the format.
    """
    place, terms, words = TryPlace(page), {}, {}
    _, *parts = _HEADING.split(text)
    for level, heading, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        where = f"{file}, {heading!r}"
        if stray := re.search(r"^#.*", body, re.MULTILINE):
            raise ValueError(f"{where}: {stray[0]!r} is no heading; write '# Page: Title (tab)' or '## term'.")
        if level == "##":
            if heading in terms or not body.strip():
                raise ValueError(f"{where}: {'has two definitions' if heading in terms else 'has no text below it'}.")
            terms[heading] = Term(heading, " ".join(body.split()), place)
        elif found := _PLACE.fullmatch(heading):
            place = TryPlace(found["page"], found["tab"] or "", found["title"] or "")
            if listed := re.search(r"^Words:((?:.+\n)+)", body, re.MULTILINE):
                words[place] = tuple(" ".join(name.split()) for name in listed[1].split(","))
        else:
            raise ValueError(f"{where}: is no place; write '# Page' or '# Page: Title (tab)'.")
    if unknown := {name for names in words.values() for name in names} - terms.keys():
        raise ValueError(f"{file}: Words lists {sorted(unknown)[0]!r}, which no '## ' of the file defines.")
    return TermFile(terms, words)


def _terms(page: str) -> Mapping[str, Term]:
    if page not in FILES:
        return {}
    return {**_added.get(page, {}), **_read(_SHARED, page).terms, **_read(FILES[page], page).terms}


@cache
def _read(file: str, page: str) -> TermFile:
    return parse((FOLDER / file).read_text(encoding="utf-8"), f"assets/terms/{file}", page)
