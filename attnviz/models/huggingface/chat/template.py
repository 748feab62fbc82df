"""A tokenizer's chat template: the text that it makes of a conversation, rendered in a process that can be killed."""

import atexit
import json
import subprocess
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock, Timer
from typing import Any

from attnviz.text.conversation import Turn
from attnviz.text.limits import TextError

SECONDS = 5.0  # for one rendering, which takes a millisecond
_SECONDS_TO_START = 120.0  # to import transformers, on a machine that is busy
_SCRIPT = Path(__file__).with_name("render_process.py")
_MOST_CHARACTERS = 200_000  # of a template: the longest published has some 20,000


class ChatTemplate:
    """The chat template of a checkpoint, with the special tokens that it may name."""

    def __init__(self, source: str, specials: dict[str, str]) -> None:
        self.source, self.specials = source, specials

    @classmethod
    def of(cls, tokenizer: Any) -> "ChatTemplate | None":
        """Read the template of a transformers tokenizer; None where it has none. Of several, the one named default.

        Raises TextError for one that is too long to be a template.
        """
        found = getattr(tokenizer, "chat_template", None)
        if isinstance(found, dict):
            found = found.get("default")
        if not isinstance(found, str) or not found.strip():
            return None
        if len(found) > _MOST_CHARACTERS:
            raise TextError(
                f"The model's chat template has {len(found):,} characters; at most {_MOST_CHARACTERS:,} are read."
            )
        named = tokenizer.special_tokens_map.items()
        return cls(found, {name: token for name, token in named if isinstance(token, str)})

    def render(self, turns: Sequence[Turn], *, add_generation_prompt: bool) -> str:
        """Return the text of a conversation, with the beginning of the assistant's turn where asked.

        Raises TextError for a template that fails, takes too long, or writes too much.
        """
        return _render(self.source, tuple(sorted(self.specials.items())), tuple(turns), add_generation_prompt)


@lru_cache(maxsize=256)
def _render(
    source: str, specials: tuple[tuple[str, str], ...], turns: tuple[Turn, ...], add_generation_prompt: bool
) -> str:
    messages = [turn.as_message for turn in turns]
    request = {"messages": messages, "chat_template": source, "add_generation_prompt": add_generation_prompt}
    answer = _PROCESS.ask(request | dict(specials))
    if "error" in answer:
        raise TextError(f"The model's chat template refuses this conversation ({answer['error']}).")
    return answer["text"]


class _Process:
    """One rendering process, begun when it is first asked and again after it was killed; one thread at a time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._child: subprocess.Popen[str] | None = None

    def ask(self, request: dict[str, Any]) -> dict[str, str]:
        """Send a request and return the answer. Raises TextError where none comes in time."""
        with self._lock:
            try:
                child = self._start()
                assert child.stdin is not None  # it is a pipe
                child.stdin.write(json.dumps(request) + "\n")
                child.stdin.flush()
                return _answer(child, SECONDS)
            except (OSError, EOFError) as error:
                self.end()
                raise TextError(
                    f"The model's chat template did not finish within {SECONDS:g} seconds, or took too much memory."
                ) from error

    def _start(self) -> "subprocess.Popen[str]":
        if self._child is not None and self._child.poll() is None:
            return self._child
        pipe = subprocess.PIPE
        self._child = subprocess.Popen(
            [sys.executable, str(_SCRIPT)], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, encoding="utf-8"
        )
        _answer(self._child, _SECONDS_TO_START)
        return self._child

    def end(self) -> None:
        """Kill the process, if there is one; the next request begins another."""
        if self._child is not None:
            self._child.kill()
            self._child.communicate()
            self._child = None


def _answer(child: "subprocess.Popen[str]", seconds: float) -> dict[str, str]:
    """Read one line; kill a process that is silent for too long. Raises EOFError where it has ended."""
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
