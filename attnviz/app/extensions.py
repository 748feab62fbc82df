"""Extensions: panels beside any page. Frame and pictures ask this list, and know no lesson and no class.

An extension is a module that is imported once the address has one of its texts. The list says the order in which they
are drawn.
"""

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from attnviz.app.address import persistent
from attnviz.app.frame.page import Page

if TYPE_CHECKING:
    from attnviz.heads.heads_state import HeadsState
    from attnviz.kit.covering import Covering

# Modules, and the texts of the address that want them.
_EXTENSIONS = {
    "attnviz.lessons.page.extension": ("lesson", "class", "panel", "beside"),
    "attnviz.classroom.page.extension": ("class",),
}


class Extension(Protocol):
    """The functions of each of these modules."""

    @staticmethod
    def begin(page: Page) -> None:
        """Read what the address asks for, before anything is drawn."""

    @staticmethod
    def draw_panel(page: Page) -> str:
        """Draw beside or below the bar; return the sentence in the place of the page's picture, "" where it may be
        shown.
        """
        ...


class Asking(Protocol):
    """The functions of an extension that asks questions about a picture; classes ask by means of lessons."""

    @staticmethod
    def covering(view: "HeadsState") -> "Covering":
        """Return the open question's cover of the Heads picture, its task on the map, and the marks there."""
        ...

    @staticmethod
    def hides_numbers() -> bool:
        """Check whether a question is open whose answer some number of the run would tell."""
        ...

    @staticmethod
    def covered_sentence() -> str:
        """Return the sentence in the place of a covered picture."""
        ...

    @staticmethod
    def adopt_marks() -> None:
        """Take over what was marked on the Heads map."""


def begin(page: Page) -> None:
    """Begin the extensions that the address asks for."""
    for extension in _wanted_extensions():
        extension.begin(page)


def draw_panels(page: Page) -> str:
    """Draw their panels; return the first sentence in the place of the page's picture, "" for none."""
    return next(filter(None, [extension.draw_panel(page) for extension in _wanted_extensions()]), "")


def asking_extension() -> Asking | None:
    """Return the extension that may ask about this page's picture."""
    is_asked = any(map(persistent.text, _EXTENSIONS["attnviz.lessons.page.extension"][:2]))
    return cast("Asking", import_module("attnviz.lessons.page.extension")) if is_asked else None


def _wanted_extensions() -> Iterator[Extension]:
    for name, texts in _EXTENSIONS.items():
        if any(map(persistent.text, texts)):
            yield cast("Extension", import_module(name))
