"""The visitor's draft of a lesson: the browser keeps it (`attnviz/widgets/draft_keeper`), the session has a working
copy, and the newer one holds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from attnviz.lessons.draft import Draft, clean_text
from attnviz.lessons.faults import LessonError
from attnviz.lessons.lesson import Lesson
from attnviz.lessons.proofreading import lesson_of
from attnviz.lessons.reading import MOST_BYTES, read
from attnviz.lessons.writing import draft_of
from attnviz.ui import mount
from attnviz.ui.reports import NUMBER, TEXT, reported_value

DRAFT = "~draft"  # what the address calls the lesson that is a draft
_KEY, _KEEPER = "_attnviz_draft", "draft-keeper"


@dataclass
class Desk:
    """A visitor's draft in the session: the `draft`, the `revision` that counts its changes, and whether the
    browser `is_known` to have no newer one; `former` is the draft that another one has replaced. `said` is the
    refusal of the last action, a line for each reason, `tried` the lesson as it was tried last, `checked` the
    findings of the check of all steps, by the step's number from 1.
    """

    draft: Draft | None = None
    revision: int = 0
    is_known: bool = False
    former: Draft | None = None
    said: str = ""
    tried: Lesson | None = None
    checked: tuple[tuple[int, str, bool], ...] | None = None


def desk() -> Desk:
    """Return this visitor's desk."""
    return st.session_state.setdefault(_KEY, Desk())


def keep() -> None:
    """Draw, once a page, the widget that has the browser keep the draft, or brings it."""
    now = desk()
    text = now.draft.to_json() if now.draft else ""
    mount.draft_keeper(text, revision=now.revision, is_known=now.is_known, key=_KEEPER, on_change=_take)


def _take() -> None:
    """Take over the browser's draft where it is newer."""
    found, now = reported_value(_KEEPER, "kept", {"text": TEXT, "revision": NUMBER}), desk()
    if found is None:
        return
    now.is_known = True
    if found["revision"] <= now.revision or not found["text"]:
        return
    try:
        _store(Draft.from_json(found["text"]), found["revision"])
    except ValueError:
        now.said = "The draft in this browser cannot be read: begin another one, or open a file."


def change(draft: Draft) -> None:
    """Save a changed draft."""
    _store(draft, desk().revision + 1)


def _store(draft: Draft, revision: int) -> None:
    now = desk()
    now.draft, now.revision, now.said, now.tried, now.checked = draft, revision, "", None, None


def replace(draft: Draft) -> None:
    """Replace the draft by another one; `bring_back` undoes it."""
    former = desk().draft
    change(draft)
    desk().former = former if former is not None and former != Draft() else None


def bring_back() -> None:
    """Swap the draft with the one that it replaced."""
    if (former := desk().former) is not None:
        replace(former)


def attempt(make: Callable[[Draft], Draft]) -> None:
    """Change the draft, or note the refusal."""
    now = desk()
    try:
        change(make(now.draft or Draft()))
    except ValueError as error:
        now.said = str(error)


def open_file(name: str, content: bytes) -> None:
    """Open a lesson's file as the draft. Raises ValueError with a line for each mistake."""
    if len(content) > MOST_BYTES:
        raise ValueError(f"{name} has {len(content):,} bytes, and a lesson at most {MOST_BYTES:,}: divide it.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{name} is not UTF-8 text: save the file as UTF-8.") from None
    try:
        replace(draft_of(read(text)))
    except LessonError as error:
        count = len(error.faults)
        said = f" has {count} mistakes:\n" if count > 1 else ": "
        raise ValueError(f"{clean_text(name)}{said}{error}") from None


def lesson() -> Lesson | None:
    """Return the draft as a lesson; None until the browser has told whether it keeps one.

    Raises ValueError with a line for each problem.
    """
    now = desk()
    if now.draft is None:
        if now.is_known:
            raise ValueError("There is no draft in this browser: begin one on the page Lessons.")
        return None
    now.tried = now.tried or lesson_of(now.draft, DRAFT)
    return now.tried


def forget_answers(progress: dict[int, Any]) -> None:
    """Forget the answers to the draft's questions, so that it is tried anew."""
    progress.clear()
    for key in [key for key in st.session_state if str(key).startswith(f"lesson-{DRAFT}-")]:
        del st.session_state[key]
