"""The caption below every saved picture: its sentence, head and model.

A saved picture has no page and top bar around it that would tell.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from attnviz.text.display import display, display_token

if TYPE_CHECKING:
    from attnviz.tracing.trace import TraceLike

LONGEST = 600  # characters of a sentence: a caption shows three lines of it at most


@dataclass(frozen=True)
class Caption:
    """A caption: the text and its translation, the model, and kind, layer and head if the picture is of one."""

    sentence: str
    model: str
    site: str = ""

    def lines(self) -> list[str]:
        """Split the caption into lines: the sentence, and below it the rest."""
        return [line for line in (self.sentence, " · ".join(filter(None, (self.site, self.model)))) if line]


def sentence(trace: "TraceLike", *, written: str | None = None, item: int = 0) -> str:
    """Join a run's text and its translation, safe to show; `written` replaces the target if the output is another text.

    Bare weights have no text: their tokens stand apart.
    """
    own = trace.sentences[item]
    texts = [own.src_text, own.tgt_text if written is None else written]
    if trace.from_file:
        texts = [" ".join(map(display_token, tokens)) for tokens in (own.src, own.tgt)]
    return " → ".join(f"\u2068{_cut(display(text))}\u2069" for text in texts if text.strip())


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[:LONGEST].rstrip() + " …"
