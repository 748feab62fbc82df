"""The encoder-decoder Transformer (Vaswani et al. 2017), from ids to logits. It handles no text and keeps no state."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from attnviz.transformer import masks
from attnviz.transformer.config import ModelConfig
from attnviz.transformer.embedding import Embedding
from attnviz.transformer.layers import Decoder, Encoder, ForwardContext

Src = Int[Tensor, "batch k_len"]
TgtIn = Int[Tensor, "batch q_len"]
Memory = Float[Tensor, "batch k_len d_model"]


class Transformer(nn.Module):
    """An encoder and a decoder with one embedding, which is tied to the output."""

    is_causal = True  # no target position sees a later one

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = Embedding(config)
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)

    def initialise(self, seed: int) -> "Transformer":
        """Initialise all weights: Xavier-uniform matrices, zero biases, embeddings with standard deviation `d_model **
        -0.5`.

        The same seed gives the same weights.
        """
        initialise(self, self.config.d_model, seed)
        return self

    def src_mask(self, src: Src) -> Bool[Tensor, "batch 1 k_len"] | None:
        """Return the mask of source tokens that may be attended to; None without padding, when all of them may."""
        mask = masks.padding(src, self.config.pad_id)
        return None if bool(mask.all()) else mask

    def encode(self, src: Src, src_mask: Bool[Tensor, "..."] | None, run: ForwardContext = ForwardContext()) -> Memory:
        """Encode source ids to memory."""
        return self.encoder(self.embedding(src), src_mask, run)

    def decode(
        self,
        tgt_in: TgtIn,
        memory: Memory,
        src_mask: Bool[Tensor, "..."] | None,
        run: ForwardContext = ForwardContext(),
    ) -> Float[Tensor, "batch q_len d_model"]:
        """Compute hidden states of the target tokens, each of which sees only itself and earlier tokens.

        With a cache in `run`, `tgt_in` holds only the tokens that come after those in the cache. Padding is at the end
        of a target, so that the causal mask already hides it from every real token.
        """
        start = run.cache.length if run.cache else 0
        q_len = tgt_in.shape[1]
        mask = None if q_len == 1 else masks.causal(q_len, start + q_len, device=tgt_in.device)
        return self.decoder(self.embedding(tgt_in, start), memory, mask, src_mask, run)

    def logits(self, hidden: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch vocab_size"]:
        """Compute scores of every vocabulary entry from hidden states."""
        return self.embedding.logits(hidden)

    def forward(
        self, src: Src, tgt_in: TgtIn, run: ForwardContext = ForwardContext()
    ) -> Float[Tensor, "batch q_len vocab_size"]:
        """Compute the logits of the token after each of `tgt_in` in one pass over the whole target, as in training."""
        src_mask = self.src_mask(src)
        return self.logits(self.decode(tgt_in, self.encode(src, src_mask, run), src_mask, run))


def initialise(model: nn.Module, d_model: int, seed: int) -> None:
    """Initialise a model's weights in place, as described at `Transformer.initialise`."""
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        if parameter.dim() == 1:
            nn.init.constant_(parameter, 1.0 if name.endswith("norm.weight") else 0.0)
        elif name == "embedding.weight":
            nn.init.normal_(parameter, std=d_model**-0.5, generator=generator)
        else:
            nn.init.xavier_uniform_(parameter, generator=generator)
