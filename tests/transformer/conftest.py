"""A small model with a different prime for each axis, and a probe that keeps what it is shown."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from attnviz.transformer.attention import call_attn
from attnviz.transformer.config import ModelConfig
from attnviz.transformer.probe import AttentionCall, EditedWeights, Probe, Site, Stack
from attnviz.transformer.transformer import Transformer

# batch 2, n_layers 2, heads 3, lengths 5 and 7, d_k 11, d_ff 13, vocab_size 23; d_model must be even for positions.
CONFIG = ModelConfig(vocab_size=23, d_model=34, n_heads=3, n_layers=2, d_ff=13, d_k=11)


class Capture(Probe):
    """Keeps every call, context and layer output; `edits` change the weights of a site."""

    def __init__(self, edits: dict[Site, Callable[[Tensor], Tensor]] | None = None) -> None:
        self.edits = edits or {}
        self.calls: dict[Site, AttentionCall] = {}
        self.contexts: dict[Site, Tensor] = {}
        self.layers: dict[tuple[Stack, int], Tensor] = {}

    def on_call(self, site: Site, call: AttentionCall) -> AttentionCall:
        self.calls[site] = call
        if site not in self.edits:
            return call
        return replace(call, edited=EditedWeights.everywhere(self.edits[site](call_attn(call))))

    def on_context(self, site: Site, context: Tensor) -> Tensor:
        self.contexts[site] = context
        return context

    def on_layer(self, stack: Stack, layer: int, output: Tensor) -> Tensor:
        self.layers[stack, layer] = output
        return output

    def attn(self, site: Site) -> Tensor:
        return call_attn(self.calls[site])


@pytest.fixture
def capture() -> type[Capture]:
    return Capture


@pytest.fixture(scope="session")
def model() -> Transformer:
    return perturb(Transformer(CONFIG).initialise(5))


@pytest.fixture(scope="session", params=[True, False], ids=["pre-norm", "post-norm"])
def either_norm(request: pytest.FixtureRequest) -> Transformer:
    return perturb(Transformer(replace(CONFIG, norm_first=request.param)).initialise(5))


def perturb(model: Transformer) -> Transformer:
    """Move biases and norms away from 0 and 1, where a mistake would not show."""
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.1)
    return model.requires_grad_(False).eval()


@pytest.fixture(scope="session")
def src() -> Tensor:
    return torch.tensor([[3, 9, 4, 17, 5, 2, 8], [6, 3, 11, 2, 0, 0, 0]])


@pytest.fixture(scope="session")
def tgt_in() -> Tensor:
    return torch.tensor([[1, 7, 19, 4, 12], [1, 5, 21, 0, 0]])
