"""Whether a model accepts conversations, how long a reply may be, and a cache of texts that chat templates wrote.

This is separate from `protocol`, because pages need it before torch is imported.
"""

import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any, NoReturn

from attnviz.text.conversation import Turn
from attnviz.text.limits import TextError


class WithoutChat:
    """Mixin for a model that does not accept conversations."""

    @property
    def has_chat(self) -> bool:
        """Whether the model accepts a conversation: always False."""
        return False

    def reply(self, messages: Sequence[Mapping[str, Any]], **how: Any) -> NoReturn:
        """Raise TextError, because this model writes no replies."""
        raise _no_template(self)


def takes_chat(model: Any) -> bool:
    """Whether a model accepts a conversation.

    Raises TextError for a chat template that is too long, and for several templates without a default.
    """
    return bool(getattr(model, "has_chat", False))


def can_chat(model: Any) -> bool:
    """Whether a model accepts a conversation; False if its chat template cannot be read."""
    try:
        return takes_chat(model)
    except TextError:
        return False


def require(model: Any) -> None:
    """Raise TextError for a model without a chat template."""
    if not takes_chat(model):
        raise _no_template(model)


def _no_template(model: Any) -> TextError:
    return TextError(f"{model.name} has no chat template, so it can read a plain text, but not a conversation.")


def reply_tokens(turns: Sequence[Turn], asked: int) -> int:
    """Return the number of tokens to generate for a reply: 0 if the last turn is the assistant's, otherwise `asked`."""
    return 0 if turns[-1].role == "assistant" else asked


class RenderedTexts:
    """Cache of texts written by chat templates, of at most `most` bytes, which evicts the least recently used texts.

    A template's refusal is stored too, as a TextError, so that nothing is rendered twice.
    """

    def __init__(self, most: float) -> None:
        self.most, self.total = most, 0.0
        self._texts: OrderedDict[bytes, str | TextError] = OrderedDict()
        self._lock = Lock()

    def find(self, name: bytes) -> "str | TextError | None":
        """Return the stored text or refusal for a key, or None."""
        with self._lock:
            if name in self._texts:
                self._texts.move_to_end(name)
            return self._texts.get(name)

    def keep(self, name: bytes, text: "str | TextError") -> None:
        """Store a text or a refusal, and evict the oldest entries beyond the limit of bytes."""
        with self._lock:
            self._drop(name)
            self._texts[name] = text
            self.total += _size(text)
            while self.total > self.most:
                self._drop(next(iter(self._texts)))

    def forget(self, is_stale: Callable[[bytes], bool]) -> None:
        """Evict the entries whose keys are stale."""
        with self._lock:
            for name in [name for name in self._texts if is_stale(name)]:
                self._drop(name)

    def _drop(self, name: bytes) -> None:
        if (text := self._texts.pop(name, None)) is not None:
            self.total -= _size(text)


def _size(text: "str | TextError") -> int:
    return sys.getsizeof(str(text)) + 200  # plus the bytes of the key and of the entry


RENDERED = RenderedTexts(16e6)  # the dashboard changes the limit to a share of its memory for caches
