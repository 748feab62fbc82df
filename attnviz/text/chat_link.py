"""Write and read a conversation in a link: the parameter `chat` holds compact JSON, a list of `[role, content]`."""

import json
from collections.abc import Iterable, Mapping, Sequence

from attnviz.text.conversation import MOST_TURNS, ROLES, Turn, read_turns
from attnviz.text.limits import TextError, replace_surrogates

_FORM = 'write a list such as [["user","Hello"]]'


def write_chat(turns: Iterable[Turn]) -> str:
    """Write a conversation's turns as the value of the parameter `chat` of a link."""
    pairs = [[turn.role, turn.content] for turn in turns]
    return json.dumps(pairs, ensure_ascii=False, separators=(",", ":"))


def read_draft(text: str) -> tuple[Turn, ...]:
    """Read the turns in the parameter `chat` of a link without checking their order or whether they are empty.

    The form on the page stores turns in the link while a user is still typing, so that a turn may be empty. Raises
    TextError if the text is not a list of roles and contents.
    """
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        raise TextError(f"The conversation in the link (chat) is not JSON: {_FORM}.") from None
    if not isinstance(said, list) or not said:
        raise TextError(f"The conversation in the link (chat) is not a list of turns: {_FORM}.")
    if len(said) > MOST_TURNS:
        raise TextError(f"The conversation in the link (chat) has {len(said):,} turns; at most {MOST_TURNS} are read.")
    return tuple(_turn(pair, number) for number, pair in enumerate(said, start=1))


def read_chat(text: str) -> tuple[Turn, ...]:
    """Read the turns in the parameter `chat` of a link and check them like `read_turns`; an empty text has no turns.

    Raises TextError if the text or a turn is invalid.
    """
    return read_turns(read_draft(text)) if text else ()


def last_user_text(turns: Sequence[Turn]) -> str:
    """Return the text of the user's last turn, or "" if there is no user turn."""
    return next((turn.content for turn in reversed(turns) if turn.role == "user"), "")


def replace_last_user_text(turns: Sequence[Turn], text: str) -> tuple[Turn, ...]:
    """Return the turns up to the user's last turn, with `text` in place of what the user said there."""
    at = max(number for number, turn in enumerate(turns) if turn.role == "user")
    return (*turns[:at], Turn("user", text))


def question(texts: Mapping[str, str]) -> str:
    """Return the input text of a link's parameters: the sentence `src`, or the user's last turn in `chat`.

    Raises TextError if `chat` cannot be read.
    """
    turns = read_chat(texts.get("chat", ""))
    return last_user_text(turns) if turns else texts.get("src", "")


def with_question(texts: Mapping[str, str], text: str) -> dict[str, str]:
    """Return link parameters with `text` as the new input: as `src`, or as the user's last turn in `chat`.

    Raises TextError if `chat` cannot be read.
    """
    turns = read_chat(texts.get("chat", ""))
    return {"chat": write_chat(replace_last_user_text(turns, text))} if turns else {"src": text}


def _turn(pair: object, number: int) -> Turn:
    if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) for part in pair)):
        raise TextError(f"Turn {number} of the link's conversation (chat) is not a role and a content: {_FORM}.")
    role, content = pair
    if role not in ROLES:
        raise TextError(
            f"Turn {number} of the link's conversation has the role {role[:20]!r}; roles are {', '.join(ROLES)}."
        )
    return Turn(role, replace_surrogates(content.replace("\0", "\ufffd")))
