"""One forward pass of a transformers model: the site of each attention call, and the probe that sees it.

Layers do not know their numbers (ALBERT runs one module for all layers; DistilBERT and Marian number none), so the
order of the calls is recorded when the model is loaded, and later passes follow it. A call finds its pass in a context
variable: every thread has its own, so that visitors who share a model never see each other's run.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Protocol

from torch import Tensor, nn

from attnviz.models.huggingface.errors import ModelError
from attnviz.transformer.attention import attend
from attnviz.transformer.probe import AttentionCall, Probe, Site, Stack


@dataclass(frozen=True)
class AttentionModule:
    """One attention call of a pass: the module that computes it, and its site."""

    module: nn.Module
    site: Site


class Watcher(Protocol):
    """Observer of a pass: a `ForwardPass`, or on loading the `CallOrder` that records the order of calls."""

    def attend(self, module: nn.Module, call: AttentionCall) -> Tensor:
        """Compute the context of a call."""
        ...

    def on_input(self, module: nn.Module, input_: Tensor) -> None:
        """Receive the input of an attention module before it runs."""
        ...

    def on_embedding(self, layer: nn.Module, hidden: Tensor) -> Tensor:
        """Return a layer's input, or a changed one, before the layer runs."""
        ...

    def on_layer(self, layer: nn.Module, output: Tensor) -> Tensor:
        """Return a layer's output, or a changed one, after the layer has run."""
        ...


_RUN: ContextVar[Watcher | None] = ContextVar("attnviz_run", default=None)


def current_pass() -> Watcher | None:
    """Return the observer of this thread's pass."""
    return _RUN.get()


@contextmanager
def watch_pass(run: Watcher) -> Iterator[None]:
    """Make `run` the observer of everything this thread computes inside the block."""
    token = _RUN.set(run)
    try:
        yield
    finally:
        _RUN.reset(token)


@dataclass
class ForwardPass:
    """A pass through one stack with a probe. It is made for one pass and used by one thread.

    `memory` `(batch, k_len, d_model)` is the memory that cross-attention reads. With `hidden`, the probe also sees the
    inputs of sites and the outputs of layers.
    """

    places: tuple[AttentionModule, ...]
    stack: Stack
    probe: Probe
    memory: Tensor | None = None
    hidden: bool = True
    _made: int = 0
    _layers: int = 0
    _input: Tensor | None = None

    def attend(self, module: nn.Module, call: AttentionCall) -> Tensor:
        """Compute the context of the next call in the order recorded on loading."""
        if self._made >= len(self.places) or self.places[self._made].module is not module:
            raise ModelError(
                "The model computed its attention layers in a different order than when it was loaded, so "
                "attnviz cannot tell which map belongs to which layer."
            )
        site = self.places[self._made].site
        self._made += 1
        if self._input is not None and self._input.shape[:2] == (len(call.query), call.query.shape[2]):
            call = replace(call, input_=self._input, memory=self._input if site.kind != "cross" else self.memory)
        return attend(call, site, probe=self.probe)

    def on_input(self, module: nn.Module, input_: Tensor) -> None:
        """Remember the hidden states from which the next call's queries are projected."""
        self._input = input_ if self.hidden else None

    def on_embedding(self, layer: nn.Module, hidden: Tensor) -> Tensor:
        """Pass the first layer's input to the probe as layer -1."""
        return self.probe.on_layer(self.stack, -1, hidden) if self._layers == 0 and self.hidden else hidden

    def on_layer(self, layer: nn.Module, output: Tensor) -> Tensor:
        """Count layers in the order in which they run, and pass each output to the probe."""
        self._layers += 1
        return self.probe.on_layer(self.stack, self._layers - 1, output) if self.hidden else output
