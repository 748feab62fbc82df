"""Data for the Reply component: what was added to a reply since the last message to the browser.

`attnviz.kit.wire` describes the layout. The browser keeps its first `since` tokens and rows, and a message has those
that follow. Only the rows of the head in view are sent, as 16-bit integers, with 65535 for a weight of 1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from attnviz.kit.views import colour
from attnviz.kit.wire import Blobs, Payload
from attnviz.text.display import display_token
from attnviz.text.entries import entries
from attnviz.text.spans import Span
from attnviz.text.tokens import Token

FORMAT = 1
FULL = 65535  # a weight of 1
_SCALES = ("SEQUENTIAL_LIGHT", "SEQUENTIAL_DARK", "DIVERGING_LIGHT", "DIVERGING_DARK")


@dataclass(frozen=True)
class Addition:
    """What follows the first `since` tokens of prompt and reply: the tokens and, for each token of the reply,
    its alternatives `(text, probability, drawn, id, piece)` and whether it was chosen by hand.

    `rows` start at index `first_row`.
    """

    since: int
    tokens: Sequence[Token]
    alternatives: Sequence[Sequence[tuple[str, float, float, int, str]]]
    taken: Sequence[bool]
    first_row: int
    rows: Sequence[Tensor]


@dataclass(frozen=True)
class ReplyStatus:
    """Status of a reply: its `key`, the length of its prompt and the turns in it, whether it is being written,
    why it ended, the model's numbers of layers and heads, and the layer and head of the rows.
    """

    key: str
    prompt: int
    spans: Sequence[Span] = ()
    writing: bool = False
    ended: str = ""
    limit: int = 0
    shape: tuple[int, int] = (1, 1)
    site: tuple[int | str, int | str] = (0, 0)


def reply_payload(status: ReplyStatus, added: Addition, *, number: int, view: Mapping[str, Any]) -> Payload:
    """Pack a message. Its `number` distinguishes it from other messages about the same reply."""
    blobs = Blobs()
    numbers = [np.rint(row.numpy() * FULL).astype("<u2") for row in added.rows]
    header: dict[str, Any] = {
        "format": FORMAT,
        "id": f"{status.key}.{number}",
        "base": "reply",
        "key": status.key,
        "prompt": status.prompt,
        "spans": [span_entry(span) for span in status.spans],
        "writing": status.writing,
        "ended": status.ended,
        "limit": status.limit,
        "shape": list(status.shape),
        "site": list(status.site),
        "since": added.since,
        "tokens": [_token(token) for token in added.tokens],
        "alternatives": [[list(each) for each in one] for one in added.alternatives],
        "taken": [bool(each) for each in added.taken],
        "first_row": added.first_row,
        "rows": len(numbers),
        "offset": blobs.add(np.concatenate(numbers) if numbers else np.zeros(0, dtype="<u2")),
    }
    if not added.since:
        header["colour"] = {name.lower(): blobs.add(_scale(name)) for name in _SCALES}
    return Payload({**header, "view": dict(view)}, blobs.join())


def span_entry(span: Span) -> dict[str, Any]:
    """Return a span in the form that payloads use."""
    return {"name": span.name, "start": span.start, "end": span.end, "role": span.role}


def _token(token: Token) -> list[Any]:
    return [display_token(token), int(token.starts_word), int(token.is_special), *entries([token])]


def _scale(name: str) -> np.ndarray:
    return np.asarray(getattr(colour, name), dtype=np.uint8).reshape(256, 3)
