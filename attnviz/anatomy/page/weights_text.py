"""Sentences about a site's weights: its number of trainable parameters, and its steps between projections and
scores.
"""

from attnviz.implementations.scoring import Scoring
from attnviz.implementations.weights import SiteWeights


def learned_numbers_text(weights: SiteWeights) -> str:
    """Return the number of a site's trainable parameters, with the reasons why it differs from 4 d_model²."""
    told = [f"This site: {weights.n_learned:,}"]
    heads, groups = weights.n_heads, weights.n_groups
    if groups < heads:
        told.append(
            f"{heads} heads share keys and values in {groups} groups, {'a' if groups == 1 else 'each a'} W_k and W_v"
        )
    if weights.n_heads * weights.d_k != weights.d_model:
        told.append(f"d_k is {weights.d_k}, not d_model / heads")
    if not all(weights.has_bias):
        without = [f"W_{role}" for role, has in zip("qkvo", weights.has_bias, strict=True) if not has]
        told.append("no biases" if len(without) == 4 else f"no bias at {', '.join(without)}")
    if weights.scoring.q_norm or weights.scoring.k_norm:
        told.append("and the gains of the norms of queries and keys")
    if weights.scoring.bias is not None:
        told.append("not counting the table of distance biases, which layers share")
    return "; ".join(told) + "."


def extra_steps_text(scoring: Scoring) -> str:
    """Return the steps on queries, keys and scores besides query · key / √d_k; "" if there are none."""
    done = (
        ("queries and keys are normalised", scoring.q_norm or scoring.k_norm),
        ("queries and keys are rotated by position", scoring.rotation),
        ("scores have their own scale", scoring.scale is not None),
        ("a bias for the distance is added to the scores", scoring.bias),
    )
    return ", ".join(said for said, is_so in done if is_so)


def scale_name(weights: SiteWeights) -> str:
    """Return words that name the scale of a site."""
    is_own = weights.scoring.scale is not None and not weights.is_unscaled
    return f"with its own scale, {weights.scale:.4g}" if is_own else "with 1/√d_k"
