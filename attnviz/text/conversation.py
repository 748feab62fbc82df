"""A conversation: turns by a system, a user and an assistant, checked before a chat template is applied to them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from attnviz.text.limits import TextError, replace_surrogates

Role = Literal["system", "user", "assistant"]
ROLES: tuple[Role, ...] = get_args(Role)
MOST_TURNS = 200
_EXAMPLE = 'for example [{"role": "user", "content": "Hello"}]'


@dataclass(frozen=True)
class Turn:
    """One turn of a conversation: the role of its speaker, and the text."""

    role: Role
    content: str

    @property
    def as_message(self) -> dict[str, str]:
        """The turn as the dictionary that a chat template expects."""
        return {"role": self.role, "content": self.content}


def read_turns(messages: Sequence[Mapping[str, Any] | Turn]) -> tuple[Turn, ...]:
    """Check messages and return them as turns: an optional system turn, then user and assistant turns in alternation.

    Raises TextError if there is no message, a role is unknown or out of order, or a turn has no text.
    """
    if isinstance(messages, str | Mapping) or not isinstance(messages, Sequence):
        raise TextError(f"messages is a list of turns, {_EXAMPLE}.")
    if not messages:
        raise TextError(f"The conversation is empty. Please pass at least one turn, {_EXAMPLE}.")
    if len(messages) > MOST_TURNS:
        raise TextError(
            f"The conversation has {len(messages):,} turns, but attnviz reads at most {MOST_TURNS}. Please "
            "remove some turns."
        )
    turns = tuple(_turn(message, number) for number, message in enumerate(messages, start=1))
    _check_order(turns)
    return turns


def _turn(message: Mapping[str, Any] | Turn, number: int) -> Turn:
    if isinstance(message, Turn):
        message = message.as_message
    if not isinstance(message, Mapping) or set(message) != {"role", "content"}:
        raise TextError(f"Turn {number} is not a valid turn. Please pass a role and a content, {_EXAMPLE}.")
    role, content = message["role"], message["content"]
    if role not in ROLES:
        raise TextError(f"Turn {number} has the role {role!r}; roles are {', '.join(ROLES)}.")
    if not isinstance(content, str):
        raise TextError(f"The content of turn {number} is not text. Images and tool calls are not read here.")
    if not content.strip():
        raise TextError(f"Turn {number} ({role}) is empty. Please write something in it, or remove it.")
    return Turn(role, replace_surrogates(content))


def _check_order(turns: Sequence[Turn]) -> None:
    """Raise TextError if a system turn is not the first turn, or if user and assistant turns do not alternate."""
    spoken = turns[1:] if turns[0].role == "system" else turns
    first = len(turns) - len(spoken) + 1
    if not spoken:
        raise TextError("The conversation has only a system turn. Please add a user turn.")
    for number, turn in enumerate(spoken, start=first):
        if turn.role == "system":
            raise TextError(f"Turn {number} is a system turn, but only the first turn may be a system turn.")
        expected = "user" if (number - first) % 2 == 0 else "assistant"
        if turn.role != expected:
            raise TextError(
                f"Turn {number} is the {turn.role}'s, where the {expected}'s is expected: "
                "user and assistant take turns, and the user begins."
            )
