"""The networks of toys: attnviz's own Transformer classes, without the parts that an experiment leaves out.

A missing or leaking causal mask is a `MaskOverride` that runs before the run's probe, so that the mask can be restored.
"""

import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from attnviz.toys.tasks.digits import CLASSES, GRID, PATCH
from attnviz.toys.words import PAD
from attnviz.tracing.interventions import Chain, MaskOverride
from attnviz.transformer import masks
from attnviz.transformer.attention import MultiHeadAttention
from attnviz.transformer.config import ModelConfig
from attnviz.transformer.embedding import Embedding
from attnviz.transformer.layers import Encoder, EncoderLayer, ForwardContext
from attnviz.transformer.probe import Probe, Site
from attnviz.transformer.transformer import Transformer, initialise

if TYPE_CHECKING:
    from attnviz.toys.experiment import Experiment


@dataclass(frozen=True)
class Habits:
    """Masks and inputs that are missing or changed in every pass of a network, as in its training.

    `mask` is "causal", "none", "one-head" or "one-token"; the other fields are the padding mask and the source.
    """

    mask: str = "causal"
    sees_padding: bool = False
    sees_source: bool = True

    @classmethod
    def from_experiment(cls, experiment: "Experiment") -> "Habits":
        """Return the habits that an experiment asks for."""
        mask = "none" if "causal-mask" in experiment.without else experiment.leak or "causal"
        return cls(mask, "padding-mask" in experiment.without, "cross-attention" not in experiment.without)

    def apply_to(self, run: ForwardContext, tgt_in: Tensor, n_layers: int) -> ForwardContext:
        """Return the pass's context with a probe that removes or loosens the causal mask, as it was in this network's
        training.

        Padding stays hidden, unless the padding mask is off.
        """
        if self.mask == "causal":
            return run
        start = run.cache.length if run.cache else 0
        real = (tgt_in != PAD).unsqueeze(1)
        hide = not self.sees_padding and not start and not bool(real.all())

        def visible_cells(q_len: int, k_len: int) -> Tensor:
            ahead = masks.full(q_len, k_len, device=tgt_in.device)
            ahead = ahead.tril(1) if self.mask == "one-token" else ahead
            return ahead & real if hide else ahead

        head, layers = (0, 1) if self.mask == "one-head" else (None, n_layers)
        loose = MaskOverride({Site("decoder_self", layer) for layer in range(layers)}, visible_cells, head, start)
        return replace(run, probe=loose if run.probe is None else Chain((loose, run.probe)))


class ToyTransformer(Transformer):
    """A toy with an encoder and a decoder."""

    def __init__(self, config: ModelConfig, habits: Habits) -> None:
        super().__init__(config)
        self.habits = habits

    @property
    def is_causal(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether the causal mask is present and does not leak."""
        return self.habits.mask == "causal"

    def src_mask(self, src: Tensor) -> Tensor | None:
        """Return the mask of source tokens that may be attended to; None if all may."""
        return None if self.habits.sees_padding else super().src_mask(src)

    def encode(self, src: Tensor, src_mask: Tensor | None, run: ForwardContext = ForwardContext()) -> Tensor:
        """Encode source ids to memory; the memory is zeros for a network without its source."""
        memory = super().encode(src, src_mask, run)
        return memory if self.habits.sees_source else torch.zeros_like(memory)

    def decode(
        self, tgt_in: Tensor, memory: Tensor, src_mask: Tensor | None, run: ForwardContext = ForwardContext()
    ) -> Tensor:
        """Compute hidden states of the target tokens, with the masks of the network's training."""
        return super().decode(tgt_in, memory, src_mask, self.habits.apply_to(run, tgt_in, self.config.n_layers))


class DecoderAlone(nn.Module):
    """A decoder without a source, with the interface of `ToyTransformer`: its memory is empty.

    Its layers are encoder layers, which have no cross-attention; the causal mask makes them a decoder.
    """

    def __init__(self, config: ModelConfig, habits: Habits) -> None:
        super().__init__()
        self.config, self.habits = config, habits
        self.embedding = Embedding(config)
        self.layers = nn.ModuleList(EncoderLayer(config, layer) for layer in range(config.n_layers))
        self.norm = nn.LayerNorm(config.d_model)

    @property
    def is_causal(self) -> bool:
        """Whether the causal mask is present and does not leak."""
        return self.habits.mask == "causal"

    def src_mask(self, src: Tensor) -> None:
        """Return None, because there is no source."""

    def encode(self, src: Tensor, src_mask: Tensor | None, run: ForwardContext = ForwardContext()) -> Tensor:
        """Return an empty memory, `(batch, 0, d_model)`."""
        return self.embedding.weight.new_zeros(len(src), 0, self.config.d_model)

    def decode(
        self, tgt_in: Tensor, memory: Tensor, src_mask: Tensor | None, run: ForwardContext = ForwardContext()
    ) -> Tensor:
        """Compute hidden states of the tokens with the masks of the network's training; with a cache, of the newest
        tokens.
        """
        start = run.cache.length if run.cache else 0
        length = tgt_in.shape[1]
        mask = None if length == 1 else masks.causal(length, start + length, device=tgt_in.device)
        run = self.habits.apply_to(run, tgt_in, self.config.n_layers)
        x = _pass_to_probe(run.probe, -1, self.embedding(tgt_in, start))
        for index, layer in enumerate(self.layers):
            assert isinstance(layer, EncoderLayer)
            x = _pass_to_probe(run.probe, index, _layer(layer, index, x, mask, run))
        return self.norm(x)

    def logits(self, hidden: Tensor) -> Tensor:
        """Compute scores of every vocabulary entry from hidden states."""
        return self.embedding.logits(hidden)


class PatchClassifier(nn.Module):
    """A small vision Transformer (Dosovitskiy et al. 2021).

    Each patch becomes a vector, an encoder runs over these vectors and the token [CLS] before them, and a linear layer
    reads the class from [CLS]. Positions are one learned vector for each token; without them, the order of the patches
    makes no difference.
    """

    def __init__(self, config: ModelConfig, *, has_positions: bool) -> None:
        super().__init__()
        self.config = config
        self.W_patch = nn.Linear(PATCH * PATCH, config.d_model)
        self.cls = nn.Parameter(torch.empty(1, config.d_model))
        self.positions = nn.Parameter(torch.empty(1 + GRID * GRID, config.d_model)) if has_positions else None
        self.encoder = Encoder(config)
        self.W_class = nn.Linear(config.d_model, CLASSES)

    def encode(self, images: Tensor, run: ForwardContext = ForwardContext()) -> Tensor:
        """Compute hidden states `(batch, tokens, d_model)` of images `(batch, height, width)` with values from 0 to
        1.
        """
        x = self.W_patch(cut_patches(images))
        x = torch.cat((self.cls.expand(len(images), 1, -1), x), dim=1)
        return self.encoder(x if self.positions is None else x + self.positions, None, run)

    def classify(self, hidden: Tensor) -> Tensor:
        """Compute the scores of every class, `(batch, classes)`, from the hidden state of [CLS]."""
        return self.W_class(hidden[:, 0])

    def forward(self, images: Tensor, run: ForwardContext = ForwardContext()) -> Tensor:
        """Compute the scores of every class of images, `(batch, classes)`."""
        return self.classify(self.encode(images, run))


def cut_patches(images: Tensor) -> Tensor:
    """Cut images `(batch, height, width)` into patches, row by row: `(batch, patches, pixels)`."""
    rows = images.unflatten(1, (GRID, PATCH)).unflatten(3, (GRID, PATCH))
    return rows.transpose(2, 3).flatten(3).flatten(1, 2)


def join_patches(patches: Tensor) -> Tensor:
    """Undo `cut_patches`."""
    rows = patches.unflatten(1, (GRID, GRID)).unflatten(3, (PATCH, PATCH))
    return rows.transpose(2, 3).flatten(3).flatten(1, 2)


ToyNetwork = ToyTransformer | DecoderAlone


def network_of(experiment: "Experiment", vocab_size: int) -> ToyNetwork:
    """Return the network of an experiment with the initial weights for its seed."""
    network = _initial(experiment, vocab_size)
    assert isinstance(network, ToyNetwork)
    network.embedding.restore_positions("cpu")
    return network


def classifier_of(experiment: "Experiment") -> PatchClassifier:
    """Return the network of an experiment with images, with the initial weights for its seed."""
    network = _initial(experiment, CLASSES)
    assert isinstance(network, PatchClassifier)
    return network


def unfilled_network(experiment: "Experiment", vocab_size: int) -> ToyNetwork | PatchClassifier:
    """Build the network of an experiment without giving values to its weights."""
    config, habits = experiment.config(vocab_size), Habits.from_experiment(experiment)
    if experiment.toy_task.is_image:
        return PatchClassifier(config, has_positions="positions" not in experiment.without)
    return (DecoderAlone if experiment.toy_task.is_decoder_only else ToyTransformer)(config, habits)


def _initial(experiment: "Experiment", vocab_size: int) -> ToyNetwork | PatchClassifier:
    """Build the network of an experiment, for text or images, with the initial weights for its seed."""
    with torch.device("meta"):  # no use of the global random numbers
        network = unfilled_network(experiment, vocab_size)
    initialise(network.to_empty(device="cpu"), network.config.d_model, experiment.seed)
    if "scale" in experiment.without:
        for module in network.modules():
            if isinstance(module, MultiHeadAttention):
                module.scale = 1.0
    return network


def replace_habits(network: ToyNetwork, habits: Habits) -> ToyNetwork:
    """Return a copy of a network that shares the weights and has other masks and inputs switched off (`habits`)."""
    changed = copy.copy(network)
    changed.habits = habits
    return changed


def _layer(layer: EncoderLayer, index: int, x: Tensor, mask: Tensor | None, run: ForwardContext) -> Tensor:
    site, cache = Site("decoder_self", index), run.cache.self_attention[index] if run.cache else None

    def attend(x: Tensor) -> Tensor:
        return layer.self_attention(x, x, mask, site=site, probe=run.probe, dropout=run.dropout, cache=cache)

    x = layer.self_attention_sublayer(x, attend, run.dropout)
    return layer.feed_forward_sublayer(x, lambda x: layer.feed_forward(x, run.dropout), run.dropout)


def _pass_to_probe(probe: Probe | None, layer: int, output: Tensor) -> Tensor:
    return output if probe is None else probe.on_layer("decoder", layer, output)
