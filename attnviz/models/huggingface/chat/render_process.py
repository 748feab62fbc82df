"""Render chat templates with transformers, and find each turn in the text: one JSON request and answer per line.

`template` runs this file as a process. It imports nothing else of attnviz, which would take seconds.

A template is code from an untrusted file. transformers' sandbox protects this machine's objects, but does not stop
endless loops or the filling of memory; a process can be killed, and has a memory limit. If the system can measure
processor time, an exception ends a rendering that takes too long, so that the next request need not wait for a new
process, which takes seconds to start. The process ends itself when its dashboard has ended.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from threading import Thread
from typing import Any

_MOST_BYTES = 4 << 30  # address space: transformers takes 1 GB, and rendering a conversation needs less than the rest

_MOST_TEXT = 400_000  # characters of a rendered text

_MARKER = "\ue123\ue124"  # replaces a turn's text to find its place; private-use characters, which no filter changes
_TRIMS = (str, str.strip, str.rstrip, str.lstrip)  # how templates trim a turn's text

Messages = list[dict[str, str]]
Write = Callable[[Messages], str]
Place = tuple[int, int] | str  # the characters of a turn's text, or what the template did to it


class _OutOfTime(BaseException):
    """A rendering took too long.

    It derives from BaseException, so that no `except Exception` in a template's code catches it.
    """


class _Clock:
    """Replacement for `datetime` in transformers' templates that records whether a template asked for the time."""

    def __init__(self) -> None:
        self.moment, self.was_asked = datetime.now(), False

    def set_to(self, moment: str) -> None:
        """Set the clock to a fixed time."""
        self.moment, self.was_asked = datetime.fromisoformat(moment), False

    def now(self) -> datetime:
        """Return the clock's fixed time."""
        self.was_asked = True
        return self.moment


def main() -> None:
    """Answer requests until the input ends."""
    Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    _limit_memory()
    from transformers.utils import chat_template_utils

    clock = _Clock()
    chat_template_utils.datetime = clock  # type: ignore[misc]
    _write_answer({})  # tells the parent that the process is ready
    for line in sys.stdin:
        request = json.loads(line)
        seconds, messages = request.pop("seconds"), request.pop("messages")
        clock.set_to(request.pop("now"))
        write = partial(_render_template, chat_template_utils.render_jinja_template, request)
        try:
            with _at_most(seconds):
                text = write(messages)
            answer = {"text": text, "is_dated": clock.was_asked}
            if len(text) > _MOST_TEXT:
                answer = {"error": f"it wrote {len(text):,} characters"}
            else:
                answer["places"] = find_turns(write, messages, text, seconds)
        except _OutOfTime:
            answer = {"late": ""}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0][:300]}
        _write_answer(answer)


def _render_template(render: Callable[..., Any], how: dict[str, Any], messages: Messages) -> str:
    return render([messages], **how)[0][0]


def find_turns(write: Write, messages: Messages, text: str, seconds: float) -> list[Place]:
    """Return the characters of each turn's text within the rendered text, or what the template did to the turn.

    A turn that is not found within `seconds` of processor time is "late".
    """
    found: list[Place] = []
    try:
        with _at_most(seconds):
            for number in range(len(messages)):
                found.append(_find_turn(write, messages, number, text))  # noqa: PERF401 - keeps the turns found before the time is over
    except _OutOfTime:
        pass
    return found + ["late"] * (len(messages) - len(found))


def _find_turn(write: Write, messages: Messages, number: int, text: str) -> Place:
    """Find one turn by rendering the conversation with a marker in place of the turn's text.

    The template may have trimmed the turn's text in `text`.
    """
    turn = messages[number]
    try:
        marked = write([*messages[:number], turn | {"content": _MARKER}, *messages[number + 1 :]])
    except Exception:  # the template refuses the marker
        return "changed"
    before, found, after = marked.partition(_MARKER)
    if not found:
        return "left out"
    if _MARKER in after:
        return "repeated"
    for trim in _TRIMS:
        kept = trim(turn["content"])
        if text == before + kept + after:
            return len(before), len(before) + len(kept)
    return "changed"


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raise _OutOfTime inside the `with` block when it has taken `seconds` of processor time."""
    if not hasattr(signal, "setitimer"):  # Windows
        yield
        return
    signal.signal(signal.SIGPROF, _raise_out_of_time)
    signal.setitimer(signal.ITIMER_PROF, seconds, seconds)  # repeated, because an exception during a clean-up is lost
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _raise_out_of_time(*_: object) -> None:
    raise _OutOfTime


def _write_answer(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _end_with_parent(parent: int) -> None:
    """End this process when its parent process has ended, even in the middle of a template."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))


if __name__ == "__main__":
    main()
