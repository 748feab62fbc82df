"""`attnviz.show`: a picture as the value of a notebook cell."""

import inspect
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from attnviz.extras import needs
from attnviz.guards.arguments import reads_arguments
from attnviz.hosts.registry import picture, pictures
from attnviz.kit.picture import ShownPicture
from attnviz.tracing.trace_like import TraceLike
from attnviz.transformer.probe import report_layers

if TYPE_CHECKING:
    from attnviz.hosts.notebook.widget import PictureWidget

HEIGHT = 620  # default height in pixels, including the caption
_FRAME = '<iframe srcdoc="{page}" sandbox="allow-scripts allow-downloads" style="{style}" title="{title}"></iframe>'
# Lets a picture in a narrow cell request more height (see kit/js/hosts/file.js).
_GROW = """<script>
globalThis.attnvizGrow ??= window.addEventListener("message", ({ data, source }) => {
  if (!(data?.attnvizHeight > 0)) return;
  for (const frame of document.querySelectorAll("iframe[srcdoc]"))
    if (frame.contentWindow === source && data.attnvizHeight > frame.clientHeight)
      frame.style.height = `${Math.min(data.attnvizHeight, 4000)}px`;
}) ?? true;
</script>"""
_OF_TENSORS = ("key_tokens", "mask", "item", "tokenizer", "attention_mask")


class Show:
    """Functions that show pictures: `attnviz.show(trace)` shows Heads, and `attnviz.show.links(trace)` Links.

    Every picture has its name here. `links`, `whole_model`, `one_row`, `neuron`, `flow`, `spans` and `alignment` take a
    trace; `stepper` takes a model and a text; `mask_lab`, `switches` and `attribution` a model and a trace; `patching`
    a model, a trace and another run; `compared` two runs; `learning` recordings. Pictures of other packages are here
    too (`attnviz.Picture`). Each function takes fields of its view (`kind=`, `layer=` …), `theme` ("auto", "light" or
    "dark") and `height` in pixels. With `static=True` it returns a `StaticPicture`, in the reader's own light or dark
    theme. Instead of a trace, attention weights with their tokens can be given, as for `attnviz.from_tensors`. Raises
    ValueError, with one sentence, for what cannot be shown.
    """

    def __call__(self, trace: Any, tokens: Any = None, *, picture: str = "heads", **asked: Any) -> "PictureWidget":
        """Show every head's map, one of them large, or another `picture` of a trace, such as "spans"."""
        return _of_trace(picture, trace, tokens, asked)

    def __getattr__(self, name: str) -> "Callable[..., PictureWidget]":
        """Return the function that shows the picture with this name."""
        if name.startswith("_") or name not in pictures():
            raise AttributeError(f"attnviz.show has no {name!r}; it has {', '.join(self.__dir__())}.")
        return _function_for(name)

    def __dir__(self) -> list[str]:
        """Return the names of all pictures, for completion in an editor."""
        return [name for name in pictures() if name != "heads"]


show = Show()


def _function_for(name: str) -> "Callable[..., PictureWidget]":
    """Return a function that shows a picture. It takes the picture's subject, and fields of its view."""
    one = picture(name)
    subject = inspect.signature(one.subject).parameters
    given = [each for each in subject.values() if each.kind is each.POSITIONAL_OR_KEYWORD]
    takes_tensors = [each.name for each in given] == ["trace"]
    if takes_tensors:
        given.append(inspect.Parameter("tokens", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None))
    signature = inspect.Signature([*given, inspect.Parameter("asked", inspect.Parameter.VAR_KEYWORD)])

    def draw(*args: Any, **named: Any) -> Any:
        bound = signature.bind(*args, **named)
        bound.apply_defaults()
        values = dict(bound.arguments)
        asked = values.pop("asked")
        if takes_tensors:
            return _of_trace(name, values["trace"], values["tokens"], asked)
        return _draw(name, tuple(values.values()), asked)

    draw.__name__, draw.__doc__ = name, one.subject.__doc__
    draw.__signature__ = signature  # type: ignore[attr-defined]  # shown by editors
    return draw


def _draw(name: str, subject: tuple[Any, ...], asked: dict[str, Any]) -> "PictureWidget":
    how = {option: asked.pop(option) for option in ("theme", "height", "static") if option in asked}
    return _show(name, subject, asked, **how)


def _of_trace(name: str, given: Any, tokens: Any, asked: dict[str, Any]) -> "PictureWidget":
    how = {option: asked.pop(option) for option in _OF_TENSORS if option in asked}
    if isinstance(given, TraceLike) or (tokens is None and not how):
        return _draw(name, (given,), asked)
    if tokens is None:
        raise ValueError("Attention weights need their tokens. Please call attnviz.show(outputs, tokens).")
    if "kind" in asked and not isinstance(tokens, dict):  # chooses one of several kinds in the output
        how["kind"] = asked["kind"]
    from attnviz.tracing.external.from_tensors import from_tensors  # what a cell that shows a trace does without

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
        from attnviz.hosts.notebook.widget import PictureWidget
    trace = shown.subject.trace
    layers = 0 if trace is None else sum(trace.shape(kind)[0] for kind in trace.kinds)
    with report_layers("Making every head's map", layers):
        return PictureWidget(shown, theme=theme, height=height)


class StaticPicture:
    """A picture in a cell that is not connected to Python; `shown` is the picture."""

    def __init__(self, shown: ShownPicture, height: int | None = None) -> None:
        self.shown = shown
        self.height = height or HEIGHT
        self._may_grow = height is None

    def __repr__(self) -> str:
        """Return the name of the picture and what it shows."""
        return f"<{type(self).__name__} {self.shown}>"

    def to_html(self, path: str | Path, *, title: str = "") -> Path:
        """Write the picture as one HTML file; see `ShownPicture.to_html`."""
        return self.shown.to_html(path, title=title)

    def _repr_html_(self) -> str:
        from attnviz.hosts.html.one_file import one_file

        style = f"width: 100%; height: {self.height}px; border: 0"
        title = escape(self.shown.picture.title)
        return _FRAME.format(page=escape(one_file(self.shown)), style=style, title=title) + (
            _GROW if self._may_grow else ""
        )
