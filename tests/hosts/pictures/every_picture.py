"""Every picture, drawn from the example of its declaration."""

from typing import Any

from attnviz.hosts.registry import PICTURES, picture
from attnviz.kit.picture import ShownPicture
from attnviz.models.translator.translator import Translator
from attnviz.tracing.trace import Trace


def draw_picture(name: str, model: Translator, trace: Trace, **asked: Any) -> ShownPicture:
    """Draw one picture; `asked` are fields of its state."""
    one = picture(name)
    return one.of(**one.example(model, trace), **asked)


def draw_every(model: Translator, trace: Trace, **asked: dict[str, Any]) -> dict[str, ShownPicture]:
    """Draw every picture; `asked` are fields of the states of some, by the picture's name."""
    return {name: draw_picture(name, model, trace, **asked.get(name, {})) for name in PICTURES}
