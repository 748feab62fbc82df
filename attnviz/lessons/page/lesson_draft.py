"""The visitor's draft of a lesson.

The browser stores the draft (`attnviz/lessons/draft_keeper`), and the session has a working copy. The newer one is
used.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from attnviz.app import mount
from attnviz.app.reports import NUMBER, TEXT, reported_value
from attnviz.lessons.check import Remark
from attnviz.lessons.draft import NEW, clean_text, draft_of_kept, without_signatures
from attnviz.lessons.faults import LessonError
from attnviz.lessons.lesson import Lesson
from attnviz.lessons.reading import MOST_BYTES, read

DRAFT = "~draft"  # what the address calls the lesson that is a draft
_KEY, _KEEPER = "_attnviz_draft", "draft-keeper"


@dataclass
class Desk:
    """A visitor's draft in the session.

    `text` is the draft and `revision` the number of its changes. `is_known` is True once the browser has reported
    whether it has a newer draft. `former` is the text that `text` has replaced, and `line` the caret's line, counted
    from 1. `said` has the reasons why the last action was refused, one per line. `tried` is the lesson as it was tried
    last, and `checked` caches the findings for each step. `done` has the names of the lessons that were finished in
    this browser.
    """

    text: str | None = None
    revision: int = 0
    is_known: bool = False
    former: str | None = None
    line: int = 0
    said: str = ""
    tried: Lesson | None = None
    done: frozenset[str] = frozenset()
    checked: Mapping[Any, tuple[Remark, ...]] = field(default_factory=dict)


def desk() -> Desk:
    """Return the `Desk` of this visitor: the draft of a lesson with its state."""
    return st.session_state.setdefault(_KEY, Desk())


def keep() -> None:
    """Draw the widget that stores the draft in the browser, and that reports a newer draft and the caret's line.

    Call this once per run.
    """
    now = desk()
    text = "" if now.text is None else json.dumps(now.text)
    mount.draft_keeper(
        text,
        revision=now.revision,
        is_known=now.is_known,
        done=sorted(now.done),
        key=_KEEPER,
        on_change=_take,
        on_caret=_take_caret,
    )


def note_done(name: str) -> None:
    """Note that a lesson is finished. The next call of `keep` stores this in the browser."""
    desk().done |= {name}


def _take() -> None:
    """Use the browser's draft if it is newer than the session's."""
    found, now = reported_value(_KEEPER, "kept", {"text": TEXT, "revision": NUMBER}), desk()
    now.done |= _names_done()
    if found is None:
        return
    now.is_known = True
    if found["revision"] <= now.revision or not found["text"]:
        return
    try:
        _store(draft_of_kept(found["text"]), found["revision"])
    except ValueError:
        now.said = "The draft in this browser cannot be read. Please begin another one, or open a file."


def _names_done() -> set[str]:
    """Return the names of finished lessons that the browser reports. Malformed reports count as empty."""
    told = reported_value(_KEEPER, "done", {"text": TEXT})
    try:
        names = json.loads(told["text"]) if told else []
    except (ValueError, RecursionError):
        return set()
    return {name for name in names if isinstance(name, str) and len(name) <= 200} if isinstance(names, list) else set()


def _take_caret() -> None:
    found = reported_value(_KEEPER, "caret", {"line": NUMBER})
    if found is not None:
        desk().line = max(0, int(found["line"]))


def change(text: str) -> None:
    """Store a changed draft of a lesson in the session under a new revision number."""
    _store(text, desk().revision + 1)


def _store(text: str, revision: int) -> None:
    now = desk()
    now.text, now.revision, now.said, now.tried = text, revision, "", None


def replace(text: str) -> None:
    """Replace the draft by another one; `bring_back` undoes it."""
    now = desk()
    former = now.text
    change(text)
    now.former, now.line = (former if former is not None and former != NEW else None), 0


def bring_back() -> None:
    """Swap the draft with the one that it replaced."""
    if (former := desk().former) is not None:
        replace(former)


def open_file(name: str, content: bytes) -> None:
    """Replace the draft by the content of a text file, which may have mistakes.

    Raises ValueError if the file is too large or not UTF-8.
    """
    if len(content) > MOST_BYTES:
        raise ValueError(f"{name} has {len(content):,} bytes, and a lesson at most {MOST_BYTES:,}. Please divide it.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{name} is not UTF-8 text. Please save the file as UTF-8.") from None
    replace(without_signatures(clean_text(text)))


def lesson() -> Lesson | None:
    """Return the draft as a lesson; None until the browser has reported whether it has a draft.

    Raises ValueError, with one line per problem, if the draft has mistakes or does not exist.
    """
    now = desk()
    if now.text is None:
        if now.is_known:
            raise ValueError("There is no draft in this browser. Please begin one on the page Lessons.")
        return None
    if now.tried is None:
        if len(now.text.encode()) > MOST_BYTES:
            raise ValueError(
                f"A lesson may have at most {MOST_BYTES:,} bytes, but this one has more. Please split the lesson."
            )
        try:
            now.tried = read(now.text, name=DRAFT)
        except LessonError as error:
            raise ValueError(str(error)) from None
    return now.tried


def forget_answers(progress: dict[int, Any]) -> None:
    """Remove the answers to the draft's questions, so that the draft can be tried again."""
    progress.clear()
    for key in [key for key in st.session_state if str(key).startswith(f"lesson-{DRAFT}-")]:
        del st.session_state[key]
