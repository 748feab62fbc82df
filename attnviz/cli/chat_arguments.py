"""Shell arguments for a conversation: `--chat FILE` or `--messages JSON`."""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attnviz.text.conversation import Turn

_MOST_BYTES = 4_000_000


def add_chat(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that give a conversation instead of a text."""
    given = parser.add_mutually_exclusive_group()
    given.add_argument(
        "--chat",
        type=Path,
        metavar="FILE",
        help="a JSON file with a conversation: a list of messages, each with its role (system, user, assistant) and "
        "content",
    )
    given.add_argument(
        "--messages",
        metavar="JSON",
        help='a conversation as JSON, such as \'[{"role": "user", "content": "Hello"}]\'',
    )


def chat_turns(options: argparse.Namespace) -> "tuple[Turn, ...]":
    """Return the turns of the conversation in the arguments; () for a plain text.

    Raises ValueError if the conversation cannot be read, if a text was given too, or if neither was given.
    """
    if options.chat is None and options.messages is None:
        if options.text is None:
            raise ValueError("Give a text, or a conversation with --chat or --messages.")
        return ()
    if options.text is not None:
        raise ValueError("Give a text or a conversation, not both.")
    from attnviz.text.conversation import read_turns

    return read_turns(_as_messages(_said(options)))


def input_arguments(given: "tuple[Turn, ...]", text: str, model: Any) -> dict[str, Any]:
    """Return the conversation, or the text without one, as keyword arguments of `model.trace` and `model.stepwise`.

    Raises ValueError for a conversation with a model that does not take any.
    """
    from attnviz.models import chat

    if not given:
        return {"text": text}
    chat.require(model)
    return {"messages": [turn.as_message for turn in given]}


def _said(options: argparse.Namespace) -> Any:
    """Parse the JSON in the arguments. Raises ValueError for a file or a text that is not JSON."""
    from attnviz.guards import plain_file

    what = "--messages" if options.chat is None else str(options.chat)
    try:
        raw = options.messages if options.chat is None else plain_file.content(options.chat, most=_MOST_BYTES)
        return json.loads(raw)
    except OSError as error:
        raise ValueError(f"{what} cannot be read: {error.strerror or error}.") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{what} holds no JSON: {error}.") from None


def _as_messages(said: Any) -> Any:
    """Convert messages to the form that `read_turns` takes. Pairs of role and content become dictionaries."""
    if isinstance(said, Mapping) and "messages" in said:
        said = said["messages"]
    if not isinstance(said, list):
        return said
    return [dict(zip(("role", "content"), one, strict=True)) if _is_pair(one) else one for one in said]


def _is_pair(one: Any) -> bool:
    return isinstance(one, list) and len(one) == 2
