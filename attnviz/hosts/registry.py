"""Registry of all pictures by name: those of attnviz, and those that other packages offer as `attnviz.pictures`."""

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from attnviz.guards.arguments import reads_arguments
from attnviz.kit import glossary
from attnviz.kit.bundle import PACKAGE, Widget, source, widget_pages
from attnviz.kit.picture import Picture

GROUP = "attnviz.pictures"
NamedPicture = Picture  # its name in attnviz 1.0
_SHARED = ("kind", "layer", "head")  # the head in focus, which every tab shows
_DECLARES = re.compile(r"^[A-Z_]+ = Picture\(", re.MULTILINE)
_log = logging.getLogger(__name__)


def declared_pictures(package: Path, name: str) -> Mapping[str, Picture]:
    """Return the pictures that a package's folders declare in their `__init__.py`, in the order of their positions.

    Only these `__init__.py` are imported. Adding a picture means adding its folder.
    """
    found: list[Picture] = []
    for file in sorted(package.rglob("__init__.py")):
        if _DECLARES.search(file.read_text(encoding="utf-8")):
            module = import_module(".".join((name, *file.parent.relative_to(package).parts)))
            found += [one for one in vars(module).values() if isinstance(one, Picture)]
    return {one.name: one for one in sorted(found, key=lambda one: one.position)}


PICTURES = declared_pictures(PACKAGE, "attnviz")
for _one in PICTURES.values():
    for _file in _one.term_files:
        glossary.add_terms(_file, _one.page)


@dataclass(frozen=True)
class _Offered:
    """Pictures of other packages by name, and a message for each that cannot be used, by the name of its entry
    point.
    """

    pictures: Mapping[str, Picture]
    refusals: Mapping[str, str]


@cache
def _offered() -> _Offered:
    found: dict[str, Picture] = {}
    refused: dict[str, str] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            made = _load(point, found)
        except Exception as error:
            why = " ".join(str(error).split()).removesuffix(".")
            what = why if isinstance(error, ValueError) else f"{type(error).__name__}: {why}"
            refused[point.name] = f"The picture {point.name} of {_package(point)} cannot be used: {what}."
            _log.warning(refused[point.name], exc_info=error)
        else:
            found[made.name] = made
    return _Offered(found, refused)


def _load(point: EntryPoint, known: Mapping[str, Picture]) -> Picture:
    """Return the picture of an entry point. Raise an error of any type if it cannot be used."""
    made = point.load()
    if not isinstance(made, Picture):
        raise ValueError(f"{point.value} is no attnviz.Picture")
    if made.name in PICTURES or made.name in known or any(made.tab == one.tab for one in PICTURES.values()):
        raise ValueError(f"there is another picture called {made.name}")
    if made.script and made.widget in widget_pages():
        raise ValueError(f"attnviz has a widget called {made.widget}")
    source(made.drawn_by)
    for file in made.term_files:
        glossary.add_terms(file, made.page)
    return made


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.module


def pictures() -> Mapping[str, Picture]:
    """Return all pictures by name: those of attnviz, then those of other packages."""
    return {**PICTURES, **_offered().pictures}


def refusals() -> tuple[str, ...]:
    """Return a message for each picture of another package that cannot be used."""
    return tuple(_offered().refusals.values())


def tabs(page: str) -> Mapping[str, Picture]:
    """Return the pictures that have a tab on the page with this title, by the tab's name in addresses."""
    return {one.tab: one for one in pictures().values() if one.page == page}


def is_ours(one: Picture) -> bool:
    """Return whether a picture is one of attnviz's own."""
    return PICTURES.get(one.name) is one


def names_in_address(one: Picture) -> Callable[[str], str]:
    """Return the function from a picture's field name to its name in the page's address.

    For a picture of another package, the field name is prefixed with the picture's name, unless all tabs share the
    field.
    """
    return str if is_ours(one) else partial(_with_prefix, one.name)


def _with_prefix(prefix: str, name: str) -> str:
    return name if name in _SHARED else f"{prefix}.{name}"


def widget(name: str) -> Widget:
    """Return the widget with this name: a picture's widget, or another one of attnviz."""
    drawing = next((one for one in pictures().values() if one.widget == name), None)
    return Widget(name, widget_pages()[name]) if drawing is None else drawing.drawn_by


@reads_arguments
def picture(name: str) -> Picture:
    """Return a picture by its name. Raises ValueError, which lists all names, for an unknown name."""
    if name in PICTURES:
        return PICTURES[name]
    if name in _offered().refusals:
        raise ValueError(_offered().refusals[name])
    if name not in pictures():
        raise ValueError(f"There is no picture {name!r}: choose one of {', '.join(pictures())}.")
    return pictures()[name]
