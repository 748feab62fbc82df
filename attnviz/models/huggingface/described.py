"""What a checkpoint says of itself: its family, its kinds of attention and their sizes, where and in what it runs."""

import torch

from attnviz.models.huggingface.network import Family, Network
from attnviz.transformer.probe import Kind


class Described:
    """A network's own numbers, under the names that every model has for them."""

    def __init__(self, network: Network) -> None:
        self.network = network

    @property
    def family(self) -> Family:
        """Encoder, decoder or both."""
        return self.network.family

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of attention that it computes, encoder first."""
        return tuple(self.network.shapes)

    @property
    def shapes(self) -> dict[Kind, tuple[int, int]]:
        """Layers and heads of each kind."""
        return dict(self.network.shapes)

    @property
    def n_layers(self) -> int:
        """Layers of the kind that has most."""
        return max(layers for layers, _ in self.network.shapes.values())

    @property
    def n_heads(self) -> int:
        """Heads of the kind that has most."""
        return max(heads for _, heads in self.network.shapes.values())

    @property
    def n_parameters(self) -> int:
        """Numbers that were learned."""
        return sum(parameter.numel() for parameter in self.network.model.parameters())

    @property
    def device(self) -> torch.device:
        """Where it runs."""
        return self.network.device

    @property
    def dtype(self) -> torch.dtype:
        """In what it computes."""
        return self.network.dtype
