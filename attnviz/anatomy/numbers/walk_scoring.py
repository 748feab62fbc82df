"""Lines of a shape walk that only some models have: norms and rotation of queries and keys, and a relative
position bias.
"""

from attnviz.anatomy.numbers.walk_lines import Walk, WalkStep
from attnviz.implementations.scoring import Rotation

_NORM = (
    "Each head's numbers are divided by their root mean square and multiplied by a learned gain, the same for all "
    "heads ({role}, {size} numbers), so a vector's length no longer matters."
)
_ROTATION = (
    "Rotary positions (RoFormer, Su et al. 2021, equation 34): {turned} are turned, in pairs of {pair}, by position × "
    "frequency, from {fast:.3g} to {slow:.2g} radians a token; cos and sin are ({length}, {size}), "
    "and partner makes (−b, a) of a pair (a, b). {both}{factor}"
)
_BOTH = {
    "query": "The product of a query at i and a key at j then depends only on the distance i − j.",
    "key": "Rotated like the queries, each by its own position. Values are not rotated.",
}
_BIAS = (
    "A learned number for each head and distance, key − query, the same wherever the two stand (T5, Raffel et al. "
    "2020, section 2.1): from {low:.3g} to {high:.3g} here. The model has no other positions."
)


def turned_lines(walk: Walk, step: WalkStep, *, length_at: int) -> WalkStep:
    """Record the model's norm and rotation of a query or key, if any. `length_at` is the dimension of positions."""
    scoring, name = walk.weights.scoring, step.name
    norm = scoring.q_norm if name == "query" else scoring.k_norm
    axes = " ".join(axis for axis, _ in step.after)
    if norm is not None:
        role = f"{name[0]}_norm"
        why = _NORM.format(role=role, size=len(norm.gain))
        step = walk.line(f"{name} = {role}({name})", norm(step.tensor), axes, why, step)
    if scoring.rotation is not None:
        made = scoring.rotation(step.tensor, length_at=length_at)
        step = walk.line(_rotation_code(name, scoring.rotation, walk), made, axes, _rotation_why(step, walk), step)
    return step


def scored_lines(walk: Walk, scores: WalkStep) -> WalkStep:
    """Record the model's relative position bias on the scores, if any, and return the last step."""
    if (bias := walk.weights.scoring.bias) is None:
        return scores
    names = [axis for axis, _ in scores.after]
    sizes = dict(scores.after)
    cells = bias.cells(sizes["q_len"], sizes["k_len"])
    if names[0] == "batch":
        code = "scores = scores + bias  # bias (heads, q_len, k_len)"
    else:
        cells, code = cells.permute(1, 2, 0).unsqueeze(2), "scores = scores + bias  # bias (q_len, k_len, 1, heads)"
    why = _BIAS.format(low=float(cells.min()), high=float(cells.max()))
    return walk.line(code, scores.tensor + cells, " ".join(names), why, scores)


def scale_code(walk: Walk) -> str:
    """Return the code of the scale that follows the product of query and key."""
    weights = walk.weights
    return " / √d_k" if weights.scoring.scale is None else "" if weights.is_unscaled else f" * {weights.scale:.4g}"


def scale_why(walk: Walk) -> str:
    """Return a sentence for a model that does not divide by √d_k, or ""."""
    weights = walk.weights
    if weights.scoring.scale is None:
        return ""
    own = "does not scale its scores" if weights.is_unscaled else "has a scale of its own"
    return f" This model {own}: 1 / √d_k would be {weights.d_k**-0.5:.4g}."


def _rotation_code(name: str, rotation: Rotation, walk: Walk) -> str:
    if rotation.size == walk.weights.d_k:
        return f"{name} = {name} * cos + partner({name}) * sin"
    some = f"{name}[..., :{rotation.size}]"
    return f"{some} = {some} * cos + partner({some}) * sin"


def _rotation_why(step: WalkStep, walk: Walk) -> str:
    rotation, d_k = walk.weights.scoring.rotation, walk.weights.d_k
    assert rotation is not None  # checked by the caller
    every = "a head's numbers" if rotation.size == d_k else f"the first {rotation.size} of a head's {d_k} numbers"
    turning = rotation.frequencies.abs()
    return _ROTATION.format(
        turned=every,
        pair="neighbours" if rotation.interleaved else f"i and i + {len(rotation.frequencies)}",
        fast=float(turning.max()),
        slow=float(turning.min()),
        length="q_len" if step.name == "query" else "k_len",
        size=rotation.size,
        both=_BOTH[step.name],
        factor="" if rotation.factor == 1 else f" Both are lengthened by {rotation.factor:.4g} besides (YaRN).",
    )
