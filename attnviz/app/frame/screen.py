"""The page on screens of every size: a line in the place of menu and bar on a narrow one, and the picture alone.

Both are the browser's own doing (`attnviz/app/widgets/screen`): Python says what the line reads, and keeps in the
address that the picture is presented.
"""

from collections.abc import Callable
from dataclasses import dataclass

from attnviz.app import mount
from attnviz.app.address import persistent
from attnviz.app.reports import NUMBER, reported_value
from attnviz.app.request import Request
from attnviz.kit.fields import Problem, flag, read
from attnviz.text.display import display
from attnviz.text.languages import language_name, named_code

KEY = "screen"
_MOST_SAID = 160  # characters of a sentence: a line has room for some forty


@dataclass(frozen=True)
class Screen:
    """The view of the page: `present` shows its picture alone."""

    present: bool = flag()


def draw(title: str, request: Request | None, on_drawing: Callable[[], None]) -> tuple[Problem, ...]:
    """Draw the line, closed; return the problems of the address. Without a `request` it says the page's title.

    `on_drawing` is called when the drawing of the model is asked for.
    """
    asked, problems = read(Screen, persistent.texts(), {})
    told = reported_value(KEY, "present", {"seq": NUMBER}) or {"seq": 0}
    summary = title if request is None else summary_of(request)
    data = {"summary": summary, "runs": request is not None, "present": asked.present, **told}
    mount.screen(data, key=KEY, on_change=_take, on_drawing=on_drawing)
    return problems


def is_presented() -> bool:
    """Check whether the visitor sees the picture alone; the server hears of that a moment after the key."""
    return persistent.text("present") == "1"


def summary_of(request: Request) -> str:
    """Sum up the bar's request in a line: the sentence, and the language or text that it is translated into."""
    src, tgt = (display(text[:_MOST_SAID]) if text.strip() else "" for text in (request.text, request.tgt))
    named = language_name if request.to in request.entry.languages else named_code  # as the bar's own list does
    into = tgt or (named(request.to) if request.to else "")
    return f"{src or 'No sentence yet'} → {into}" if into else src or "No sentence yet"


def _take() -> None:
    chosen = reported_value(KEY, "present", {"on": bool, "seq": NUMBER})
    if chosen is not None:
        persistent.write({"present": "1" if chosen["on"] else None})
