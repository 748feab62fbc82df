"""What a toy is: the network of a recording, its words, and what it was trained without."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Self

import torch

from attnviz.learning.experiment import Experiment
from attnviz.learning.network import Habits, ToyNetwork, with_habits
from attnviz.learning.recording import Recording
from attnviz.learning.words import PAD, ToyWords
from attnviz.models.inputs import Inputs
from attnviz.models.toy.lines import ToyLines
from attnviz.text.arguments import reads_arguments
from attnviz.text.limits import require_ids
from attnviz.text.tokens import Token
from attnviz.transformer.decoding import Vocabulary
from attnviz.transformer.probe import Kind

# What can be put back, and the habit that does it. Weights that never saw a position have no use for one.
_BACK = {
    "causal-mask": {"mask": "causal"},
    "padding-mask": {"sees_padding": False},
    "cross-attention": {"sees_source": True},
}


@reads_arguments
class TrainedToy:
    """The network of a recording and its words, as facts; what it does with a line is `Toy`."""

    languages: tuple[str, ...] = ()
    writes = True
    device, dtype = torch.device("cpu"), torch.float32

    def __init__(self, experiment: Experiment, network: ToyNetwork, *, model_id: str, name: str = "") -> None:
        self.experiment, self.network, self._id, self._learned = experiment, network, model_id, _weights(network)
        self.name = name or experiment.about.title
        self.words = ToyWords(experiment.about)
        self.lines = ToyLines(self.words)

    @classmethod
    def of(cls, recording: Recording, name: str = "") -> Self:
        """The model at the end of a recording. Raises ValueError for one that was kept without weights."""
        network = recording.network()
        assert recording.weights is not None  # or there were no network
        told = hashlib.sha256(recording.weights.tobytes() + recording.experiment.key.encode())
        return cls(recording.experiment, network, model_id=told.hexdigest()[:12], name=name)

    @property
    def model_id(self) -> str:
        """The id of its weights: the recording's, or what follows from them where they were trained further."""
        now = _weights(self.network)
        return self._id if now == self._learned else hashlib.sha256(now + self.experiment.key.encode()).hexdigest()[:12]

    @property
    def without(self) -> tuple[str, ...]:
        """What it was trained without and still is; a causal mask that leaks counts as missing."""
        habits = self.network.habits
        gone = {"causal-mask": habits.mask != "causal", "padding-mask": habits.sees_padding,
                "cross-attention": not habits.sees_source}  # fmt: skip
        return (*(name for name, is_gone in gone.items() if is_gone),
                *(name for name in self.experiment.without if name not in gone))  # fmt: skip

    def put_back(self, name: str) -> Self:
        """The same weights with something in force again that they were trained without: "causal-mask",
        "padding-mask" or "cross-attention". Raises ValueError for anything else, and for what is not missing.
        """
        if name not in self.without:
            raise ValueError(f"{name!r} is not missing from this toy: it lacks {', '.join(self.without) or 'nothing'}.")
        if name not in _BACK:
            raise ValueError(f"{name} cannot be put back: the weights were learned without. Train again with it.")
        habits: Habits = replace(self.network.habits, **_BACK[name])
        changed = with_habits(self.network, habits)
        return type(self)(self.experiment, changed, model_id=f"{self.model_id}+{name}", name=self.name)

    @property
    def inputs(self) -> Inputs:
        """A source and perhaps its target; a decoder alone takes a prompt."""
        return Inputs.PROMPT if self.is_decoder_only else Inputs.SOURCE_AND_TARGET

    @property
    def is_decoder_only(self) -> bool:
        """Whether it has no source."""
        return self.experiment.about.is_decoder_only

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of attention that it computes, encoder first."""
        return ("decoder_self",) if self.is_decoder_only else ("encoder_self", "decoder_self", "cross")

    @property
    def n_parameters(self) -> int:
        """Numbers that were learned."""
        return sum(parameter.numel() for parameter in self.network.parameters())

    @property
    def vocabulary(self) -> Vocabulary:
        """What writing must know of the ids."""
        return self.words.rules

    @property
    def shapes(self) -> dict[Kind, tuple[int, int]]:
        """Layers and heads of each kind."""
        return dict.fromkeys(self.kinds, (self.network.config.n_layers, self.network.config.n_heads))

    def decode_ids(self, ids: Sequence[int]) -> tuple[str, tuple[Token, ...]]:
        """The line that ids stand for, and their tokens."""
        require_ids(ids, len(self.words.pieces))
        return self.words.text(ids), self.words.tokens(ids)

    def encode_target(self, text: str, *, to: str = "") -> tuple[Token, ...]:
        """The tokens of a line, without special ones; `to` means nothing here."""
        return self.words.read(text)[0]

    def padding(self, at: int = 0) -> Token:
        """A `<pad>` after `at` characters of a line."""
        return Token("<pad>", PAD, at, at, is_special=True)

    def is_pad(self, token: Token) -> bool:
        """Whether a token is there only because a longer line stands in the same batch."""
        return token.id == PAD


def _weights(network: ToyNetwork) -> bytes:
    """All of them, some hundred kilobytes."""
    return torch.nn.utils.parameters_to_vector(network.parameters()).detach().numpy().tobytes()
