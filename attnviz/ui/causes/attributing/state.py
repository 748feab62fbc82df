"""What a link to the Attribute tab carries."""

import re
from dataclasses import dataclass

from attnviz.pictures.fields import Say, choice, declared, flag, text, whole
from attnviz.ui.causes.state import CausesState

NONE, RUNNER_UP = "#none", "#runner-up"
_HEAD = re.compile(r"(encoder_self|decoder_self|cross)\.\d{1,4}\.\d{1,4}")


def _head(asked: str, bound: object, default: str, say: Say) -> str:
    """A head's bar; whether the model has it, the picture knows."""
    if _HEAD.fullmatch(asked):
        return asked
    say("a head is a kind, a layer and a head, such as cross.1.3", "no head")
    return default


@dataclass(frozen=True)
class AttributeState(CausesState):
    """`step` is the row whose logit is taken apart (None: the first), `token` the token (typed, or `#` and an id; "":
    the one that comes out) and `against` another whose logit is taken away. `opened` is the head whose bar is opened,
    `order` how bars stand, `drops` whether show what falls without each head stands beside what it adds.
    """

    step: int | None = whole(used="the first one")
    token: str = text(limit=200)
    against: str = text(NONE, limit=200)
    opened: str = declared("", _head)
    order: str = choice("size", ("size", "model"))
    drops: bool = flag()
