"""What a model says of the network inside it, under the names that every model has for it."""

from pathlib import Path
from typing import Any

import torch

from attnviz.models.huggingface.network.network import Family, Network
from attnviz.transformer.probe import Kind


def summary(model: Any) -> str:
    """A model in two lines, for a notebook: what it is, and what may be asked of it."""
    shapes = ", ".join(f"{kind} {layers} x {heads}" for kind, (layers, heads) in model.shapes.items())
    size = f"{model.n_parameters / 1e6:,.1f} M parameters, {str(model.dtype).removeprefix('torch.')} on {model.device}"
    asks = {"encoder": "text, pair", "decoder": "text, new_tokens=", "encoder-decoder": "text, tgt_text="}[model.family]
    more = ", .stepwise(text)" if model.writes else ""
    return (
        f"<{type(model).__name__} {model.name!r}: {model.family}, {shapes} (layers x heads), {size}\n"
        f" .trace({asks}){more}; trace.attn(kind, layer=, head=)>"
    )


class NetworkModel:
    """A network's own numbers, under the names that every model has for them; `folder` is where it was read from."""

    folder: Path | None = None

    def __init__(self, network: Network) -> None:
        self.network = network

    def __repr__(self) -> str:
        return summary(self)

    @property
    def torch_module(self) -> Any:
        """transformers' own model."""
        return self.network.model

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
