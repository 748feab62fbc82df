"""The caption below every saved picture: its sentence, head and model.

A saved picture needs a caption, because it has no page around it that names them.

`caption_of` makes the caption of a run, and `with_caption` adds a caption to a payload.
"""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from attnviz.kit.views.interventions import describe_changes
from attnviz.kit.wire import Payload
from attnviz.text.display import display, display_token

if TYPE_CHECKING:
    from attnviz.tracing.record import Sentence
    from attnviz.tracing.trace_like import TraceLike

LONGEST = 600  # maximum characters of a sentence; captions show at most three lines


@dataclass(frozen=True)
class Caption:
    """A caption: the text with its translation, the model, and kind, layer and head if the picture shows a
    single head.
    """

    sentence: str
    model: str
    site: str = ""

    def lines(self) -> list[str]:
        """Return the caption as lines: the sentence, then the rest."""
        return [line for line in (self.sentence, " · ".join(filter(None, (self.site, self.model)))) if line]


def sentence(trace: "TraceLike", *, written: str | None = None, item: int = 0) -> str:
    """Return a run's text and its translation, as displayable text.

    `written` replaces the target if the output is another text. Bare weights have no text, so their tokens are listed.
    """
    own = trace.sentences[item]
    texts = [own.src_text, own.tgt_text if written is None else written]
    if own.images:
        texts = [_images_in_words(own)]
    elif trace.from_file:
        texts = [" ".join(map(display_token, tokens)) for tokens in (own.src, own.tgt)]
    return " → ".join(f"\u2068{_cut(display(text))}\u2069" for text in texts if text.strip())


def _images_in_words(sentence: "Sentence") -> str:
    """Describe what a model saw in place of a text."""
    sizes = [f"{image.grid[0]} × {image.grid[1]} patches" for image in sentence.images]
    return f"an image of {sizes[0]}" if len(sizes) == 1 else f"images of {', '.join(sizes)}"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[:LONGEST].rstrip() + " …"


def caption_of(trace: "TraceLike", model: str = "", *, site: str = "", **which: Any) -> Caption:
    """Return the caption for a run's pictures.

    `model` is the model's name; `which` are arguments of `attnviz.kit.views.captions.sentence`.
    """
    name = "; ".join((model or f"weights {trace.model_id}", *_attending_layers(trace)))
    if trace.interventions:
        name = f"{name}; changes to the run: {describe_changes(trace.interventions)}"
    return Caption(sentence(trace, **which), name, site)


def _attending_layers(trace: "TraceLike") -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(trace.attending_layers, trace.kinds))))


def with_caption(payload: Payload, caption: Caption) -> Payload:
    """Add a caption to a payload's header. The id changes with the caption."""
    return payload.adding(caption=asdict(caption))
