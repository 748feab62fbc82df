"""Split a logit into a sum of contributions: over all layers, or over the last layer only for post-norm models."""

from collections.abc import Mapping
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from attnviz.analysis.attribution import Attribution, LogitTarget, attribution, key_attribution
from attnviz.analysis.residual import ResidualMaps, residual_maps
from attnviz.causes.numbers.last_layer import LastLayer, last_layer
from attnviz.models.protocol import Model
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Site


@dataclass(frozen=True, eq=False)
class Explained:
    """The contributions to a logit, and those of each site's heads split by attended token, `(heads, k_len)`."""

    bars: Attribution
    opened: Mapping[Site, Float[Tensor, "heads k_len"]]


@dataclass(frozen=True, eq=False)
class SplitModel:
    """The linear maps by which a run's logits are split.

    `why_last` says why the split covers only the last layer; "" if it covers all layers.
    """

    maps: ResidualMaps | LastLayer
    why_last: str = ""

    @classmethod
    def find(cls, model: Model, trace: Trace) -> "SplitModel":
        """Find the maps of a run's model. Raise ValueError if its logits cannot be written as a sum."""
        found = residual_maps(model, trace)
        if isinstance(found, ResidualMaps):
            return cls(found)
        last = last_layer(model, trace)
        if isinstance(last, LastLayer):
            return cls(last, found.why)
        raise ValueError(f"The logits of this model cannot be taken apart: {last.why}.")

    @property
    def weight(self) -> Float[Tensor, "vocab_size d_model"]:
        """The weight of the map to the vocabulary."""
        return self.maps.weight

    def explain(self, trace: Trace, asked: LogitTarget) -> Explained:
        """Split a logit of the run. Raise ValueError if the run has no such row or token."""
        if isinstance(self.maps, LastLayer):
            maps = self.maps
            sites = [one.site for one in maps.sublayers if one.site is not None]
            return Explained(
                maps.attribution(trace, asked), {site: maps.key_attribution(trace, asked, site) for site in sites}
            )
        bars = attribution(self.maps, trace, asked)
        sites = dict.fromkeys(Site(part.kind, part.layer) for part in bars.parts
                              if part.part == "head" and part.kind is not None and part.layer is not None)  # fmt: skip
        return Explained(bars, {site: key_attribution(self.maps, trace, asked, site) for site in sites})
