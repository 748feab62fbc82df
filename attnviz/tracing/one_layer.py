"""A trace a layer at a time: a long text's maps of all layers need not lie in memory at once."""

from collections.abc import Iterator
from dataclasses import replace

from attnviz.tracing.bare_weights import BareWeights
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Kind, Site


def layer_by_layer(trace: Trace, kind: Kind) -> Iterator[Trace]:
    """Traces of one layer each, which is layer 0 of them, with the same tokens; of one kind only."""
    for layer in range(trace.shape(kind)[0]):
        yield one_layer(trace, kind, layer)


def one_layer(trace: Trace, kind: Kind, layer: int) -> Trace:
    """The trace of one layer, which is layer 0 of it, with the same tokens. Raises ValueError out of range."""
    layers = trace.shape(kind)[0]
    if isinstance(layer, bool) or not isinstance(layer, int) or not 0 <= layer < layers:
        raise ValueError(f"layer is 0 to {layers - 1}, not {layer!r}.")
    if isinstance(trace, BareWeights):
        return replace(trace, weights={kind: trace.weights[kind][layer][None]})
    return replace(trace, calls={Site(kind, 0): trace.calls[Site(kind, layer)]}, contexts={}, layers={})
