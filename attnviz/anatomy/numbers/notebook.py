"""Statements of a published notebook on per-head attention, checked on a site: tensor shapes, sizes, initial weights.

The notebook's own tests used random tensors of the documented shapes and could therefore detect no mistake.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from attnviz.implementations.site_inputs import SiteInputs
from attnviz.implementations.ways import PerHeadAttention
from attnviz.implementations.weights import SiteWeights

Shape = tuple[int, ...]


@dataclass(frozen=True)
class ShapeLine:
    """A tensor: its dimensions as documented in the notebook, its true dimensions, and its shape for each sentence."""

    name: str
    documented: str
    axes: str
    shapes: tuple[Shape, ...]


@torch.inference_mode()
def per_head_shapes(sentences: Sequence[SiteInputs]) -> tuple[ShapeLine, ...]:
    """Run each sentence at one site through parameters with a head dimension, and return the shapes.

    If a sentence is a batch, use its first item. `axes` hold for every sentence: only the weights have d_model in the
    middle, the results have the length there.
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
    """Join the heads with the shapes that the notebook documents, `Z.reshape(heads * d_model, d_v)`.

    Return the resulting shape, or torch's error. The heads are those of the first sentence, or of `length` random
    tokens, as in the notebook's own test.
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
    """A number of heads, the remainders of d_model by heads and of heads by d_model, and PyTorch's error ("" if
    it accepts this number).
    """

    heads: int
    of_d_model: int
    by_d_model: int
    refusal: str


def head_counts(d_model: int, n_heads: int) -> tuple[HeadCount, ...]:
    """Try numbers of heads around the model's own on `nn.MultiheadAttention`. d_model must be a multiple of the
    number of heads, not the reverse.
    """
    odd = next(count for count in range(n_heads + 1, d_model + 2) if d_model % count)
    counts = sorted({1, n_heads, odd, d_model, 2 * d_model})
    return tuple(HeadCount(n, d_model % n, n % d_model, _refusal(d_model, n)) for n in counts)


@dataclass(frozen=True)
class Spread:
    """Standard deviations of W_Q under Xavier initialisation: of the tensor (heads, d_model, d_k) as a whole,
    and of each head.
    """

    whole: float
    each: float


def xavier_spread(weights: SiteWeights, *, seed: int = 0) -> Spread:
    """Compare two ways to apply Xavier initialisation: to one 3-D tensor for all heads, and to each head's matrix.

    For a 3-D tensor, torch takes the first dimension as outputs, the second as inputs, and the third as a kernel size
    that multiplies both. The values of the 3-D tensor are therefore too small. For one head's matrix (d_model, d_k) the
    sizes are correct.
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
