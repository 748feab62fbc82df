"""What a checkpoint says of itself and of its tokens, however its attention is had: one base of both kinds of model."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import torch

from attnviz.models.huggingface.generate import GenerationRules
from attnviz.models.huggingface.network.network import Family, Network, first_weight
from attnviz.models.huggingface.tokenizer import CheckpointTokenizer, EncodedText
from attnviz.models.huggingface.validation import InputCheck
from attnviz.models.huggingface.weights_id import weights_id
from attnviz.models.inputs import Inputs
from attnviz.models.notebook import in_two_lines
from attnviz.text.arguments import reads_arguments
from attnviz.text.limits import require_ids
from attnviz.text.tokens import Token
from attnviz.transformer.probe import Kind


@reads_arguments
class CheckpointModel:
    """Names and numbers that follow from the stacks there are (`shapes`, layers and heads of each kind), transformers'
    own model and the tokenizer. `folder` is where it was read from.
    """

    folder: Path | None = None
    known_id: str = ""  # of weights that nobody but this model holds
    text_id: str = ""  # of the tokenizer, as `weights_id.text_id` gives it
    name: str
    writes: bool
    family: Family
    shapes: dict[Kind, tuple[int, int]]
    torch_module: Any  # transformers' own model
    text: CheckpointTokenizer
    _rules: GenerationRules

    def __repr__(self) -> str:
        """In two lines, for a notebook: what it is, and what may be asked of it."""
        return in_two_lines(self)  # type: ignore[arg-type]  # a part of a model; the rest is in what follows from it

    @property
    def model_id(self) -> str:
        """The id of its weights; of a model in memory, which may be trained meanwhile, as they are now."""
        return self.known_id or weights_id(self.torch_module, self.text_id)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of attention that it computes, encoder first."""
        return tuple(self.shapes)

    @property
    def n_layers(self) -> int:
        """Layers of the kind that has most."""
        return max(layers for layers, _ in self.shapes.values())

    @property
    def n_heads(self) -> int:
        """Heads of the kind that has most."""
        return max(heads for _, heads in self.shapes.values())

    @property
    def n_parameters(self) -> int:
        """Numbers that were learned."""
        return sum(parameter.numel() for parameter in self.torch_module.parameters())

    @property
    def device(self) -> torch.device:
        """Where it runs."""
        return first_weight(self.torch_module).device

    @property
    def dtype(self) -> torch.dtype:
        """In what it computes."""
        return first_weight(self.torch_module).dtype

    @property
    def inputs(self) -> Inputs:
        """What it asks for: text and perhaps a second sentence, a prompt, or source and target."""
        return self._check.inputs

    @property
    def vocabulary(self) -> GenerationRules:
        """What writing must know of the ids."""
        return self._rules

    def decode_ids(self, ids: Sequence[int]) -> tuple[str, tuple[Token, ...]]:
        """The text that ids stand for, and their tokens."""
        require_ids(ids, self.text.known)
        written = self.text.continued(EncodedText((), ""), ids)
        return written.text, written.tokens

    def padding(self, at: int = 0) -> Token:
        """A `<pad>` after `at` characters of a text."""
        return self.text.padding(at)

    def is_pad(self, token: Token) -> bool:
        """Whether a token is there only because a longer sentence is in the same batch."""
        return self.text.is_pad(token)

    @property
    def _check(self) -> InputCheck:
        return InputCheck(self.name, self.family, self.writes)


@reads_arguments
class NetworkModel(CheckpointModel):
    """A network that runs the package's own attention, and what follows from it."""

    def __init__(self, network: Network) -> None:
        self.network, self.torch_module = network, network.model
        self.family, self.shapes = network.family, dict(network.shapes)

    def to(self, device: torch.device, dtype: torch.dtype) -> Self:
        """Moved there, and computing in that type."""
        self.network.to(device, dtype)
        return self

    @property
    def languages(self) -> tuple[str, ...]:
        """Codes of the languages that its targets can be asked for in; none where its tokenizer has none."""
        return self.text.languages.codes if self.inputs.takes_target and self.writes else ()

    @property
    def writes_logits(self) -> bool:
        """Whether it has a head over the vocabulary: a writer, or an encoder that guesses masked words."""
        return self.writes or self.network.model.get_output_embeddings() is not None

    def encode_target(self, text: str, *, to: str = "") -> tuple[Token, ...]:
        """The tokens of a text, without special ones; `to` means nothing here."""
        read = self.text.encode_target if self.inputs.takes_target else self.text.encode
        return tuple(token for token in read(text).tokens if not token.is_special)

    def _skipped(self) -> tuple[str, ...]:
        """That some layers compute no attention, and which do."""
        return tuple(
            f"Only {len(numbers)} layers of this model compute attention: its layers "
            f"{', '.join(map(str, numbers))}, shown as L0 to L{len(numbers) - 1}."
            for numbers in self.network.layer_numbers.values()
        )
