"""Conversations as any model's caller asks about them: whether it takes one, and how long a reply may be.

Apart from `protocol`: most models take none, and pages ask before torch is imported.
"""

from collections.abc import Sequence
from typing import Any

from attnviz.text.conversation import Turn
from attnviz.text.limits import TextError


def takes_chat(model: Any) -> bool:
    """Whether a model takes a conversation. Raises TextError for a chat template that is too long to be one."""
    return bool(getattr(model, "has_chat", False))


def require(model: Any) -> None:
    """Raise TextError for a model without a chat template."""
    if not takes_chat(model):
        raise TextError(f"{model.name} has no chat template, so it takes a plain text and no conversation.")


def reply_tokens(turns: Sequence[Turn], asked: int) -> int:
    """Return how many tokens of a reply to write: none after a turn of the assistant's, who has answered already."""
    return 0 if turns[-1].role == "assistant" else asked
