"""A site's projections, found by observing a pass: the linear maps that make queries, keys, values and output.

Also the norm, rotation, scale and bias between them and the scores. A fused map, GPT-2's transposed map, and head
groups that share keys are returned as four matrices. A part is accepted only if it reproduces exactly the queries, keys
and values that the attention received; otherwise the result is the reason.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product

import torch
import torch.nn.functional as F
from torch import Tensor

from attnviz.analysis.op_trace import LinearMap, OpRecorder, OpTrace
from attnviz.implementations.scoring import DistanceBias, HeadNorm, Rotation, Scoring
from attnviz.implementations.weights import SiteWeights
from attnviz.models.protocol import Model
from attnviz.tracing.trace import Trace
from attnviz.transformer.device import rounding_unit
from attnviz.transformer.probe import SCORES_ONLY, AttentionCall, Probe, Site

ROUNDING = 256  # allowed difference in float32 epsilons, for products summed in another order
IN_TYPE = 8  # the same in epsilons of the run's dtype, for product, norm and rotation
_ROLES = {"query": "queries", "key": "keys", "value": "values"}


@dataclass(frozen=True, eq=False)
class Change:
    """The operations between a linear map's output and the attention's input."""

    norm: HeadNorm | None = None
    rotation: Rotation | None = None
    factor: float = 1.0

    def __call__(self, blocks: Tensor) -> Tensor:
        """Apply the norm, the rotation and the factor to tensors `(batch, length, parts, size)`; the shape stays the
        same.
        """
        made = blocks if self.norm is None else self.norm(blocks)
        made = made if self.rotation is None else self.rotation(made, length_at=1)
        return made if self.factor == 1 else made * self.factor


def changes_to(ops: OpTrace, size: int, role: str, rotations: tuple[Rotation | None, ...] | None) -> Iterator[Change]:
    """Yield every combination of recorded operations that may lie between a linear map and the attention, the empty one
    first.

    Keys are rotated like the queries, values never.
    """
    if role == "value":
        return iter([Change()])
    turns = (None, *ops.rotations(size)) if rotations is None else rotations
    factors = (1.0, size**-0.5) if role == "query" else (1.0,)  # some models scale queries before rotating them
    norms = (None, *ops.norms_of(size))
    return (Change(norm, rotation, factor) for rotation, norm, factor in product(turns, norms, factors))


@dataclass(frozen=True, eq=False)
class Projected:
    """The rows of a linear map that make a site's queries, keys or values, and the operations that follow."""

    pair: tuple[Tensor, Tensor]
    has_bias: bool
    change: Change


def match_projection(one: LinearMap, heads: Tensor, change: Change) -> Projected | None:
    """Find the rows of a linear map that produce each head's part; None if a head has none.

    `heads` is `(batch, heads, length, size)`. For heads that share keys, the same rows are repeated.
    """
    blocks = _blocks(one, heads)
    if blocks is None:
        return None
    made, size, places = change(blocks.float().cpu()), heads.shape[3], []
    for head in heads.float().cpu().unbind(dim=1):
        off = difference(made, head.unsqueeze(2)).amax(dim=(0, 1, 3))
        if not bool(off.min() <= allowed_difference(heads, heads.dtype)):
            return None
        places.append(int((off == off.min()).nonzero()[0]))
    rows = torch.cat([torch.arange(place * size, (place + 1) * size) for place in places])
    return Projected(one.pair(rows), one.bias is not None, change)


def mismatch_reason(role: str, maps: list[LinearMap], heads: Tensor, *, is_turned: bool) -> str:
    """Return a sentence that says why no linear map was found that produces the queries, keys or values."""
    for blocks in (blocks for one in maps if (blocks := _blocks(one, heads)) is not None):
        lengths, own = blocks.norm(dim=-1), heads.norm(dim=-1).transpose(1, 2)
        near = (difference(lengths.unsqueeze(2), own.unsqueeze(3)) <= 1e-4 * own.max()).flatten(0, 1).all(dim=0)
        if is_turned and bool(near.any(dim=1).all()):
            return f"its {role} are turned by their positions, but not by the angles that the model computed"
    return f"its {role} are not a linear map of the site's input, because something changes them after W_q, W_k and W_v"


def _blocks(one: LinearMap, heads: Tensor) -> Tensor | None:
    """Split a map's output into parts of the head size: `(batch, length, parts, size)`."""
    batch, _, length, size = heads.shape
    if one.made.shape[-1] % size or one.made.numel() != batch * length * one.made.shape[-1]:
        return None
    return one.made.reshape(batch, length, -1, size)


def is_same(one: Tensor, other: Tensor) -> bool:
    """Return whether two tensors have the same values, regardless of leading dimensions."""
    return (
        one.numel() == other.numel()
        and one.shape[-1] == other.shape[-1]
        and torch.equal(one.reshape(other.shape), other)
    )


def difference(one: Tensor, other: Tensor) -> Tensor:
    """Return |one - other| in float32."""
    return (one.float() - other.float()).abs()


def allowed_difference(ran: Tensor, dtype: torch.dtype, device: str = "cpu") -> float:
    """Return the allowed difference between a value recomputed in float32 and the value of a pass in `dtype` on that
    type of device, which may multiply in TF32.
    """
    steps = ROUNDING * torch.finfo(torch.float32).eps + IN_TYPE * rounding_unit(dtype, device)
    return steps * max(1.0, float(ran.abs().max()))


@dataclass(frozen=True)
class NotPlain:
    """Why a site does not consist of four linear maps with plain attention between them; `why` ends a sentence."""

    why: str


Projections = Mapping[Site, SiteWeights | NotPlain]


@torch.inference_mode()
def projections(model: Model, trace: Trace, sites: Iterable[Site]) -> Projections:
    """Find the four projections of each site, in float32 on the CPU, or the reason why there are none, in one
    pass over `trace`.
    """
    watch = _SiteWatch(frozenset(sites))
    with OpRecorder(watch.ops, watch.record):
        model.rerun(trace, watch)
    return dict(watch.found)


def fits(weights: SiteWeights, call: AttentionCall, device: str = "cpu") -> bool:
    """Return whether the projections reproduce a call's query, key and value, up to rounding in the dtype of
    the run, on that type of device.
    """
    if call.input_ is None or call.memory is None:
        return False
    sources, scoring = (call.input_, call.memory, call.memory), weights.scoring
    query, key, value = (
        F.linear(source.float().cpu(), weight, bias).unflatten(-1, (weights.n_heads, -1)).transpose(1, 2)
        for source, (weight, bias) in zip(sources, weights.pairs[:3], strict=True)
    )
    query, key = scoring.transform(query, key)
    ran = (call.query.float().cpu() * (call.scale * call.query.shape[3] ** 0.5), call.key, call.value)
    made = zip((query, key, value), ran, strict=True)
    dtype = call.query.dtype
    return _same_bias(scoring.bias, call.bias) and all(
        one.shape == own.shape and bool((difference(one, own.cpu()) <= allowed_difference(own, dtype, device)).all())
        for one, own in made
    )


def _same_bias(table: DistanceBias | None, bias: Tensor | None) -> bool:
    if table is None or bias is None:
        return table is None and bias is None
    cells = table.cells(*bias.shape[-2:])
    return bool((difference(cells, bias.cpu()) <= allowed_difference(bias, bias.dtype)).all())


@dataclass(frozen=True, eq=False)
class _Found:
    """Weight and bias of query, key and value, with heads in order, and whether each has a bias."""

    pairs: list[tuple[Tensor, Tensor]]
    has_bias: tuple[bool, ...]
    scoring: Scoring


@dataclass(frozen=True, eq=False)
class _Open:
    """A site whose projections are known, but not yet the output map that joins its heads."""

    site: Site
    n_heads: int
    found: _Found
    joined: Tensor | None = None


@dataclass
class _SiteWatch(Probe):
    """Probe that matches each site's inputs with the linear maps before it, and finds the output map after it."""

    sites: frozenset[Site]
    found: dict[Site, SiteWeights | NotPlain] = field(default_factory=dict)
    ops: OpTrace = field(default_factory=OpTrace)
    _open: _Open | None = None

    def record(self, one: LinearMap) -> None:
        """Record a linear map that was computed."""
        waiting = self._open
        if waiting is None or waiting.joined is None or not is_same(one.input_, waiting.joined):
            self.ops.maps.append(one)
            return
        parts = [part for pair in (*waiting.found.pairs, one.pair(slice(None))) for part in pair]
        self.found[waiting.site] = SiteWeights(
            waiting.n_heads,
            *(part.float().cpu() for part in parts),
            scoring=waiting.found.scoring,
            has_bias=(*waiting.found.has_bias, one.bias is not None),
        )
        self._open = None

    def on_call(self, site: Site, call: AttentionCall) -> AttentionCall:
        """Find the linear maps that produce query, key and value."""
        before, self._open = self.ops.take(), None
        if site not in self.sites:
            return call
        with self.ops.pause():
            found = _inputs(call, before)
        if isinstance(found, NotPlain):
            self.found[site] = found
        else:
            self.found[site] = NotPlain("no linear map joins its heads")  # replaced once an output map is recorded
            self._open = _Open(site, call.query.shape[1], found)
        return call

    def on_context(self, site: Site, context: Tensor) -> Tensor:
        """Remember the heads' context of a site, because it is the input of the site's output map."""
        if self._open is not None:
            self._open = replace(self._open, joined=context.transpose(1, 2).flatten(2))
        return context


def _inputs(call: AttentionCall, ops: OpTrace) -> _Found | NotPlain:
    """Find the linear maps of query, key and value, and the steps between them and the scores, or the reason
    why there are none.
    """
    if (why := _unsupported_reason(call)) is not None:
        return NotPlain(why)
    bias = None if call.bias is None else DistanceBias.from_cells(call.bias)
    if call.bias is not None and bias is None:
        return NotPlain("the model's own bias, which is not the same at each distance, is added to its scores")
    parts = _parts(call, ops)
    if isinstance(parts, NotPlain):
        return parts
    query, key, _ = parts
    scale = call.scale * query.change.factor
    own_scale = None if abs(scale * call.query.shape[3] ** 0.5 - 1) < 1e-4 else scale
    scoring = Scoring(query.change.norm, key.change.norm, query.change.rotation, bias, own_scale)
    return _Found([part.pair for part in parts], tuple(part.has_bias for part in parts), scoring)


def _parts(call: AttentionCall, ops: OpTrace) -> list[Projected] | NotPlain:
    """Find the linear maps of query, key and value, each with the operations that follow it."""
    found: list[Projected] = []
    for name, source in (("query", call.input_), ("key", call.memory), ("value", call.memory)):
        heads = getattr(call, name)
        near = [one for one in ops.maps if source is not None and is_same(one.input_, source)]
        changes = changes_to(ops, heads.shape[3], name, (found[0].change.rotation,) if found else None)
        part = next(
            (
                part
                for change, one in product(changes, near)
                if (part := match_projection(one, heads, change)) is not None
            ),
            None,
        )
        if part is None:
            return NotPlain(mismatch_reason(_ROLES[name], near, heads, is_turned=bool(ops.angles)))
        found.append(part)
    return found


def _unsupported_reason(call: AttentionCall) -> str | None:
    """Return why the projections of an attention call cannot be shown; None if they can."""
    if not call.has_queries:
        return SCORES_ONLY
    if call.softcap is not None:
        return f"its scores go through a tanh, so none is beyond ±{call.softcap:g}"
    if call.sinks is not None:
        return "the model's own sink takes part of each row's weight"
    if call.mask is not None and call.mask.shape[1] > 1:
        return "its heads do not share a mask"
    if call.input_ is None or call.memory is None:
        return "the inputs of its projections are not known"
    return None
