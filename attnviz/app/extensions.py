"""Extensions: panels that can stand beside any page, such as a lesson's. The frame imports them through this list only.

An extension is a module that is imported once the address has one of its texts. Panels are drawn in the list's order.
"""

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from attnviz.app.address import persistent
from attnviz.app.frame.page import Page

if TYPE_CHECKING:
    from attnviz.kit.covering import Covering

# Modules, and the texts of the address that want them.
_EXTENSIONS = {
    "attnviz.lessons.page.extension": ("lesson", "class", "panel", "beside"),
    "attnviz.classroom.page.extension": ("class",),
}


class Extension(Protocol):
    """The functions that each extension module must have."""

    @staticmethod
    def begin(page: Page) -> None:
        """Read what the address asks for, before anything is drawn."""

    @staticmethod
    def draw_panel(page: Page) -> str:
        """Draw the panel. Return a sentence that replaces the page's picture, or "" if the picture may be shown."""
        ...


class Asking(Protocol):
    """The functions of an extension that asks questions about a picture.

    Only lessons do; classes use lessons for it.
    """

    @staticmethod
    def covering(view: Any) -> "Covering":
        """Return what the open question covers on the Heads picture, what is to be marked there, and the marks.

        `view` is the state of the picture.
        """
        ...

    @staticmethod
    def hides_numbers() -> bool:
        """Check whether a question is open whose answer could be read from the run's values."""
        ...

    @staticmethod
    def covered_sentence() -> str:
        """Return the sentence that is shown instead of a covered picture."""
        ...

    @staticmethod
    def adopt_marks() -> None:
        """Use the visitor's marks on the Heads map as the answer to the open question."""


def begin(page: Page) -> None:
    """Call `begin` of each extension that the address asks for."""
    for extension in _wanted_extensions():
        extension.begin(page)


def draw_panels(page: Page) -> str:
    """Draw the panels of the extensions that the address asks for.

    Return the first sentence that replaces the page's picture, or "" if the picture may be shown.
    """
    return next(filter(None, [extension.draw_panel(page) for extension in _wanted_extensions()]), "")


def are_wanted() -> bool:
    """Check whether the address asks for any extension."""
    return any(persistent.text(name) for texts in _EXTENSIONS.values() for name in texts)


def asking_extension() -> Asking | None:
    """Return the extension that may ask a question about this page's picture; None if the address has no lesson."""
    is_asked = any(map(persistent.text, _EXTENSIONS["attnviz.lessons.page.extension"][:2]))
    return cast("Asking", import_module("attnviz.lessons.page.extension")) if is_asked else None


def _wanted_extensions() -> Iterator[Extension]:
    for name, texts in _EXTENSIONS.items():
        if any(map(persistent.text, texts)):
            yield cast("Extension", import_module(name))
