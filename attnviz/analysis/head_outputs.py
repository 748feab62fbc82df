"""Two measures of what each head writes from each key, shown in maps instead of weights.

From a key, a head writes α f(x): the key's value times `W_o`, scaled by the weight (Kobayashi et al. 2020). `norms`
measures the size of that vector. `shares_of_heads` measures its share of the sublayer's output, as ALTI does (Ferrando
et al. 2022), with one part for every head and key and one for the residual, and none for the bias.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.analysis.attribution import explained_weights
from attnviz.analysis.mixing import shares, stream_before
from attnviz.analysis.output_maps import OutputMap
from attnviz.analysis.residual import ResidualMaps
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Site


def norms(own: OutputMap, trace: Trace, site: Site, *, item: int = 0) -> Float[Tensor, "heads q_len k_len"]:
    """Compute ‖α f(x)‖ for every cell in float32; 0 where an intervention replaced the context.

    `own` is `W_o` of the site.
    """
    size = _key_outputs(own, trace, site, item).norm(dim=-1)
    return (explained_weights(trace, site, item).abs() * size.unsqueeze(1)).float()


def shares_of_heads(
    maps: ResidualMaps, trace: Trace, site: Site, *, item: int = 0
) -> Float[Tensor, "heads q_len k_len"]:
    """Compute the share of the sublayer's output that each head writes from each key, in float32.

    With the share of the residual, all heads' cells in a row sum to 1. `trace` needs hidden states, and `maps` must be
    its model's.
    """
    own = maps.output(site.kind, site.layer)
    given, weights = _key_outputs(own, trace, site, item), explained_weights(trace, site, item)
    rows = []  # one at a time: each part is a whole vector
    for row, before in enumerate(stream_before(maps, trace, site.kind, site.layer, item)):
        parts = (weights[:, row].unsqueeze(-1) * given).flatten(0, 1)
        whole = parts.sum(dim=0) + before + own.bias.double()
        rows.append(shares(torch.cat((parts, before.unsqueeze(0))), whole)[:-1].reshape(weights.shape[0], -1))
    return torch.stack(rows, dim=1).float()


def _key_outputs(own: OutputMap, trace: Trace, site: Site, item: int) -> Float[Tensor, "heads k_len d_model"]:
    """Compute f(x): what each head would write from each key at a weight of 1, in float64."""
    return trace.call(site.kind, site.layer).value[item].cpu().double() @ own.weight.double()
