"""Render chat templates with transformers, one request a line: JSON in, JSON out.

`template` starts this file as a process. It imports nothing of the package, which would take seconds.

A template is code from a stranger's file. transformers' sandbox keeps it from this machine's objects, but not from
looping or from filling memory: a process can be killed, and has a limit of its own. Where the system has a clock of
the processor's time, a rendering that takes too long is ended by an exception, and the next one need not wait for
another process, which takes seconds to start.
"""

import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_MOST_BYTES = 4 << 30  # of address space: transformers takes one, and no rendering of a conversation needs the rest

_MOST_TEXT = 400_000  # characters of a rendering


class _Late(BaseException):
    """A rendering took too long; no `except Exception` on the way may keep it."""


def main() -> None:
    """Answer requests until the input ends."""
    _limit_memory()
    from transformers.utils.chat_template_utils import render_jinja_template

    _write({})  # ready
    for line in sys.stdin:
        request = json.loads(line)
        try:
            with _at_most(request.pop("seconds")):
                rendered, _ = render_jinja_template([request.pop("messages")], **request)
            text = rendered[0]
            answer = {"text": text} if len(text) <= _MOST_TEXT else {"error": f"it wrote {len(text):,} characters"}
        except _Late:
            answer = {"late": ""}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0][:300]}
        _write(answer)


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raise _Late in what runs inside once it has taken so many seconds of the processor."""
    if not hasattr(signal, "setitimer"):  # Windows
        yield
        return
    signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _stop(*_: object) -> None:
    raise _Late


def _write(answer: dict[str, str]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))


if __name__ == "__main__":
    main()
