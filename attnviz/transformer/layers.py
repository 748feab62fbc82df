"""Encoder and decoder layers (Vaswani et al. 2017, figure 1), pre-norm or post-norm, and stacks of them."""

from collections.abc import Callable
from dataclasses import dataclass

from jaxtyping import Bool, Float
from torch import Tensor, nn

from attnviz.transformer.attention import MultiHeadAttention
from attnviz.transformer.cache import KVCache
from attnviz.transformer.config import ModelConfig
from attnviz.transformer.dropout import Dropout, apply_dropout
from attnviz.transformer.probe import Probe, Site, Stack

Hidden = Float[Tensor, "batch length d_model"]
Memory = Float[Tensor, "batch k_len d_model"]
Mask = Bool[Tensor, "..."] | None


@dataclass(frozen=True)
class ForwardContext:
    """The probe, the dropout and the cache of one forward pass."""

    probe: Probe | None = None
    dropout: Dropout | None = None
    cache: KVCache | None = None


class FeedForward(nn.Module):
    """Two linear maps with a ReLU between them, the same at every position (section 3.3)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.W_1 = nn.Linear(config.d_model, config.d_ff)
        self.W_2 = nn.Linear(config.d_ff, config.d_model)

    def forward(self, x: Hidden, dropout: Dropout | None = None) -> Hidden:
        return self.W_2(apply_dropout(self.W_1(x).relu(), dropout))


class Sublayer(nn.Module):
    """A residual connection with its layer norm: before the function (pre-norm) or after the sum (post-norm)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.d_model)
        self.norm_first = config.norm_first

    def forward(self, x: Hidden, function: Callable[[Tensor], Tensor], dropout: Dropout | None) -> Hidden:
        if self.norm_first:
            return x + apply_dropout(function(self.norm(x)), dropout)
        return self.norm(x + apply_dropout(function(x), dropout))


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network."""

    def __init__(self, config: ModelConfig, layer: int) -> None:
        super().__init__()
        self.site = Site("encoder_self", layer)
        self.self_attention = _attention(config)
        self.feed_forward = FeedForward(config)
        self.self_attention_sublayer = Sublayer(config)
        self.feed_forward_sublayer = Sublayer(config)

    def forward(self, x: Hidden, mask: Mask, run: ForwardContext) -> Hidden:
        def attend(x: Tensor) -> Tensor:
            return self.self_attention(x, x, mask, site=self.site, probe=run.probe, dropout=run.dropout)

        x = self.self_attention_sublayer(x, attend, run.dropout)
        return self.feed_forward_sublayer(x, lambda x: self.feed_forward(x, run.dropout), run.dropout)


class DecoderLayer(nn.Module):
    """Masked self-attention, attention over the encoder's memory, then the feed-forward network."""

    def __init__(self, config: ModelConfig, layer: int) -> None:
        super().__init__()
        self.layer = layer
        self.self_attention = _attention(config)
        self.cross_attention = _attention(config)
        self.feed_forward = FeedForward(config)
        self.self_attention_sublayer = Sublayer(config)
        self.cross_attention_sublayer = Sublayer(config)
        self.feed_forward_sublayer = Sublayer(config)

    def forward(self, x: Hidden, memory: Memory, tgt_mask: Mask, src_mask: Mask, run: ForwardContext) -> Hidden:
        self_cache = run.cache.self_attention[self.layer] if run.cache else None
        cross_cache = run.cache.cross[self.layer] if run.cache else None

        def attend(x: Tensor) -> Tensor:
            site = Site("decoder_self", self.layer)
            return self.self_attention(
                x, x, tgt_mask, site=site, probe=run.probe, dropout=run.dropout, cache=self_cache
            )

        def attend_memory(x: Tensor) -> Tensor:
            site = Site("cross", self.layer)
            return self.cross_attention(
                x, memory, src_mask, site=site, probe=run.probe, dropout=run.dropout, cache=cross_cache
            )

        x = self.self_attention_sublayer(x, attend, run.dropout)
        x = self.cross_attention_sublayer(x, attend_memory, run.dropout)
        return self.feed_forward_sublayer(x, lambda x: self.feed_forward(x, run.dropout), run.dropout)


class Encoder(nn.Module):
    """A stack of encoder layers and a final layer norm."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(config, layer) for layer in range(config.n_layers))
        self.norm = nn.LayerNorm(config.d_model)

    def forward(self, x: Hidden, mask: Mask = None, run: ForwardContext = ForwardContext()) -> Hidden:
        """Encode the embedded source to memory, both `(batch, k_len, d_model)`."""
        x = _enter_stack(x, "encoder", run)
        for index, layer in enumerate(self.layers):
            x = layer(x, mask, run)
            x = x if run.probe is None else run.probe.on_layer("encoder", index, x)
        return self.norm(x)


class Decoder(nn.Module):
    """A stack of decoder layers and a final layer norm."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(DecoderLayer(config, layer) for layer in range(config.n_layers))
        self.norm = nn.LayerNorm(config.d_model)

    def forward(
        self, x: Hidden, memory: Memory, tgt_mask: Mask, src_mask: Mask, run: ForwardContext = ForwardContext()
    ) -> Hidden:
        """Decode the embedded target and memory to hidden states, `(batch, q_len, d_model)`."""
        x = _enter_stack(x, "decoder", run)
        for index, layer in enumerate(self.layers):
            x = layer(x, memory, tgt_mask, src_mask, run)
            x = x if run.probe is None else run.probe.on_layer("decoder", index, x)
        return self.norm(x)


def _attention(config: ModelConfig) -> MultiHeadAttention:
    return MultiHeadAttention(config.d_model, config.n_heads, config.head_size)


def _enter_stack(x: Tensor, stack: Stack, run: ForwardContext) -> Tensor:
    x = apply_dropout(x, run.dropout)
    return x if run.probe is None else run.probe.on_layer(stack, -1, x)
