"""A notebook's statements about per-head attention, run on a site: its tensors' shapes, its sizes, its initial weights.

The statements are seed 001's. Its tests used random tensors of the documented shape, where nothing can be noticed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from attnviz.implementations.per_head import PerHeadAttention
from attnviz.implementations.site_inputs import SiteInputs
from attnviz.implementations.weights import SiteWeights

Shape = tuple[int, ...]


@dataclass(frozen=True)
class ShapeLine:
    """A tensor: its axes as the notebook documents them, its axes, and its shape for each sentence."""

    name: str
    documented: str
    axes: str
    shapes: tuple[Shape, ...]


@torch.inference_mode()
def per_head_shapes(sentences: Sequence[SiteInputs]) -> tuple[ShapeLine, ...]:
    """Run each sentence of one site through parameters with a head axis; of a batch, its first sentence.

    `axes` are true for any sentence: only the weights have d_model in the middle, what they make has the length.
    """
    made = [_tensors(inputs) for inputs in sentences]
    lines = (
        ("W_Q", "(heads, d_model, d_k)", "(heads, d_model, d_k)"),
        ("Q = x @ W_Q", "(heads, d_model, d_k)", "(heads, q_len, d_k)"),
        ("K = memory @ W_K", "(heads, d_model, d_k)", "(heads, k_len, d_k)"),
        ("V = memory @ W_V", "(heads, d_model, d_v)", "(heads, k_len, d_v)"),
        ("weights", "", "(heads, q_len, k_len)"),
        ("Z = weights @ V", "(heads, d_model, d_v)", "(heads, q_len, d_v)"),
    )
    return tuple(
        ShapeLine(name, documented, axes, tuple(tuple(tensors[at].shape) for tensors in made))
        for at, (name, documented, axes) in enumerate(lines)
    )


@torch.inference_mode()
def joined_as_documented(inputs: SiteInputs, *, length: int | None = None) -> tuple[Shape | None, str]:
    """Join the heads as the documented shapes ask, `Z.reshape(heads * d_model, d_v)`: the shape, or what torch raises.

    On the first sentence; with a `length`, on that many random tokens, as the notebook's own test did.
    """
    weights = inputs.weights
    if length is not None:
        x = torch.randn(1, length, weights.d_model, generator=torch.Generator().manual_seed(0))
        inputs = SiteInputs(weights, x, x)
    heads_out = _tensors(inputs)[-1]
    try:
        return tuple(heads_out.reshape(weights.n_heads * weights.d_model, weights.d_v).shape), ""
    except RuntimeError as error:
        return None, f"{type(error).__name__}: {error}"


@dataclass(frozen=True)
class HeadCount:
    """A number of heads, both remainders (d_model by heads, heads by d_model), and PyTorch's refusal ("" where it
    accepts).
    """

    heads: int
    of_d_model: int
    by_d_model: int
    refusal: str


def head_counts(d_model: int, n_heads: int) -> tuple[HeadCount, ...]:
    """Numbers of heads around the model's own, each tried on `nn.MultiheadAttention`.

    d_model must be a multiple of the number of heads; a number of heads that is a multiple of d_model is the reverse.
    """
    odd = next(count for count in range(n_heads + 1, d_model + 2) if d_model % count)
    counts = sorted({1, n_heads, odd, d_model, 2 * d_model})
    return tuple(HeadCount(n, d_model % n, n % d_model, _refusal(d_model, n)) for n in counts)


@dataclass(frozen=True)
class Spread:
    """Standard deviations that Xavier's rule gives W_Q: to the tensor (heads, d_model, d_k) as one, and to a head."""

    whole: float
    each: float


def xavier_spread(weights: SiteWeights, *, seed: int = 0) -> Spread:
    """Xavier on a parameter with a head axis takes that axis for a kernel's: `whole` comes out too small.

    For a tensor of three axes torch counts the first as outputs, the second as inputs, and the rest as a kernel's
    size, which multiplies both; for one head's matrix (d_model, d_k) it counts what is meant.
    """
    shape = (weights.n_heads, weights.d_model, weights.d_k)
    generator = torch.Generator().manual_seed(seed)
    whole = nn.init.xavier_normal_(torch.empty(shape), generator=generator)
    each = torch.stack([nn.init.xavier_normal_(torch.empty(shape[1:]), generator=generator) for _ in range(shape[0])])
    return Spread(float(whole.std()), float(each.std()))


def _tensors(inputs: SiteInputs) -> tuple[Tensor, ...]:
    ways, (input_, memory) = PerHeadAttention(inputs.weights), (inputs.input_[0], inputs.memory[0])
    query, key, value = input_ @ ways.W_Q, memory @ ways.W_K, memory @ ways.W_V
    attn = (query @ key.mT).softmax(dim=-1)
    return ways.W_Q, query, key, value, attn, attn @ value


def _refusal(d_model: int, heads: int) -> str:
    try:
        nn.MultiheadAttention(d_model, heads, device="meta")
    except (AssertionError, ValueError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}"
    return ""
