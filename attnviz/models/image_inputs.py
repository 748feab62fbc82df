"""What every model that reads images shares: it reads no text and writes nothing."""

from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from torch import Tensor

from attnviz.models.chat import WithoutChat
from attnviz.models.inputs import Inputs
from attnviz.models.protocol import Step, TextGenerator
from attnviz.text.tokens import Token
from attnviz.tracing.causes.edits import Edits
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Probe

NO_TEXT = (
    "{name} reads images, not text. Please pass the path of an image, a Pillow image, or an array of "
    "shape (height, width, 3)."
)
_WRITES_NONE = "{name} reads images and writes no text, so it has no decoding to follow."


class ImageRules:
    """Generation rules of a model that writes nothing: no id ends a text, and none is forbidden."""

    ends: frozenset[int] = frozenset()

    def forbid(self, logits: Tensor) -> Tensor:
        """Return the logits unchanged."""
        return logits


class ReadsImages(WithoutChat):
    """Mixin for a model that reads images, with the methods that it refuses."""

    name: str
    writes = False
    writes_logits = False  # type: ignore[assignment]  # no head over a vocabulary
    languages: tuple[str, ...] = ()  # type: ignore[assignment]

    @property
    def inputs(self) -> Inputs:
        """The model's input field: an image."""
        return Inputs.IMAGE

    @property
    def vocabulary(self) -> Any:
        """The generation rules of a model that writes nothing."""
        return ImageRules()

    def stepwise(self, *given: Any, **how: Any) -> Iterator[Step]:
        """Raise ValueError, because the model writes no text."""
        raise ValueError(_WRITES_NONE.format(name=self.name))

    def generator(self, trace: Trace, probe: Probe | None = None, **how: Any) -> TextGenerator:
        """Raise ValueError, because the model writes no text."""
        raise ValueError(_WRITES_NONE.format(name=self.name))

    def logits_under(self, trace: Trace, edits: Edits, *, rows: Sequence[int] | None = None) -> NoReturn:
        """Raise ValueError, because the model has no output over a vocabulary."""
        raise ValueError(f"{self.name} has no output over a vocabulary, so there are no probabilities to compare.")

    def decode_ids(self, ids: Sequence[int]) -> NoReturn:
        """Raise ValueError, because the model has no vocabulary."""
        raise ValueError(_WRITES_NONE.format(name=self.name))

    def encode_target(self, text: str, *, to: str = "") -> NoReturn:
        """Raise ValueError, because the model reads no text."""
        raise ValueError(NO_TEXT.format(name=self.name))

    def padding(self, at: int = 0) -> Token:
        """Return an empty special token; images in a trace are never padded."""
        return Token("", -1, at, at, is_special=True)

    def is_pad(self, token: Token) -> bool:
        """Return False, because a trace contains no padding of images."""
        return False
