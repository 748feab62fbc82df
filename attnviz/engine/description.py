"""The description of a model (names, sizes, vocabulary), which the engine sends once to the dashboard."""

from dataclasses import asdict, dataclass
from typing import Any

from torch import Tensor

from attnviz.models.chat import can_chat
from attnviz.models.inputs import Inputs
from attnviz.models.protocol import Model
from attnviz.text.tokens import Token
from attnviz.transformer.decoding import forbid_ids
from attnviz.transformer.probe import Kind


@dataclass(frozen=True)
class RemoteRules:
    """The ids that end a text, and the ids that are never generated."""

    ends: frozenset[int]
    suppressed_ids: tuple[int, ...] = ()

    def forbid(self, logits: Tensor) -> Tensor:
        """Return logits `(batch, vocab_size)` with minus infinity for the ids that are never generated."""
        return forbid_ids(logits, self.suppressed_ids)


@dataclass(frozen=True)
class ModelOnEngine:
    """Description of a model on the engine; `device` and `dtype` are where and how it runs, `padding` its padding
    token.
    """

    name: str
    model_id: str
    writes: bool
    writes_logits: bool
    inputs: Inputs
    languages: tuple[str, ...]
    own_language: str
    shapes: dict[Kind, tuple[int, int]]
    n_parameters: int
    device: str
    dtype: str
    padding: Token
    vocabulary: RemoteRules
    has_chat: bool = False  # missing in the description from an older engine

    @classmethod
    def describe(cls, model: Model, name: str) -> "ModelOnEngine":
        """Describe a model under the name with which the engine was started."""
        suppressed = getattr(model.vocabulary, "suppressed_ids", ())
        return cls(
            name, model.model_id, model.writes, bool(getattr(model, "writes_logits", model.writes)), model.inputs,
            tuple(model.languages), getattr(model, "own_language", ""), dict(model.shapes), model.n_parameters,
            model.device.type, str(model.dtype).removeprefix("torch."), model.padding(),
            RemoteRules(frozenset(model.vocabulary.ends), tuple(suppressed)), can_chat(model),
        )  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """Return the description as plain JSON types."""
        rules = {"ends": sorted(self.vocabulary.ends), "suppressed_ids": list(self.vocabulary.suppressed_ids)}
        return asdict(self) | {"inputs": self.inputs.name, "vocabulary": rules}

    @classmethod
    def from_json(cls, said: Any) -> "ModelOnEngine":
        """Read the result of `to_json`. Raises ValueError for anything else."""
        try:
            rules = RemoteRules(frozenset(said["vocabulary"]["ends"]), tuple(said["vocabulary"]["suppressed_ids"]))
            shapes = {kind: (int(layers), int(heads)) for kind, (layers, heads) in said["shapes"].items()}
            known = {"inputs": Inputs[said["inputs"]], "languages": tuple(said["languages"]), "shapes": shapes,
                     "padding": Token(**said["padding"]), "vocabulary": rules}  # fmt: skip
            return cls(**(said | known))
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(
                f"The engine's description of a model cannot be read by this attnviz ({error})."
            ) from error
