"""Inputs, facts and tokens of a checkpoint, shared by models with attnviz's attention and replayed models."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import torch

from attnviz.guards.arguments import ONLY_VISION, describe, is_like_image, reads_arguments
from attnviz.models.huggingface.as_given import GivenCheck
from attnviz.models.huggingface.generate import GenerationRules
from attnviz.models.huggingface.network.network import (
    Family,
    Network,
    first_weight,
    reads_prompt_both_ways,
    written_tokens_kept,
)
from attnviz.models.huggingface.tokenizer import CheckpointTokenizer, EncodedText
from attnviz.models.huggingface.weights import weights_id
from attnviz.models.inputs import Inputs
from attnviz.models.protocol import two_line_summary
from attnviz.text.limits import cut_notes, prefix_notes, require_count, require_ids, require_text
from attnviz.text.tokens import Token
from attnviz.transformer.probe import Kind

_INPUTS = {"encoder": Inputs.PAIR, "decoder": Inputs.PROMPT, "encoder-decoder": Inputs.SOURCE_AND_TARGET}
Texts = str | Sequence[str]


@dataclass(frozen=True)
class InputCheck:
    """Checks a model's inputs. `writes` is False for an encoder and for a model without a language-model head."""

    name: str
    family: Family
    writes: bool

    @property
    def inputs(self) -> Inputs:
        """The model's input fields: text and an optional second sentence, a prompt, or source and target."""
        return _INPUTS[self.family]

    def check(
        self, texts: list[str], *, pairs: Sequence[str] = (), targets: Sequence[str] = (), new_tokens: int | None = None
    ) -> None:
        """Raise TextError for an empty sentence, ValueError for inputs that this checkpoint does not take."""
        if not texts:
            raise ValueError("There is no text. Please pass a sentence, or several.")
        for text in (*texts, *pairs):
            require_text(text)
        taken = ", ".join(self.inputs.names)
        if pairs and not self.inputs.is_pair:
            raise ValueError(f"Only an encoder can read a pair of sentences; {self.name} accepts {taken}.")
        if pairs and len(pairs) != len(texts):
            raise ValueError(
                f"There are {len(texts)} texts and {len(pairs)} second sentences. Please pass one for each."
            )
        if targets and not self.inputs.takes_target:
            raise ValueError(f"{self.name} does not accept a target. It accepts {taken}.")
        if targets and len(targets) != len(texts):
            raise ValueError(f"There are {len(texts)} sources and {len(targets)} targets. Please pass one for each.")
        blank = [at for at, target in enumerate(targets) if not target.strip()]
        if 0 < len(blank) < len(targets):
            raise ValueError(f"Target {blank[0]} is empty and others are not. Please pass all of them, or none.")
        self._check_count(texts, new_tokens)

    def _check_count(self, texts: list[str], new_tokens: int | None) -> None:
        require_count(new_tokens)
        if new_tokens is not None and not self.inputs.is_prompt:
            raise ValueError(f"{self.name} does not accept new_tokens, because only a decoder continues a prompt.")
        if new_tokens and len(texts) > 1:
            raise ValueError("One prompt at a time is continued. Please pass a single text, or new_tokens=0.")
        if new_tokens and not self.writes:
            raise ValueError(f"{self.name} has no output over a vocabulary, so it cannot continue a prompt.")


def split_pairs(text: Texts | Sequence[tuple[str, str]], pair: Texts | None) -> tuple[list[str], list[str]]:
    """Split texts and second sentences into two lists.

    The input is a text and a second one, two lists, or a list of pairs. Raises ValueError for anything else.
    """
    if is_like_image(text):
        raise ValueError(f"text is a text or a list of texts, not {describe(text)}. {ONLY_VISION}")
    texts: list = [text] if isinstance(text, str) else list(text)
    if any(not isinstance(each, str) for each in texts):
        if pair is not None or not all(_is_pair(each) for each in texts):
            raise ValueError("Give a list of texts, or a list of pairs of texts; other lists are not read.")
        return [first for first, _ in texts], [second for _, second in texts]
    return texts, [] if pair is None else [pair] if isinstance(pair, str) else list(pair)


def _is_pair(each: object) -> bool:
    return isinstance(each, tuple | list) and len(each) == 2 and all(isinstance(part, str) for part in each)


READS = "This model reads at most {most:,} tokens."
_READ = {"encoder": "Sentence", "decoder": "Prompt", "encoder-decoder": "Source"}  # the subject of a note, by family


@reads_arguments
class CheckpointModel:
    """Properties that follow from transformers' model, its tokenizer, and `shapes` (layers and heads of each kind).

    `folder` is the folder that the model was loaded from.
    """

    folder: Path | None = None
    known_id: str = ""  # id of the weights, if no other code can change them
    text_id: str = ""  # id of the tokenizer, by `weights.text_id`
    as_given: GivenCheck  # the comparison with the model as it was given
    name: str
    writes: bool
    family: Family
    shapes: dict[Kind, tuple[int, int]]
    torch_module: Any  # transformers' own model
    text: CheckpointTokenizer
    _rules: GenerationRules

    def __repr__(self) -> str:
        """Describe the model in two lines for a notebook: its sizes, and its methods."""
        return two_line_summary(self)  # type: ignore[arg-type]  # the subclasses complete the Model interface

    @property
    def model_id(self) -> str:
        """The id of the model's weights; recomputed for a model in memory, because it may be trained between calls."""
        return self.known_id or weights_id(self.torch_module, self.text_id)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of attention that the model computes, encoder first."""
        return tuple(self.shapes)

    @property
    def n_layers(self) -> int:
        """Number of layers of the kind of attention that has the most."""
        return max(layers for layers, _ in self.shapes.values())

    @property
    def n_heads(self) -> int:
        """Number of heads of the kind of attention that has the most."""
        return max(heads for _, heads in self.shapes.values())

    @property
    def n_parameters(self) -> int:
        """Number of trainable parameters."""
        return sum(parameter.numel() for parameter in self.torch_module.parameters())

    @property
    def device(self) -> torch.device:
        """The device that the model runs on."""
        return first_weight(self.torch_module).device

    @property
    def dtype(self) -> torch.dtype:
        """The dtype that the model computes in."""
        return first_weight(self.torch_module).dtype

    @property
    def inputs(self) -> Inputs:
        """The model's input fields: text and an optional second sentence, a prompt, or source and target."""
        return self._check.inputs

    @property
    def vocabulary(self) -> GenerationRules:
        """The ids that end a text, and the ids that the model never writes."""
        return self._rules

    def decode_ids(self, ids: Sequence[int]) -> tuple[str, tuple[Token, ...]]:
        """Return the text for ids, and their tokens."""
        require_ids(ids, self.text.known)
        written = self.text.append_ids(EncodedText((), ""), ids)
        return written.text, written.tokens

    def padding(self, at: int = 0) -> Token:
        """Return a `<pad>` token whose position in the text is after `at` characters."""
        return self.text.padding(at)

    def is_pad(self, token: Token) -> bool:
        """Check whether a token is padding after a sentence that is shorter than others in the batch."""
        return self.text.is_pad(token)

    @property
    def _check(self) -> InputCheck:
        return InputCheck(self.name, self.family, self.writes)


@reads_arguments
class NetworkModel(CheckpointModel):
    """Base class of models whose network runs attnviz's attention; it has their properties.

    `steps_note` describes a difference between transformers' own decoding steps with a cache and its single pass, or is
    "".
    """

    steps_note: str = ""

    def __init__(self, network: Network) -> None:
        self.network, self.torch_module = network, network.model
        self.family, self.shapes = network.family, dict(network.shapes)

    def to(self, device: torch.device, dtype: torch.dtype) -> Self:
        """Move the model to a device and a dtype."""
        self.network.to(device, dtype)
        self.as_given.to(device, dtype)
        return self

    @property
    def has_cache(self) -> bool:
        """Whether the model decodes with a cache; without one, each step runs the whole prefix."""
        return self.network.has_cache

    @property
    def languages(self) -> tuple[str, ...]:
        """Codes of the languages of the model's targets; () if its tokenizer has none."""
        return self.text.languages.codes if self.inputs.takes_target and self.writes else ()

    @property
    def writes_logits(self) -> bool:
        """Whether the model has a head over the vocabulary: it writes text, or predicts masked words."""
        return self.writes or self.network.model.get_output_embeddings() is not None

    def encode_target(self, text: str, *, to: str = "") -> tuple[Token, ...]:
        """Return the tokens of a text, without special tokens; `to` is ignored."""
        read = self.text.encode_target if self.inputs.takes_target else self.text.encode
        return tuple(token for token in read(text).tokens if not token.is_special)

    def _notes(self, encoded: Sequence[EncodedText]) -> tuple[str, ...]:
        """Return notes on sentences that were truncated, and on layers without attention."""
        first, most = _READ[self.family], self.text.max_tokens
        both = ((prefix_notes(first, each.notes), prefix_notes("Second sentence", each.pair_notes)) for each in encoded)
        cuts = [note for pair in both for notes in pair for note in notes]
        if cut_notes(cuts) and any(len(each.tokens) >= most for each in encoded):
            cuts.append(READS.format(most=most))
        return (*cuts, *self._layer_notes())

    def _layer_notes(self) -> tuple[str, ...]:
        """Return notes on which layers compute attention, on layers that run in cycles, and on how a prompt is read."""
        notes = [
            *map(_layer_note, self.network.layer_numbers.values()),
            *map(_cycle_note, self.network.layer_names.values()),
        ]
        if getattr(self.network.model.config, "prefix_lm", False):
            notes.append(_BOTH_WAYS)
        if (kept := written_tokens_kept(self.network.model.config)) is not None:
            notes.append(_ALL_KEPT.format(kept=kept))
        if reads_prompt_both_ways(self.network.model.config):
            notes.append(_AS_ENCODER)
        return tuple(notes)


_ALL_KEPT = (
    "While this model writes, transformers keeps its prompt and the last {kept} tokens that it wrote. attnviz keeps "
    "all of them, so beyond {kept} written tokens its text may differ from that of transformers."
)
_BOTH_WAYS = (
    "transformers lets prompt tokens whose token_type_ids are 1 attend to later tokens. attnviz passes no "
    "token_type_ids, so each token attends only to itself and to the tokens before it."
)
_AS_ENCODER = (
    "In this model the tokens of a prompt attend to each other in both directions, so attnviz shows it as an encoder "
    "and does not follow what it writes."
)


def _cycle_note(names: Sequence[str]) -> str:
    named = ", ".join(f"L{layer} is {name}" for layer, name in enumerate(names))
    return f"The layers of this model run in cycles: {named}."


def _layer_note(numbers: Sequence[int]) -> str:
    if len(numbers) == 1:
        return f"Only one layer of this model computes attention: its layer {numbers[0]}, shown as L0."
    return (
        f"Only {len(numbers)} layers of this model compute attention: its layers {', '.join(map(str, numbers))}, shown "
        f"as L0 to L{len(numbers) - 1}."
    )
