"""The summary line that replaces menu and top bar on a narrow screen, and the presentation of the picture alone.

The browser does both by itself (`attnviz/app/widgets/screen`). Python provides the line's text, and keeps in the
address whether the picture is presented.
"""

from collections.abc import Callable
from dataclasses import dataclass

from attnviz.app import mount
from attnviz.app.address import persistent
from attnviz.app.frame.image_field import image_title
from attnviz.app.reports import NUMBER, reported_value
from attnviz.app.request import Request
from attnviz.kit.fields import Problem, flag, read
from attnviz.text.display import display
from attnviz.text.languages import language_name, named_code

KEY = "screen"
_MOST_SAID = 160  # characters of a sentence: a line has room for some forty


@dataclass(frozen=True)
class Screen:
    """State of the page: with `present` it shows its picture alone."""

    present: bool = flag()


def draw(title: str, request: Request | None, on_drawing: Callable[[], None]) -> tuple[Problem, ...]:
    """Draw the summary line, and return problems found in the address. Without a `request` the line shows `title`.

    `on_drawing` is called when the visitor opens the drawing of the model.
    """
    asked, problems = read(Screen, persistent.texts(), {})
    told = reported_value(KEY, "present", {"seq": NUMBER}) or {"seq": 0}
    summary = title if request is None else summary_of(request)
    data = {"summary": summary, "runs": request is not None, "present": asked.present, **told}
    mount.screen(data, key=KEY, on_change=_take, on_drawing=on_drawing)
    return problems


def is_presented() -> bool:
    """Check whether the visitor sees the picture alone. The server learns this shortly after the key was pressed."""
    return persistent.text("present") == "1"


def summary_of(request: Request) -> str:
    """Summarize the top bar's request in one line: the sentence and its target language or text, or the image."""
    if request.image:
        return image_title(request.image)
    src, tgt = (display(text[:_MOST_SAID]) if text.strip() else "" for text in (request.text, request.tgt))
    named = language_name if request.to in request.entry.languages else named_code  # as the bar's own list does
    into = tgt or (named(request.to) if request.to else "")
    return f"{src or 'No sentence yet'} → {into}" if into else src or "No sentence yet"


def _take() -> None:
    chosen = reported_value(KEY, "present", {"on": bool, "seq": NUMBER})
    if chosen is not None:
        persistent.write({"present": "1" if chosen["on"] else None})
