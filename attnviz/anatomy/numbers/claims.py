"""Claims about multi-head attention, each checked on the running model.

Also the cost of dot-product scores compared with additive scores (Bahdanau et al. 2015) on tensors of the same sizes.

Among the claims: that `del query, key, value` before the last line frees memory, measured with and without it; and that
a head compares tokens directly, whereas it compares them through a learned bilinear form.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from statistics import median

import pandas as pd
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor
from torch.profiler import record_function

from attnviz.analysis.inputs import query_key_value
from attnviz.analysis.outcome import largest_change
from attnviz.analysis.peak_memory import peak_memory
from attnviz.implementations.scoring import PLAIN, Rotation, Scoring
from attnviz.implementations.site_inputs import SiteInputs
from attnviz.implementations.ways import AnnotatedAttention, SingleAttention
from attnviz.implementations.weights import SiteWeights
from attnviz.transformer.attention import MultiHeadAttention, masked_softmax

LAST_LINE = "W_o"
HOLDERS = {
    "nobody": "nobody else",
    "recorder": "a recorder (attnviz's own traces)",
    "autograd": "autograd (training)",
}


def parameter_counts(d_model: int) -> pd.DataFrame:
    """Count the trainable parameters of a site for every number of heads that divides `d_model`.

    Return a table with the columns heads, d_k, parameters.
    """
    rows = []
    for heads in (n for n in range(1, d_model + 1) if d_model % n == 0):
        with torch.device("meta"):
            module = MultiHeadAttention(d_model, heads, d_model // heads)
        rows.append((heads, d_model // heads, sum(part.numel() for part in module.parameters())))
    return pd.DataFrame(rows, columns=["heads", "d_k", "parameters"])


@dataclass(frozen=True)
class OneHead:
    """Multi-head attention with one head compared with plain self-attention on the same `W_q`, `W_k`, `W_v`.

    `output_size` is the root mean square of the output, and `change_without_w_o` is max |Δ| once `W_o` is the identity.
    Norms, positions and a scale of the model's own are left out of both, because they are made for the original head
    size.
    """

    attn_change: float
    output_change: float
    output_size: float
    change_without_w_o: float
    parameters: tuple[int, int]


@torch.inference_mode()
def one_head(inputs: SiteInputs) -> OneHead:
    """Compare one head as large as all of the site's heads together with plain attention, with and without `W_o`.

    The weights agree, the outputs do not. Raise ValueError if the heads together do not have size `d_model`, because
    plain attention then cannot be compared.
    """
    weights = inputs.weights
    if weights.n_heads * weights.d_v != weights.d_model:
        raise ValueError(
            f"The values of all heads together have {weights.n_heads * weights.d_v} dimensions. This "
            "comparison works only if this number equals d_model."
        )
    single = replace(weights, n_heads=1, scoring=PLAIN)
    identity = replace(single, W_o=torch.eye(weights.d_model), b_o=torch.zeros_like(weights.b_o))
    plain, plain_attn = SingleAttention.from_site(single, 0)(*inputs.call)
    multi, attn = AnnotatedAttention(single)(*inputs.call)
    without, _ = AnnotatedAttention(identity)(*inputs.call)
    learned = replace(weights, scoring=PLAIN).n_learned
    without_w_o = learned - weights.W_o.numel() - weights.b_o.numel() * weights.has_bias[3]
    return OneHead(
        largest_change(attn[:, 0], plain_attn),
        largest_change(multi, plain),
        float(multi.square().mean().sqrt()),
        largest_change(without, plain),
        (learned, without_w_o),
    )


@dataclass(frozen=True)
class Loops:
    """A batched product compared with a double loop over batch and heads: max |Δ|, and the median seconds of each."""

    products: int
    change: float
    batched_seconds: float
    loop_seconds: float


@torch.inference_mode()
def loops(inputs: SiteInputs, *, repeats: int = 7) -> Loops:
    """Compute softmax(query keyᵀ / √d_k) value once for all, and once for each sentence and head, and compare."""
    query, key, value = query_key_value(inputs)
    scoring, mask = inputs.weights.scoring, None if inputs.mask is None else inputs.cells
    each = [scoring.head_scoring(head) for head in range(query.shape[1])]

    def run_batched() -> Tensor:
        return masked_softmax(scoring.add_bias(query @ key.mT / math.sqrt(query.shape[-1])), mask) @ value

    def run_looped() -> Tensor:
        out = torch.empty(*query.shape[:3], value.shape[-1])
        for batch in range(query.shape[0]):
            for head in range(query.shape[1]):
                scores = each[head].add_bias(query[batch, head] @ key[batch, head].T / math.sqrt(query.shape[-1]))
                scores = scores.squeeze(0) if scores.dim() > 2 else scores  # a bias adds a head dimension
                own = None if mask is None else mask[batch, head]
                out[batch, head] = masked_softmax(scores, own) @ value[batch, head]
        return out

    change = largest_change(run_batched(), run_looped())
    return Loops(query.shape[0] * query.shape[1], change, _seconds(run_batched, repeats), _seconds(run_looped, repeats))


@torch.inference_mode()
def concatenation_change(inputs: SiteInputs) -> float:
    """Return max |Δ| between joining heads by transpose, contiguous and view, and joining them by `torch.cat`."""
    query, key, value = query_key_value(inputs)
    mask = None if inputs.mask is None else inputs.cells
    scores = inputs.weights.scoring.add_bias(query @ key.mT / math.sqrt(query.shape[-1]))
    context = masked_softmax(scores, mask) @ value
    viewed = context.transpose(1, 2).contiguous().view(context.shape[0], context.shape[2], -1)
    return largest_change(viewed, torch.cat(context.unbind(dim=1), dim=-1))


@dataclass(frozen=True, eq=False)
class Scaling:
    """Effect of the scale on softmax.

    `scaled` and `unscaled` are the scores of visible cells. For each row, `largest_…` is the largest weight, and
    `passed_…` the norm of softmax's Jacobian, diag(p) - p pᵀ, which is 0 for a one-hot row.
    """

    scaled: Float[Tensor, " cells"]
    unscaled: Float[Tensor, " cells"]
    largest_scaled: Float[Tensor, " rows"]
    largest_unscaled: Float[Tensor, " rows"]
    passed_scaled: Float[Tensor, " rows"]
    passed_unscaled: Float[Tensor, " rows"]


@torch.inference_mode()
def scaling(*sites: SiteInputs) -> Scaling:
    """Measure the scores of all heads with and without the scale, before any bias; softmax gets the bias too.

    Each of `sites` is a sentence without padding, because padding would distort every mean. A site without a scale is
    compared with a scale of 1 / √d_k.
    """
    found = [_own_scaling(inputs) for inputs in sites]
    return Scaling(*(torch.cat(parts) for parts in zip(*map(_numbers, found), strict=True)))


def _own_scaling(inputs: SiteInputs) -> Scaling:
    query, key, _ = query_key_value(inputs)
    weights = inputs.weights
    plain = query / (weights.scale * math.sqrt(weights.d_k))  # the query already includes the model's scale
    return _scaling(plain, key, inputs.cells, scale=_compared_scale(weights), scoring=weights.scoring)


def _numbers(found: Scaling) -> tuple[Tensor, ...]:
    return tuple(getattr(found, one.name) for one in fields(found))


def _compared_scale(weights: SiteWeights) -> float:
    return weights.d_k**-0.5 if weights.is_unscaled else weights.scale


def scaling_of_normal(d_k: int, *, length: int = 64, seed: int = 0) -> Scaling:
    """Measure queries and keys of independent normal values with mean 0 and variance 1, the paper's assumption:
    unscaled scores then have variance d_k, and scaled ones 1 (Vaswani et al. 2017, footnote 4).
    """
    generator = torch.Generator().manual_seed(seed)
    query, key = (torch.randn(1, 1, length, d_k, generator=generator) for _ in range(2))
    return _scaling(query, key, torch.ones(1, 1, length, length, dtype=torch.bool))


def _scaling(
    query: Tensor, key: Tensor, cells: Tensor, *, scale: float | None = None, scoring: Scoring = PLAIN
) -> Scaling:
    unscaled = query @ key.mT
    scaled = unscaled / math.sqrt(query.shape[-1]) if scale is None else unscaled * scale
    rows = cells.any(dim=-1)
    weights = [masked_softmax(scoring.add_bias(scores), cells)[rows] for scores in (scaled, unscaled)]
    largest = [attn.amax(dim=-1) for attn in weights]
    return Scaling(scaled[cells], unscaled[cells], *largest, *(jacobian_norm(attn) for attn in weights))


@dataclass(frozen=True)
class Moved:
    """Changes when every token is `by` positions later: max |Δ| of a rotated site's scores, and of its queries."""

    by: int
    scores: float
    queries: float


@torch.inference_mode()
def rotate_further(inputs: SiteInputs, *, by: int = 100) -> Moved:
    """Rotate a site's queries and keys as if `by` other tokens preceded them.

    Raise ValueError if the site has no rotation.
    """
    rotation = inputs.weights.scoring.rotation
    if rotation is None:
        raise ValueError("This site does not rotate its queries and keys.")
    plain = replace(inputs, weights=replace(inputs.weights, scoring=replace(inputs.weights.scoring, rotation=None)))
    query, key, _ = query_key_value(plain)
    (here, later), (keys_here, keys_later) = ((rotation(x), _shift_positions(rotation, x, by)) for x in (query, key))
    size = math.sqrt(inputs.weights.d_k)
    return Moved(
        by,
        largest_change(here @ keys_here.mT / size, later @ keys_later.mT / size),
        largest_change(here, later),
    )


def _shift_positions(rotation: Rotation, x: Tensor, by: int) -> Tensor:
    before = x.new_zeros(*x.shape[:-2], by, x.shape[-1])
    return rotation(torch.cat((before, x), dim=-2))[..., by:, :]


def jacobian_norm(attn: Float[Tensor, "rows k_len"]) -> Float[Tensor, " rows"]:
    """Return the Frobenius norm of diag(p) - p pᵀ for each row p: how strongly gradients pass through softmax."""
    squares, cubes = attn.square().sum(dim=-1), attn.pow(3).sum(dim=-1)
    return (squares - 2 * cubes + squares.square()).clamp_min(0).sqrt()


def _seconds(call: Callable[[], object], repeats: int) -> float:
    """Return the median time of a call, after one warm-up call."""
    call()
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return median(times)


@dataclass(frozen=True)
class ScoreCost:
    """Median seconds and peak memory in bytes of one way to compute scores."""

    seconds: float
    nbytes: int


def dot_product(query: Tensor, key: Tensor) -> Tensor:
    """Compute query · key for every pair, `(heads, q_len, k_len)`, as one matrix product."""
    return query @ key.mT


def additive_scores(query: Tensor, key: Tensor, v: Tensor) -> Tensor:
    """Compute v · tanh(query + key) for each pair of query and key, `(heads, q_len, k_len)`.

    Each pair needs its own vector `query + key`, so no single matrix product computes all scores.
    """
    return (query.unsqueeze(-2) + key.unsqueeze(-3)).tanh() @ v


@torch.inference_mode()
def score_costs(n_heads: int, d_k: int, length: int, *, repeats: int = 5, seed: int = 0) -> dict[str, ScoreCost]:
    """Measure both ways of computing scores on random queries and keys. Raise ValueError for a length below 1."""
    if length < 1:
        raise ValueError(f"The length must be at least 1, not {length}.")
    generator = torch.Generator().manual_seed(seed)
    query, key = (torch.randn(n_heads, length, d_k, generator=generator) for _ in range(2))
    v = torch.randn(d_k, generator=generator)
    calls = {"dot product": lambda: dot_product(query, key), "additive": lambda: additive_scores(query, key, v)}
    return {name: ScoreCost(_seconds(call, repeats), peak_memory(call).peak) for name, call in calls.items()}


@dataclass
class _Holder:
    kept: tuple[Tensor, ...] = ()


def deletion(weights: SiteWeights, length: int, *, seed: int = 0) -> pd.DataFrame:
    """Measure how much memory `del` frees in one site's pass over `length` tokens, in bytes.

    There is a row for each `path` ("explicit" computes the weights, "fused" does not), for each `holder` that may keep
    references to the tensors, and with and without `del` (`deleted`). `peak` is the peak of the whole call, `alive` is
    the memory in use when the function's last line starts, and `late` is the peak from there on. Raise ValueError for
    a length below 1.
    """
    if length < 1:
        raise ValueError(f"The length must be at least 1, not {length}.")
    x = torch.randn(1, length, weights.d_model, generator=torch.Generator().manual_seed(seed))
    rows = []
    for path, attend in (("explicit", _explicit), ("fused", _fused_attention)):
        for holder in HOLDERS:
            for deleted in (False, True):
                memory = peak_memory(_call(attend, weights, x, (holder, deleted)), mark=LAST_LINE)
                rows.append((path, holder, deleted, memory.peak, memory.alive, memory.late))
    return pd.DataFrame(rows, columns=["path", "holder", "deleted", "peak", "alive", "late"])


def _call(attend: Callable, weights: SiteWeights, x: Tensor, what: tuple[str, bool]) -> Callable[[], Tensor]:
    holder_name, deleted = what

    def call() -> Tensor:
        holder = _Holder() if holder_name == "recorder" else None
        own = weights
        if holder_name == "autograd":
            with torch.inference_mode(False), torch.enable_grad():
                own = weights.replace_parts(part.clone().requires_grad_() for pair in weights.pairs for part in pair)
                return _forward(attend, own, x, holder=holder, deleted=deleted)
        with torch.inference_mode():
            return _forward(attend, own, x, holder=holder, deleted=deleted)

    return call


def _forward(attend: Callable, weights: SiteWeights, x: Tensor, *, holder: _Holder | None, deleted: bool) -> Tensor:
    query, key, value = (
        F.linear(x, weight, bias).unflatten(-1, (weights.n_heads, -1)).transpose(1, 2)
        for weight, bias in weights.pairs[:3]
    )
    query, key = weights.scoring.transform(query, key)
    if holder is not None:
        holder.kept = (query, key, value)
    context = attend(query, key, value, weights.scoring).transpose(1, 2).flatten(start_dim=2)
    if deleted:
        del query, key, value
    with record_function(LAST_LINE):
        return F.linear(context, weights.W_o, weights.b_o)


def _explicit(query: Tensor, key: Tensor, value: Tensor, scoring: Scoring) -> Tensor:
    return scoring.add_bias(query @ key.mT / math.sqrt(query.shape[-1])).softmax(dim=-1) @ value


def _fused_attention(query: Tensor, key: Tensor, value: Tensor, scoring: Scoring) -> Tensor:
    added = None if scoring.bias is None else scoring.bias.cells(query.shape[2], key.shape[2]).unsqueeze(0)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=added)


@dataclass(frozen=True, eq=False)
class Modulation:
    """A head's map compared with plain self-attention on the same input, and the bilinear form of the head.

    `plain` is softmax(x xᵀ / √d_model), and `own` the head's map with the model's norms, positions and scale; both are
    `(length, length)`. `form` is W_Q W_Kᵀ `(d_model, d_model)`, of rank at most d_k, without the head's biases.
    `spectrum` has the d_k largest singular values of `form`, in falling order. `linear_sums` are the sums of each row's
    visible scores, which would be the sums of weights without softmax.
    """

    plain: Float[Tensor, "q_len k_len"]
    own: Float[Tensor, "q_len k_len"]
    form: Float[Tensor, "d_model d_model"]
    spectrum: Float[Tensor, " d_k"]
    linear_sums: Float[Tensor, " q_len"]

    @property
    def difference(self) -> Float[Tensor, "q_len k_len"]:
        """The head's attention map minus the map of plain self-attention."""
        return self.own - self.plain

    @property
    def moved_share(self) -> Float[Tensor, " q_len"]:
        """Share of each row's weight that the two maps put on different keys, 0 to 1 (total variation)."""
        return self.difference.abs().sum(dim=-1) / 2

    @property
    def asymmetry(self) -> float:
        """|F - Fᵀ| / 2|F| of the form F, from 0 (symmetric) to 1; a random form has about 0.71."""
        return float((self.form - self.form.T).norm() / (2 * self.form.norm()))

    @property
    def from_identity(self) -> float:
        """The smallest |F - c I| / |F| over all c, from 0 (a multiple of the identity) to 1."""
        alignment = float(self.form.diagonal().sum() / (self.form.norm() * math.sqrt(len(self.form))))
        return math.sqrt(max(0.0, 1 - alignment**2))


def modulation(
    weights: SiteWeights,
    x: Float[Tensor, "length d_model"],
    head: int,
    mask: Tensor | None = None,
) -> Modulation:
    """Compute the head's map of `x`, and softmax(x xᵀ / √d_model), under the same mask.

    `mask` is `(length, length)`, True = may attend. Raise ValueError for a head that does not exist.
    """
    if not 0 <= head < weights.n_heads:
        raise ValueError(f"There is no head {head}: this site has heads 0 to {weights.n_heads - 1}.")
    rows = weights.rows(head, weights.d_k)
    W_Q, W_K = weights.W_q[rows].T, weights.W_k[rows].T  # noqa: N806 - the paper's names
    query, key = x @ W_Q + weights.b_q[rows], x @ W_K + weights.b_k[rows]
    plain = masked_softmax(x @ x.T / math.sqrt(x.shape[-1]), mask)
    scoring = weights.scoring.head_scoring(head)
    query, key = scoring.transform(query.unsqueeze(0), key.unsqueeze(0))
    scores = scoring.add_bias(query @ key.mT / math.sqrt(weights.d_k)).squeeze(0)
    own = masked_softmax(scores, mask)
    sums = (scores if mask is None else scores.masked_fill(~mask, 0)).sum(dim=-1)
    # Singular values of W_Q W_Kᵀ, computed from the small triangular factors of both matrices.
    triangle = torch.linalg.qr(W_Q)[1] @ torch.linalg.qr(W_K)[1].T
    return Modulation(plain, own, W_Q @ W_K.T, torch.linalg.svdvals(triangle), sums)
