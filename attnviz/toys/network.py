"""The networks of toys: attnviz's own Transformer classes, without the parts that an experiment leaves out.

A missing or leaking causal mask is a `MaskOverride` that runs before the run's probe, so that the mask can be restored.
"""

import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from attnviz.toys.words import PAD
from attnviz.tracing.interventions import Chain, MaskOverride
from attnviz.transformer import masks
from attnviz.transformer.attention import MultiHeadAttention
from attnviz.transformer.config import ModelConfig
from attnviz.transformer.embedding import Embedding
from attnviz.transformer.layers import EncoderLayer, ForwardContext
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
        """Return the run with the causal mask as it was in training. Padding stays hidden, unless the padding mask is
        off.
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


ToyNetwork = ToyTransformer | DecoderAlone


def network_of(experiment: "Experiment", vocab_size: int) -> ToyNetwork:
    """Return the network of an experiment with the initial weights for its seed."""
    config, habits = experiment.config(vocab_size), Habits.from_experiment(experiment)
    with torch.device("meta"):  # no use of the global random numbers
        network = (DecoderAlone if experiment.toy_task.is_decoder_only else ToyTransformer)(config, habits)
    network.to_empty(device="cpu").embedding.restore_positions("cpu")
    initialise(network, config.d_model, experiment.seed)
    if "scale" in experiment.without:
        for module in network.modules():
            if isinstance(module, MultiHeadAttention):
                module.scale = 1.0
    return network


def replace_habits(network: ToyNetwork, habits: Habits) -> ToyNetwork:
    """Return a network with other habits that shares the weights."""
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
