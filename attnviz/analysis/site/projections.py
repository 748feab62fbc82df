"""Which projections a site has, found by watching a pass: the linear maps whose results its attention was given, and
the norm, rotation, scale and bias between them and the scores.

A fused map, GPT-2's turned one, and groups of heads with the same keys come out as the four matrices that they are.
Each part is taken for a site's own only where it gives the very queries, keys and values that the attention received;
where nothing does, the site says why.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product

import torch
import torch.nn.functional as F
from torch import Tensor

from attnviz.analysis.site.hearing import Heard, Hearing, LinearMap
from attnviz.implementations.scoring import PLAIN, DistanceBias, HeadNorm, Rotation, Scoring
from attnviz.implementations.weights import SiteWeights
from attnviz.models.protocol import Model
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import AttentionCall, Probe, Site

ROUNDING = 256  # steps of float32: the same product, taken in another order
IN_TYPE = 8  # steps of the type that ran, to which product, norm and rotation are rounded one after another
_ROLES = {"query": "queries", "key": "keys", "value": "values"}


@dataclass(frozen=True)
class NotPlain:
    """Why a site is not made of four linear maps and the attention between them; `why` ends a sentence."""

    why: str


Projections = Mapping[Site, SiteWeights | NotPlain]


@torch.inference_mode()
def projections(model: Model, trace: Trace, sites: Iterable[Site]) -> Projections:
    """The four projections of each site, in float32 on the CPU, or why it has none; one pass over `trace`."""
    watch = _SiteWatch(frozenset(sites))
    with Hearing(watch.heard, watch.hear):
        model.rerun(trace, watch)
    return dict(watch.found)


def fits(weights: SiteWeights, call: AttentionCall) -> bool:
    """Whether the projections of a call's input are its query, key and value, to rounding of the type that ran."""
    if call.input_ is None or call.memory is None:
        return False
    sources, scoring = (call.input_, call.memory, call.memory), weights.scoring
    query, key, value = (
        F.linear(source.float().cpu(), weight, bias).unflatten(-1, (weights.n_heads, -1)).transpose(1, 2)
        for source, (weight, bias) in zip(sources, weights.pairs[:3], strict=True)
    )
    query, key = scoring.turned(query, key)
    ran = (call.query.float().cpu() * (call.scale * call.query.shape[3] ** 0.5), call.key, call.value)
    made = zip((query, key, value), ran, strict=True)
    return _same_bias(scoring.bias, call.bias) and all(
        one.shape == own.shape and bool((_apart(one, own.cpu()) <= _allowed(own, call.query.dtype)).all())
        for one, own in made
    )


def _same_bias(table: DistanceBias | None, bias: Tensor | None) -> bool:
    if table is None or bias is None:
        return table is None and bias is None
    cells = table.cells(*bias.shape[-2:])
    return bool((_apart(cells, bias.cpu()) <= _allowed(bias, bias.dtype)).all())


@dataclass(frozen=True, eq=False)
class _Found:
    """Weight and bias of query, key and value, a head's rows after another's; whether each has a bias."""

    pairs: list[tuple[Tensor, Tensor]]
    has_bias: tuple[bool, ...]
    scoring: Scoring


@dataclass(frozen=True, eq=False)
class _Open:
    """A site whose projections are known, and whose heads wait for the map that joins them."""

    site: Site
    n_heads: int
    found: _Found
    joined: Tensor | None = None


@dataclass
class _SiteWatch(Probe):
    """Holds what each site was given against what was computed before it, and finds the map after it."""

    sites: frozenset[Site]
    found: dict[Site, SiteWeights | NotPlain] = field(default_factory=dict)
    heard: Heard = field(default_factory=Heard)
    _open: _Open | None = None

    def hear(self, one: LinearMap) -> None:
        """A linear map was computed."""
        waiting = self._open
        if waiting is None or waiting.joined is None or not _is_same(one.input_, waiting.joined):
            self.heard.maps.append(one)
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
        """Find the maps that give query, key and value."""
        before, self._open = self.heard.forget(), None
        if site not in self.sites:
            return call
        with self.heard.off():
            found = _inputs(call, before)
        if isinstance(found, NotPlain):
            self.found[site] = found
        else:
            self.found[site] = NotPlain("no linear map joins its heads")  # unless one is heard
            self._open = _Open(site, call.query.shape[1], found)
        return call

    def on_context(self, site: Site, context: Tensor) -> Tensor:
        """What the map that joins the heads will be given."""
        if self._open is not None:
            self._open = replace(self._open, joined=context.transpose(1, 2).flatten(2))
        return context


def _inputs(call: AttentionCall, heard: Heard) -> _Found | NotPlain:
    """The maps of query, key and value, and what lies between them and the scores; or why there are none."""
    if (why := _beyond(call)) is not None:
        return NotPlain(why)
    bias = None if call.bias is None else DistanceBias.of(call.bias)
    if call.bias is not None and bias is None:
        return NotPlain("a bias of the model's own, which is not the same at each distance, is added to its scores")
    found: dict[str, _Part] = {}
    rotation: Rotation | None = None
    for role, source in (("query", call.input_), ("key", call.memory), ("value", call.memory)):
        heads, near = getattr(call, role), [one for one in heard.maps if _is_same(one.input_, source)]
        ways = _ways(heard, heads.shape[3], role, None if role == "query" else (rotation,))
        part = next((part for way, one in product(ways, near) if (part := _part(one, heads, way)) is not None), None)
        if part is None:
            return NotPlain(_why(_ROLES[role], near, heads, is_turned=bool(heard.angles)))
        found[role], rotation = part, rotation if role != "query" else part.way.rotation
    scale = call.scale * found["query"].way.factor
    return _Found(
        [part.pair for part in found.values()],
        tuple(part.has_bias for part in found.values()),
        replace(
            PLAIN,
            q_norm=found["query"].way.norm,
            k_norm=found["key"].way.norm,
            rotation=rotation,
            bias=bias,
            scale=None if abs(scale * call.query.shape[3] ** 0.5 - 1) < 1e-4 else scale,
        ),
    )


def _beyond(call: AttentionCall) -> str | None:
    """What nothing here can show of a call."""
    if call.softcap is not None:
        return f"its scores are bent by a tanh, so that none is beyond ±{call.softcap:g}"
    if call.sinks is not None:
        return "a sink of the model's own takes part of each row's weight"
    if call.mask is not None and call.mask.shape[1] > 1:
        return "its heads do not share a mask"
    if call.input_ is None or call.memory is None:
        return "nothing tells what its attention projects"
    return None


@dataclass(frozen=True, eq=False)
class _Way:
    """How a map's result may become what the attention is given."""

    norm: HeadNorm | None = None
    rotation: Rotation | None = None
    factor: float = 1.0

    def __call__(self, blocks: Tensor) -> Tensor:
        """From `(batch, length, parts, size)` to the same."""
        made = blocks if self.norm is None else self.norm(blocks)
        made = made if self.rotation is None else self.rotation(made, length_at=1)
        return made if self.factor == 1 else made * self.factor


def _ways(
    heard: Heard, size: int, role: str, rotations: tuple[Rotation | None, ...] | None
) -> Iterator[_Way]:
    """Every way that was heard of, the plain one first. Keys are rotated as the queries are, values never."""
    if role == "value":
        return iter([_Way()])
    turns = (None, *heard.rotations(size)) if rotations is None else rotations
    factors = (1.0, size**-0.5) if role == "query" else (1.0,)  # some scale their queries before they are rotated
    norms = (None, *heard.norms_of(size))
    return (_Way(norm, rotation, factor) for rotation, norm, factor in product(turns, norms, factors))


@dataclass(frozen=True, eq=False)
class _Part:
    """The rows of a map that a site's queries, keys or values are made with, and how."""

    pair: tuple[Tensor, Tensor]
    has_bias: bool
    way: _Way


def _part(one: LinearMap, heads: Tensor, way: _Way) -> _Part | None:
    """The rows of a map that give each head's part, `heads` `(batch, heads, length, size)`; None where any has none.

    Heads that share keys have the same rows, once for each.
    """
    blocks = _blocks(one, heads)
    if blocks is None:
        return None
    made, size, places = way(blocks.float().cpu()), heads.shape[3], []
    for head in heads.float().cpu().unbind(dim=1):
        off = _apart(made, head.unsqueeze(2)).amax(dim=(0, 1, 3))
        if not bool(off.min() <= _allowed(heads, heads.dtype)):
            return None
        places.append(int((off == off.min()).nonzero()[0]))
    rows = torch.cat([torch.arange(place * size, (place + 1) * size) for place in places])
    return _Part(one.pair(rows), one.bias is not None, way)


def _why(role: str, maps: list[LinearMap], heads: Tensor, *, is_turned: bool) -> str:
    """What is known of queries, keys or values that no map gives as they are."""
    for blocks in (blocks for one in maps if (blocks := _blocks(one, heads)) is not None):
        lengths, own = blocks.norm(dim=-1), heads.norm(dim=-1).transpose(1, 2)
        near = (_apart(lengths.unsqueeze(2), own.unsqueeze(3)) <= 1e-4 * own.max()).flatten(0, 1).all(dim=0)
        if is_turned and bool(near.any(dim=1).all()):
            return f"its {role} are turned by their positions, but not by the angles that the model computed"
    return f"its {role} are no linear map of what goes in: something is done to them after W_q, W_k and W_v"


def _blocks(one: LinearMap, heads: Tensor) -> Tensor | None:
    """What a map made, cut into parts of a head's size: `(batch, length, parts, size)`."""
    batch, _, length, size = heads.shape
    if one.made.shape[-1] % size or one.made.numel() != batch * length * one.made.shape[-1]:
        return None
    return one.made.reshape(batch, length, -1, size)


def _is_same(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors hold the same numbers, whatever axes a map was called with."""
    return (
        one.numel() == other.numel()
        and one.shape[-1] == other.shape[-1]
        and torch.equal(one.reshape(other.shape), other)
    )


def _apart(one: Tensor, other: Tensor) -> Tensor:
    return (one.float() - other.float()).abs()


def _allowed(ran: Tensor, dtype: torch.dtype) -> float:
    steps = ROUNDING * torch.finfo(torch.float32).eps + (IN_TYPE * torch.finfo(dtype).eps)
    return steps * max(1.0, float(ran.abs().max()))
