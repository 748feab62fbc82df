"""Data for the Reply component: what was added to a reply since the last message to the browser.

`attnviz.kit.wire` describes the layout. The browser keeps its first `since` tokens and rows, and a message has those
that follow. Only the rows of the head in view are sent, as 16-bit integers, with 65535 for a weight of 1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from attnviz.decoding.decoding import NUMBERS
from attnviz.decoding.reply.numbers.reply import GREEDY, LIMIT, MOST, Choosing, Reply, start_reply
from attnviz.kit.fields import MEAN, PageState, Say, choice, declare, number, or_mean
from attnviz.kit.views import colour
from attnviz.kit.wire import Blobs, Payload
from attnviz.models.protocol import Model
from attnviz.text.display import display_token
from attnviz.text.entries import entries
from attnviz.text.tokens import Span, Token
from attnviz.tracing.causes.intervention import Intervention

REPLY_CHOICES = {"greedy": "Greedy", "sampled": "Sampled"}
MOST_TAKEN = 100  # maximum tokens chosen by hand in an address
FORMAT = 1
FULL = 65535  # a weight of 1
_SCALES = ("SEQUENTIAL_LIGHT", "SEQUENTIAL_DARK", "DIVERGING_LIGHT", "DIVERGING_DARK")


def _read_taken(text: str, bound: Any, default: Any, say: Say) -> tuple[tuple[int, int], ...]:
    """Parse pairs such as `6:981,40:77`: positions in the reply, and token ids."""
    pairs = [pair.partition(":")[::2] for pair in text.split(",")[: MOST_TAKEN + 1]]
    if len(pairs) > MOST_TAKEN or not all(_is_number(part) for pair in pairs for part in pair):
        say("chosen tokens are given as position:id, such as 6:981,40:77", "none")
        return default
    return tuple(sorted({int(at): int(id_) for at, id_ in pairs if int(at) < MOST}.items()))


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) < 8


def write_taken(pairs: Sequence[tuple[int, int]]) -> str:
    """Return tokens chosen by hand as an address parameter."""
    return ",".join(f"{at}:{id_}" for at, id_ in pairs)


def _ranged(name: str, default: float) -> Any:
    return number(default, NUMBERS[name].low, NUMBERS[name].high)


@dataclass(frozen=True)
class ReplyState(PageState):
    """State of the tab Reply: how tokens are chosen, which were chosen by hand (`taken`), how many are written,
    and the `limit`.

    `layer` and `head` are those whose attention rows are drawn.
    """

    tab: str = choice("", ("", "reply"))
    choose: str = choice("greedy", REPLY_CHOICES)
    temperature: float = _ranged("temperature", 1.0)
    top_p: float = _ranged("top_p", 1.0)
    seed: int = _ranged("seed", 0)
    limit: int = number(LIMIT, 1, MOST)
    taken: tuple[tuple[int, int], ...] = declare((), _read_taken, write_taken, shape=list)
    written: int = number(0, 0, MOST)
    layer: int | str = or_mean(MEAN, of="layer")
    head: int | str = or_mean(MEAN, of="head")

    @property
    def choosing(self) -> Choosing:
        """How the next token is chosen."""
        if self.choose != "sampled":
            return GREEDY
        return Choosing(self.temperature, self.top_p if self.top_p < 1 else None, self.seed)

    @property
    def site(self) -> tuple[int | str, int | str]:
        """Layer and head."""
        return self.layer, self.head


def begin_reply(
    model: Model, state: ReplyState, *, messages: Sequence[Mapping[str, Any]] = (), text: str = "",
    interventions: Sequence[Intervention] = (),
) -> Reply:  # fmt: skip
    """Start the reply to the prompt or conversation with the options of a `ReplyState`; nothing is written yet.

    Raise ValueError with a message of one sentence.
    """
    return start_reply(
        model, messages or None, text="" if messages else text, choosing=state.choosing, taken=state.taken,
        limit=state.limit, interventions=interventions,
    )  # fmt: skip


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
    """Convert a span, such as a turn of the conversation, to the form in which it is sent to the browser."""
    return {"name": span.name, "start": span.start, "end": span.end, "role": span.role}


def _token(token: Token) -> list[Any]:
    return [display_token(token), int(token.starts_word), int(token.is_special), *entries([token])]


def _scale(name: str) -> np.ndarray:
    return np.asarray(getattr(colour, name), dtype=np.uint8).reshape(256, 3)
