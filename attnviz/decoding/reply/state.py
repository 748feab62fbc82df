"""State of the tab Reply: how tokens are chosen, which were chosen by hand, and how many are written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attnviz.decoding.decoding import NUMBERS
from attnviz.decoding.reply.numbers.choosing import GREEDY, Choosing
from attnviz.decoding.reply.numbers.reply import LIMIT, MOST, Reply, start_reply
from attnviz.kit.fields import MEAN, PageState, Say, choice, declare, number, or_mean
from attnviz.models.protocol import Model
from attnviz.tracing.causes.intervention import Intervention

REPLY_CHOICES = {"greedy": "Greedy", "sampled": "Sampled"}
MOST_TAKEN = 100  # maximum tokens chosen by hand in an address


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
    """Start the reply that a state asks for; nothing is written yet.

    Raise ValueError with a message of one sentence.
    """
    return start_reply(
        model, messages or None, text="" if messages else text, choosing=state.choosing, taken=state.taken,
        limit=state.limit, interventions=interventions,
    )  # fmt: skip
