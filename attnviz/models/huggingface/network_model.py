"""The facts and tokens of a checkpoint, whether our attention runs in it or its own is replayed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import torch

from attnviz.models.huggingface.generate import GenerationRules
from attnviz.models.huggingface.network.network import Family, Network, first_weight
from attnviz.models.huggingface.tokenizer import CheckpointTokenizer, EncodedText
from attnviz.models.huggingface.validation import InputCheck
from attnviz.models.huggingface.weights import weights_id
from attnviz.models.inputs import Inputs
from attnviz.models.notebook import two_line_summary
from attnviz.text.arguments import reads_arguments
from attnviz.text.limits import prefix_notes, require_ids
from attnviz.text.tokens import Token
from attnviz.transformer.probe import Kind

_READ = {"encoder": "Sentence", "decoder": "Prompt", "encoder-decoder": "Source"}  # what a note is about


@reads_arguments
class CheckpointModel:
    """Names and numbers that follow from the stacks there are (`shapes`, layers and heads of each kind), transformers'
    own model and the tokenizer. `folder` is where it was read from.
    """

    folder: Path | None = None
    known_id: str = ""  # of weights that nobody but this model holds
    text_id: str = ""  # of the tokenizer, as `weights.text_id` gives it
    name: str
    writes: bool
    family: Family
    shapes: dict[Kind, tuple[int, int]]
    torch_module: Any  # transformers' own model
    text: CheckpointTokenizer
    _rules: GenerationRules

    def __repr__(self) -> str:
        """Describe the model in two lines for a notebook: its sizes, and the calls that it takes."""
        return two_line_summary(self)  # type: ignore[arg-type]  # a part of a model; the rest is in what follows from it

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
        """The device that it runs on."""
        return first_weight(self.torch_module).device

    @property
    def dtype(self) -> torch.dtype:
        """The type that it computes in."""
        return first_weight(self.torch_module).dtype

    @property
    def inputs(self) -> Inputs:
        """Its input fields: text and perhaps a second sentence, a prompt, or source and target."""
        return self._check.inputs

    @property
    def vocabulary(self) -> GenerationRules:
        """The ids that end a text and those that are never written."""
        return self._rules

    def decode_ids(self, ids: Sequence[int]) -> tuple[str, tuple[Token, ...]]:
        """Return the text of ids, and their tokens."""
        require_ids(ids, self.text.known)
        written = self.text.append_ids(EncodedText((), ""), ids)
        return written.text, written.tokens

    def padding(self, at: int = 0) -> Token:
        """Make a `<pad>` token after `at` characters of a text."""
        return self.text.padding(at)

    def is_pad(self, token: Token) -> bool:
        """Check whether a token only pads to a longer sentence of the same batch."""
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
        """Move it to a device, and let it compute in a type."""
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
        """Return the tokens of a text, without special ones; `to` means nothing here."""
        read = self.text.encode_target if self.inputs.takes_target else self.text.encode
        return tuple(token for token in read(text).tokens if not token.is_special)

    def _notes(self, encoded: Sequence[EncodedText]) -> tuple[str, ...]:
        """Write notes on sentences that were cut, and on layers without attention."""
        first = _READ[self.family]
        both = ((prefix_notes(first, each.notes), prefix_notes("Second sentence", each.pair_notes)) for each in encoded)
        return (*(note for pair in both for notes in pair for note in notes), *self._layer_notes())

    def _layer_notes(self) -> tuple[str, ...]:
        """Write a note that some layers compute no attention, and which ones do."""
        return tuple(
            f"Only {len(numbers)} layers of this model compute attention: its layers "
            f"{', '.join(map(str, numbers))}, shown as L0 to L{len(numbers) - 1}."
            for numbers in self.network.layer_numbers.values()
        )
