"""What the top bar asks a model to run."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from attnviz.models.catalogue import Entry
from attnviz.text.chat_link import last_user_text, replace_last_user_text, write_chat
from attnviz.text.conversation import Turn

if TYPE_CHECKING:
    from attnviz.tracing.causes.intervention import Intervention


@dataclass(frozen=True)
class Request:
    """The model and the texts that the top bar asks to run.

    If `tgt` is empty, the model writes the target; for an encoder `tgt` is the second sentence of a pair, if any. `new`
    is the number of tokens to write after a prompt. `do` has the interventions in the notation of
    `tracing.causes.notation`. With `messages` the model reads this conversation instead of `src`, and writes `new`
    tokens of its reply. `image` names the image that a model without text reads.
    """

    entry: Entry
    src: str
    to: str = ""
    tgt: str = ""
    new: int = 0
    do: str = ""
    messages: tuple[Turn, ...] = ()
    image: str = ""

    @property
    def text(self) -> str:
        """The sentence, or the last user turn of the conversation."""
        return last_user_text(self.messages) if self.messages else self.src

    @property
    def n_characters(self) -> int:
        """The number of characters that the model reads before it writes."""
        return sum(len(turn.content) for turn in self.messages) if self.messages else len(self.src)

    def with_text(self, text: str) -> "Request":
        """Return this request with another sentence, which in a conversation replaces the user's last turn."""
        if self.messages:
            return replace(self, messages=replace_last_user_text(self.messages, text))
        return replace(self, src=text)

    @property
    def interventions(self) -> "tuple[Intervention, ...]":
        """The interventions in `do`. The means that some of them use are filled in elsewhere."""
        if not self.do:  # which needs no torch
            return ()
        from attnviz.tracing.causes import notation

        return notation.parse(self.do).interventions

    def to_params(self) -> dict[str, str]:
        """Return the texts of this request for a link, by name."""
        if self.image:
            return {"model": self.entry.name, "image": self.image} | ({"do": self.do} if self.do else {})
        asked = {"chat": write_chat(self.messages)} if self.messages else {"src": self.src}
        texts = {"model": self.entry.name, **asked, "to": self.to, "tgt": self.tgt}
        return texts | ({"new": str(self.new)} if self.new else {}) | ({"do": self.do} if self.do else {})
