"""The pages that can show a model, as the table of families lists them: tried on the model, not read from its name."""

from collections.abc import Callable
from typing import Any

import torch

from attnviz.analysis.inputs import observed_inputs
from attnviz.analysis.projections import NotPlain, projections
from attnviz.implementations.weights import SiteWeights
from attnviz.tracing.interventions import MaskOverride
from attnviz.transformer.probe import Site

TEXT = "The quick brown fox jumps over the dog."


def _has_maps(model: Any, trace: Any) -> bool:
    return all(trace.attn(kind).isfinite().all() for kind in trace.kinds)


def _has_queries(model: Any, trace: Any) -> bool:
    try:
        return trace.call(trace.kinds[0], 0).has_queries
    except (AttributeError, KeyError, ValueError):
        return False


def _takes_masks(model: Any, trace: Any) -> bool:
    """Check whether a mask that leaves the first key alone takes effect."""
    kind = trace.kinds[-1]
    first = MaskOverride([Site(kind, 0)], lambda q_len, k_len: torch.arange(k_len).eq(0).expand(1, q_len, k_len))
    try:
        edited = model.rerun(trace, first).attn(kind, layer=0)
    except ValueError:
        return False
    return bool(edited[..., 1:].abs().max() == 0)


def _steps(model: Any, trace: Any) -> bool:
    try:
        return next(iter(model.stepwise(TEXT))).token is not None
    except ValueError:
        return False


def _site_weights(model: Any, trace: Any) -> tuple[SiteWeights, ...]:
    """Return the projections of every site of a model, each of which gives this run's own; () where any has none."""
    if trace.weights_only:
        return ()
    found = projections(model, trace, trace.calls)
    if any(isinstance(one, NotPlain) for one in found.values()):
        return ()
    return tuple(observed_inputs(one, trace, site.kind, site.layer).weights for site, one in found.items())  # type: ignore[arg-type]


def _comes_apart(model: Any, trace: Any) -> bool:
    return bool(_site_weights(model, trace))


def describe_scoring(model: Any, trace: Any) -> str:
    """Describe what lies between projections and scores at the sites of a model."""
    said: dict[str, None] = {}
    for weights in _site_weights(model, trace):
        scoring = weights.scoring
        if scoring.rotation is not None:
            turned = "" if scoring.rotation.size == weights.d_k else f" {scoring.rotation.size} of {weights.d_k}"
            said[f"rotary{turned}"] = None
        said |= dict.fromkeys(
            name
            for name, is_so in (
                ("norms", scoring.q_norm or scoring.k_norm),
                ("groups", weights.n_groups < weights.n_heads),
                ("bias", scoring.bias),
                ("scale", scoring.scale is not None),
            )
            if is_so
        )
    return ", ".join(said)


PAGES: dict[str, Callable[[Any, Any], bool]] = {
    "Heads": _has_maps, "Neuron": _has_queries, "Masks": _takes_masks, "Decoding": _steps,
    "Anatomy": _comes_apart,
}  # fmt: skip
