"""What every model that reads images shares: it reads no text and writes nothing."""

from collections.abc import Iterator, Sequence
from typing import Any

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
NO_LABELS = "{name} has no classifier, so there are no labels with probabilities."
_WRITES_NONE = "{name} reads images and writes no text, so it has no decoding to follow."


class ImageRules:
    """Generation rules of a model that writes nothing: no id ends a text, and none is forbidden."""

    ends: frozenset[int] = frozenset()

    def forbid(self, logits: Tensor) -> Tensor:
        """Return the logits unchanged."""
        return logits


class ReadsImages(WithoutChat):
    """Mixin for a model that reads images, with the methods that it refuses.

    The labels of a classifier are its vocabulary: a trace's `logits` `(batch, 1, labels)` are their scores.
    """

    name: str
    writes = False
    writes_logits = False  # type: ignore[assignment]  # no head over a vocabulary

    @property
    def languages(self) -> tuple[str, ...]:
        """No languages, because the model writes no text."""
        return ()

    @property
    def inputs(self) -> Inputs:
        """The model's input field: an image."""
        return Inputs.IMAGE

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the labels that a classifier chooses from; () for a model without a classifier."""
        return ()

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

    def logits_under(self, trace: Trace, edits: Edits, *, rows: Sequence[int] | None = None) -> Tensor:
        """Raise ValueError, because the model has no classifier."""
        raise ValueError(NO_LABELS.format(name=self.name))

    def decode_ids(self, ids: Sequence[int]) -> tuple[str, tuple[Token, ...]]:
        """Return the names of labels, and a token for each. Raises ValueError for an id without a label."""
        if not self.labels:
            raise ValueError(NO_LABELS.format(name=self.name))
        if wrong := [id_ for id_ in ids if not 0 <= id_ < len(self.labels)]:
            raise ValueError(f"There is no label {wrong[0]}: the model has {len(self.labels)} labels.")
        names = [self.labels[id_] for id_ in ids]
        return ", ".join(names), tuple(Token(name, id_, 0, len(name)) for name, id_ in zip(names, ids, strict=True))

    def encode_target(self, text: str, *, to: str = "") -> tuple[Token, ...]:
        """Return the labels with this name, as tokens. Raises ValueError for a model without a classifier."""
        if not self.labels:
            raise ValueError(NO_TEXT.format(name=self.name))
        wanted = text.strip().casefold()
        return self.decode_ids([id_ for id_, label in enumerate(self.labels) if label.casefold() == wanted])[1]

    def padding(self, at: int = 0) -> Token:
        """Return an empty special token; images in a trace are never padded."""
        return Token("", -1, at, at, is_special=True)

    def is_pad(self, token: Token) -> bool:
        """Return False, because a trace contains no padding of images."""
        return False
