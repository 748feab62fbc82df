"""A tokenizer's chat template, rendered in a separate process that can be killed."""

import atexit
import hashlib
import json
import subprocess
import sys
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Lock, Timer
from typing import Any

from attnviz.models.chat import RENDERED
from attnviz.text.conversation import Turn
from attnviz.text.limits import TextError

SECONDS = 1.0  # limit of processor time for one rendering, which usually takes a millisecond
_PATIENCE = 5  # the process is killed after this many times SECONDS of wall-clock time
_TIMES, _REST = 3, 600.0  # a template that is late 3 times within 600 seconds is not rendered any more
_MOST_LATE = 100  # number of late templates that are remembered
_SECONDS_TO_START = 120.0  # to import transformers on a busy machine
_SCRIPT = Path(__file__).with_name("render_process.py")
_MOST_CHARACTERS = 200_000  # the longest published template has about 20,000


@dataclass(frozen=True)
class Rendering:
    """The text that a template made from a conversation.

    `places` has the start and end of each turn's own text, or what the template did to the turn: "changed", "left out",
    "repeated", or "late" if it took too long to find out. `is_dated` says whether the template asked for the date.
    """

    text: str
    places: tuple[tuple[int, int] | str, ...]
    is_dated: bool

    @classmethod
    def read(cls, answer: str) -> "Rendering":
        """Parse the answer of the rendering process."""
        found = json.loads(answer)
        places = (place if isinstance(place, str) else tuple(place) for place in found["places"])
        return cls(found["text"], tuple(places), found["is_dated"])


class ChatTemplate:
    """The chat template of a checkpoint, with the special tokens that it may use."""

    def __init__(self, source: str, specials: dict[str, str]) -> None:
        self.source, self.specials = source, specials

    @classmethod
    def of(cls, tokenizer: Any) -> "ChatTemplate | None":
        """Return the chat template of a transformers tokenizer, or None; of several, the one named "default".

        Raises TextError for several templates without a default, and for a template that is too long.
        """
        found = getattr(tokenizer, "chat_template", None)
        if isinstance(found, list | tuple):  # the form of several templates in tokenizer_config.json
            found = {each["name"]: each["template"] for each in found}
        if isinstance(found, dict) and found:
            if "default" not in found:
                raise TextError(_no_default(sorted(found)))
            found = found["default"]
        if not isinstance(found, str) or not found.strip():
            return None
        if len(found) > _MOST_CHARACTERS:
            raise TextError(
                f"The model's chat template has {len(found):,} characters; at most {_MOST_CHARACTERS:,} are read."
            )
        named = tokenizer.special_tokens_map.items()
        return cls(found, {name: token for name, token in named if isinstance(token, str)})

    def render(self, turns: Sequence[Turn], *, add_generation_prompt: bool, continues: bool = False) -> Rendering:
        """Return the text of a conversation; with `add_generation_prompt`, the beginning of the assistant's turn
        follows.

        With `continues`, the text ends inside the last turn, which can then be continued. Raises TextError for a
        template that fails, takes too long, or writes too much.
        """
        messages = [turn.as_message for turn in turns]
        asked = {"messages": messages, "chat_template": self.source, "add_generation_prompt": add_generation_prompt}
        asked |= {"continue_final_message": continues} | self.specials
        now = _now()
        name = hashlib.sha256(json.dumps([asked, now.date().isoformat()], sort_keys=True).encode()).digest()
        found = RENDERED.find(name)
        if found is None:
            found = _render_in_process(self.source, asked | {"now": now.isoformat()})
            RENDERED.keep(name, found)
        if isinstance(found, TextError):
            raise TextError(str(found))
        return Rendering.read(found)


def _now() -> datetime:
    return datetime.now()


def _no_default(names: Sequence[str]) -> str:
    """Return the error message for a model with several templates but no default."""
    named = " and ".join(f"“{name}”" for name in names)
    return (
        f"The model has several chat templates, {named}, and none of them is named “default”: choose one with "
        f"tokenizer.chat_template = tokenizer.chat_template[{names[0]!r}] before attnviz opens the model, or save it "
        "as chat_template.jinja in the model's folder."
    )


class _Late:
    """Record of the templates that took too long, and when.

    A template that was late three times is not rendered for ten minutes.
    """

    def __init__(self) -> None:
        self._times: OrderedDict[bytes, list[float]] = OrderedDict()  # key: hash of the template

    def note(self, source: str) -> None:
        """Record that a template took too long just now."""
        name = hashlib.sha256(source.encode()).digest()
        self._times[name] = [*self._recent_times(name), time.monotonic()]
        while len(self._times) > _MOST_LATE:
            self._times.popitem(last=False)

    def require_rest(self, source: str) -> None:
        """Raise TextError for a template that took too long three times in the last ten minutes."""
        if len(self._recent_times(hashlib.sha256(source.encode()).digest())) >= _TIMES:
            raise TextError(
                f"The model's chat template took too long {_TIMES} times, so attnviz does not run it again "
                f"for {_REST / 60:g} minutes."
            )

    def _recent_times(self, name: bytes) -> list[float]:
        return [when for when in self._times.get(name, ()) if time.monotonic() - when < _REST]


_LATE = _Late()


def _render_in_process(source: str, asked: dict[str, Any]) -> str | TextError:
    """Render in the process; return its answer, or a refusal that the cache stores like an answer.

    Raises TextError for a refusal that must not be cached: a template that is not rendered for some minutes.
    """
    answer = _PROCESS.ask(source, asked)
    if "late" in answer:
        return TextError(
            f"The model's chat template did not finish within {SECONDS:g} seconds, or took too much memory."
        )
    if "error" in answer:
        return TextError(f"The model's chat template refuses this conversation ({answer['error']}).")
    return json.dumps(answer)


class _Process:
    """The rendering process, which starts with the first request and restarts after it was killed; used by one thread
    at a time.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._child: subprocess.Popen[str] | None = None

    def ask(self, source: str, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return the answer, which contains "late" if none came in time.

        Raises TextError for a template that was late too often.
        """
        with self._lock:
            _LATE.require_rest(source)  # inside the lock, because earlier requests may have been late
            try:
                child = self._start_process()
                assert child.stdin is not None  # it is a pipe
                child.stdin.write(json.dumps({"seconds": SECONDS} | request) + "\n")
                child.stdin.flush()
                answer = _read_answer(child, _PATIENCE * SECONDS)
            except (OSError, EOFError):
                self.end()
                answer = {"late": ""}
            if "late" in answer:
                _LATE.note(source)
            return answer

    def _start_process(self) -> "subprocess.Popen[str]":
        if self._child is not None and self._child.poll() is None:
            return self._child
        pipe = subprocess.PIPE
        self._child = subprocess.Popen(
            [sys.executable, str(_SCRIPT)], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, encoding="utf-8"
        )
        _read_answer(self._child, _SECONDS_TO_START)
        return self._child

    def end(self) -> None:
        """Kill the process, if there is one; the next request starts a new one."""
        if self._child is not None:
            self._child.kill()
            self._child.communicate()
            self._child = None


def _read_answer(child: "subprocess.Popen[str]", seconds: float) -> dict[str, Any]:
    """Read one line from the process, and kill the process if it is silent for too long. Raises EOFError if it has
    ended.
    """
    timer = Timer(seconds, child.kill)
    timer.start()
    try:
        assert child.stdout is not None  # it is a pipe
        line = child.stdout.readline()
    finally:
        timer.cancel()
    if not line:
        raise EOFError
    return json.loads(line)


_PROCESS = _Process()
atexit.register(_PROCESS.end)
