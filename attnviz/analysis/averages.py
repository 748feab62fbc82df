"""Maps averaged over heads, layers or both. A row that sees no key in a head does not count in that mean."""

from jaxtyping import Float
from torch import Tensor

from attnviz.tracing.shown import Shown, mean_of_visible


def mean_over_heads(shown: Shown) -> Float[Tensor, "layers rows cols"]:
    """One map a layer."""
    return mean_of_visible(shown.attn, shown.mask, dims=(1,))


def mean_over_layers(shown: Shown) -> Float[Tensor, "heads rows cols"]:
    """One map a head number; heads of different layers with the same number have nothing else in common."""
    return mean_of_visible(shown.attn, shown.mask, dims=(0,))


def mean_over_all(shown: Shown) -> Float[Tensor, "rows cols"]:
    """One map of everything, each head counting the same."""
    return mean_of_visible(shown.attn, shown.mask, dims=(0, 1))
