"""The top bar's request."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from attnviz.models.catalogue import Entry

if TYPE_CHECKING:
    from attnviz.tracing.causes.intervention import Intervention


@dataclass(frozen=True)
class Request:
    """The top bar's request. An empty `tgt` means that the model writes the target; for an encoder `tgt` is the
    second sentence of a pair, if any. `new` is the number of tokens to write after a prompt. `do` are the
    interventions, as `tracing.causes.notation` writes them.
    """

    entry: Entry
    src: str
    to: str = ""
    tgt: str = ""
    new: int = 0
    do: str = ""

    @property
    def interventions(self) -> "tuple[Intervention, ...]":
        """The run's interventions; none of them needs another run's numbers."""
        if not self.do:  # which needs no torch
            return ()
        from attnviz.tracing.causes import notation

        return notation.parse(self.do).interventions

    def to_params(self) -> dict[str, str]:
        """Return the texts that stand in a link."""
        texts = {"model": self.entry.name, "src": self.src, "to": self.to, "tgt": self.tgt}
        return texts | ({"new": str(self.new)} if self.new else {}) | ({"do": self.do} if self.do else {})
