"""`attnviz.show`: a picture as the value of a cell."""

from typing import TYPE_CHECKING, Any, Literal

from attnviz.extras import needs
from attnviz.notebook.static import StaticPicture
from attnviz.pictures.shown.registry import picture
from attnviz.text.arguments import reads_arguments
from attnviz.tracing.external.from_tensors import from_tensors
from attnviz.tracing.trace_like import TraceLike

if TYPE_CHECKING:
    from attnviz.notebook.widget import PictureWidget

_OF_TENSORS = ("key_tokens", "mask", "item", "tokenizer", "attention_mask")


class Show:
    """Pictures by what they show.

    Each takes fields of its view (`kind=`, `layer=` …), `theme` ("auto", "light" or "dark") and `height` in pixels.
    With `static=True` it is a `StaticPicture`, in the reader's own light or dark. Where pictures are of a trace,
    attention weights with their tokens are taken, too, as `attnviz.from_tensors` takes them. Raises ValueError, with
    one sentence, for what cannot be shown.
    """

    def __call__(self, trace: Any, tokens: Any = None, *, picture: str = "heads", **asked: Any) -> "PictureWidget":
        """Show every head's map, one of them large; or another `picture` of a trace, such as "spans"."""
        return _of_trace(picture, trace, tokens, asked)

    def links(self, trace: Any, tokens: Any = None, **asked: Any) -> "PictureWidget":
        """Show two sentences as columns, and lines between their tokens."""
        return _of_trace("links", trace, tokens, asked)

    def whole_model(self, trace: Any, tokens: Any = None, **asked: Any) -> "PictureWidget":
        """Show every head of every layer at once, small."""
        return _of_trace("whole_model", trace, tokens, asked)

    def one_row(self, trace: Any, tokens: Any = None, **asked: Any) -> "PictureWidget":
        """Show one row in every head of every layer."""
        return _of_trace("one_row", trace, tokens, asked)

    def flow(self, trace: Any, tokens: Any = None, **asked: Any) -> "PictureWidget":
        """Follow a row of the last layer back to the text; with its `model=` also by ALTI."""
        return _of_trace("flow", trace, tokens, asked)

    def spans(self, trace: Any, tokens: Any = None, **asked: Any) -> "PictureWidget":
        """Show how much an answer looks at each part of its prompt; with its `model=` also what it needs of it."""
        return _of_trace("spans", trace, tokens, asked)

    def alignment(self, trace: Any, tokens: Any = None, **asked: Any) -> "PictureWidget":
        """Show which source word each word comes from."""
        return _of_trace("alignment", trace, tokens, asked)

    def neuron(self, trace: Any, **asked: Any) -> "PictureWidget":
        """Show one pair of tokens of one head, from query and key to its weight."""
        return _draw("neuron", (trace,), asked)

    def stepper(self, model: Any, text: str, **asked: Any) -> "PictureWidget":
        """Show the training pass beside every step of decoding `text`, into the language `to=`."""
        return _draw("stepper", (model, text), asked)

    def mask_lab(self, model: Any, trace: Any, **asked: Any) -> "PictureWidget":
        """Show scores, mask, weights and context of one head, with a mask to paint."""
        return _draw("mask_lab", (model, trace), asked)

    def switches(self, model: Any, trace: Any, **asked: Any) -> "PictureWidget":
        """Show every head as a switch, and what the model does without those that are off."""
        return _draw("switches", (model, trace), asked)

    def patching(self, model: Any, trace: Any, other: Any, **asked: Any) -> "PictureWidget":
        """Put numbers of one run into another; `other` is that run, or its sentence."""
        return _draw("patching", (model, trace, other), asked)

    def attribution(self, model: Any, trace: Any, **asked: Any) -> "PictureWidget":
        """Show a token's logit as what adds to it."""
        return _draw("attribution", (model, trace), asked)

    def compared(self, here: Any, there: Any, **asked: Any) -> "PictureWidget":
        """Show two runs side by side."""
        return _draw("compared", (here, there), asked)

    def learning(self, recording: Any, other: Any = None, **asked: Any) -> "PictureWidget":
        """Show one or two recordings of training, moment by moment."""
        return _draw("learning", (recording, other), asked)


show = Show()


def _draw(name: str, subject: tuple[Any, ...], asked: dict[str, Any]) -> "PictureWidget":
    how = {option: asked.pop(option) for option in ("theme", "height", "static") if option in asked}
    return _show(name, subject, asked, **how)


def _of_trace(name: str, given: Any, tokens: Any, asked: dict[str, Any]) -> "PictureWidget":
    how = {option: asked.pop(option) for option in _OF_TENSORS if option in asked}
    if isinstance(given, TraceLike) or (tokens is None and not how):
        return _draw(name, (given,), asked)
    if tokens is None:
        raise ValueError("Attention weights are shown with their tokens: attnviz.show(outputs, tokens).")
    if "kind" in asked and not isinstance(tokens, dict):  # of several kinds in an output the one that is meant
        how["kind"] = asked["kind"]
    return _draw(name, (from_tensors(given, tokens, **how),), asked)


@reads_arguments
def _show(
    name: str, subject: Any, asked: Any, *, theme: Literal["auto", "light", "dark"] = "auto",
    height: int | None = None, static: bool = False,
) -> Any:  # fmt: skip
    shown = picture(name).of(*subject, **asked)
    if static:
        return StaticPicture(shown, height)
    with needs("notebook", "attnviz.show", otherwise="give static=True"):
        from attnviz.notebook.widget import PictureWidget
    return PictureWidget(shown, theme=theme, height=height)
