"""A trace a layer at a time: a long text's maps of all layers need not lie in memory at once."""

from collections.abc import Iterator
from dataclasses import replace

from attnviz.tracing.bare_weights import BareWeights
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Kind, Site


def layer_by_layer(trace: Trace, kind: Kind) -> Iterator[Trace]:
    """Traces of one layer each, which is layer 0 of them, with the same tokens; of one kind only."""
    if isinstance(trace, BareWeights):
        for attn in trace.weights[kind]:
            yield replace(trace, weights={kind: attn[None]})
        return
    for site in sorted(site for site in trace.calls if site.kind == kind):
        yield replace(trace, calls={Site(kind, 0): trace.calls[site]}, contexts={}, layers={})
