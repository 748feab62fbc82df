"""Description of a model that the engine sends once, so that the dashboard need not ask again: names, sizes,
vocabulary.
"""

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
    """The ids that end a text, and those that are never written."""

    ends: frozenset[int]
    suppressed_ids: tuple[int, ...] = ()

    def forbid(self, logits: Tensor) -> Tensor:
        """Return logits `(batch, vocab_size)` with the ids that are never written at minus infinity."""
        return forbid_ids(logits, self.suppressed_ids)


@dataclass(frozen=True)
class ModelOnEngine:
    """A model in the engine: `device` and `dtype` of its computation, and `padding`, its padding token."""

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
    has_chat: bool = False  # an older engine does not say

    @classmethod
    def describe(cls, model: Model, name: str) -> "ModelOnEngine":
        """Describe a model, under the name that the engine was started with."""
        suppressed = getattr(model.vocabulary, "suppressed_ids", ())
        return cls(
            name, model.model_id, model.writes, bool(getattr(model, "writes_logits", model.writes)), model.inputs,
            tuple(model.languages), getattr(model, "own_language", ""), dict(model.shapes), model.n_parameters,
            model.device.type, str(model.dtype).removeprefix("torch."), model.padding(),
            RemoteRules(frozenset(model.vocabulary.ends), tuple(suppressed)), can_chat(model),
        )  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """Return JSON types."""
        rules = {"ends": sorted(self.vocabulary.ends), "suppressed_ids": list(self.vocabulary.suppressed_ids)}
        return asdict(self) | {"inputs": self.inputs.name, "vocabulary": rules}

    @classmethod
    def from_json(cls, said: Any) -> "ModelOnEngine":
        """Read what `to_json` wrote. Raises ValueError for anything else."""
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
