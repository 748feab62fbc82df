"""Conversations as any model's caller asks about them: whether it takes one, and how long a reply may be.

Apart from `protocol`: most models take none, and pages ask before torch is imported.
"""

import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any, NoReturn

from attnviz.text.conversation import Turn
from attnviz.text.limits import TextError


class WithoutChat:
    """A model that takes no conversation."""

    @property
    def has_chat(self) -> bool:
        """Whether the model takes a conversation: always False."""
        return False

    def reply(self, messages: Sequence[Mapping[str, Any]], **how: Any) -> NoReturn:
        """Raise TextError: this model writes no replies."""
        raise _no_template(self)


def takes_chat(model: Any) -> bool:
    """Whether a model takes a conversation. Raises TextError for a chat template that is too long to be one, and for
    several templates without a default.
    """
    return bool(getattr(model, "has_chat", False))


def can_chat(model: Any) -> bool:
    """Whether a model takes a conversation. Also False for a chat template that cannot be read."""
    try:
        return takes_chat(model)
    except TextError:
        return False


def require(model: Any) -> None:
    """Raise TextError for a model without a chat template."""
    if not takes_chat(model):
        raise _no_template(model)


def _no_template(model: Any) -> TextError:
    return TextError(f"{model.name} has no chat template, so it takes a plain text, not a conversation.")


def reply_tokens(turns: Sequence[Turn], asked: int) -> int:
    """Return how many tokens of a reply to write: none after a turn of the assistant's, who has answered already."""
    return 0 if turns[-1].role == "assistant" else asked


class RenderedTexts:
    """Cache of texts that chat templates have written, at most `most` bytes; the least recently used texts are
    forgotten. A template's refusal is kept, too, as its sentence, so that nothing is rendered twice.
    """

    def __init__(self, most: float) -> None:
        self.most, self.total = most, 0.0
        self._texts: OrderedDict[bytes, str | TextError] = OrderedDict()
        self._lock = Lock()

    def find(self, name: bytes) -> "str | TextError | None":
        """Return the text or the refusal under a name; None if there is none."""
        with self._lock:
            if name in self._texts:
                self._texts.move_to_end(name)
            return self._texts.get(name)

    def keep(self, name: bytes, text: "str | TextError") -> None:
        """Keep a text or a refusal; forget the oldest ones beyond the limit of bytes."""
        with self._lock:
            self._drop(name)
            self._texts[name] = text
            self.total += _size(text)
            while self.total > self.most:
                self._drop(next(iter(self._texts)))

    def forget(self, is_stale: Callable[[bytes], bool]) -> None:
        """Forget the texts under stale names."""
        with self._lock:
            for name in [name for name in self._texts if is_stale(name)]:
                self._drop(name)

    def _drop(self, name: bytes) -> None:
        if (text := self._texts.pop(name, None)) is not None:
            self.total -= _size(text)


def _size(text: "str | TextError") -> int:
    return sys.getsizeof(str(text)) + 200  # bytes of the name, and of its place


RENDERED = RenderedTexts(16e6)  # the dashboard gives it a part of what its caches may take
