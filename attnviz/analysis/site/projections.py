"""Which projections a site has, found by watching a pass: the linear maps whose results its attention was given.

Nothing is known of how a model names or stores them. A fused map, GPT-2's turned one, and groups of heads with the same
keys come out as the four matrices that they are; where a query is anything but a product, the site says why.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode

from attnviz.implementations.weights import SiteWeights
from attnviz.models.protocol import Model
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import AttentionCall, Probe, Site

ROUNDING = 256  # steps of the type that ran: the same product, taken in another order
_ROLES = {"query": "queries", "key": "keys", "value": "values"}


@dataclass(frozen=True)
class NotPlain:
    """Why a site is not made of four linear maps and the attention between them; `why` ends a sentence."""

    why: str


Projections = Mapping[Site, SiteWeights | NotPlain]


@torch.inference_mode()
def projections(model: Model, trace: Trace, sites: Iterable[Site]) -> Projections:
    """The four projections of each site, in float32 on the CPU, or why it has none; one pass over `trace`."""
    watch = _LinearWatch(frozenset(sites))
    with watch:
        model.rerun(trace, watch.probe)
    return dict(watch.probe.found)


def fits(weights: SiteWeights, call: AttentionCall) -> bool:
    """Whether the projections of a call's input are its query, key and value, to rounding of the type that ran."""
    if call.input_ is None or call.memory is None:
        return False
    sources = (call.input_, call.memory, call.memory)
    for source, (weight, bias), ran in zip(sources, weights.pairs[:3], (call.query, call.key, call.value), strict=True):
        made = F.linear(source.float().cpu(), weight, bias).unflatten(-1, (weights.n_heads, -1)).transpose(1, 2)
        if made.shape != ran.shape or not bool((_apart(made, ran.float().cpu()) <= _allowed(ran)).all()):
            return False
    return True


@dataclass(frozen=True, eq=False)
class _LinearMap:
    """One product that was computed: `made = input_ @ weight.T + bias`; weight `(out, in)`."""

    input_: Tensor
    weight: Tensor
    bias: Tensor | None
    made: Tensor


class _LinearWatch(TorchFunctionMode):
    """Hears the linear maps that this thread computes, and no other visitor's."""

    def __init__(self, sites: frozenset[Site]) -> None:
        super().__init__()
        self.probe = _SiteWatch(sites)

    def __torch_function__(self, func: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func is F.linear and not kwargs:
            self.probe.hear(_LinearMap(args[0], args[1], args[2] if len(args) > 2 else None, result))
        elif func is torch.addmm and len(args) == 3 and not kwargs:  # GPT-2's Conv1D: the bias first, the weight turned
            self.probe.hear(_LinearMap(args[1], args[2].T, args[0], result))
        return result


@dataclass(frozen=True, eq=False)
class _Open:
    """A site whose projections are known, and whose heads wait for the map that joins them."""

    site: Site
    n_heads: int
    pairs: list[tuple[Tensor, Tensor]]
    joined: Tensor | None = None


@dataclass
class _SiteWatch(Probe):
    """Holds what each site was given against the maps that were computed before it, and finds the one after it."""

    sites: frozenset[Site]
    found: dict[Site, SiteWeights | NotPlain] = field(default_factory=dict)
    _before: list[_LinearMap] = field(default_factory=list)
    _open: _Open | None = None

    def hear(self, one: _LinearMap) -> None:
        """A linear map was computed."""
        waiting = self._open
        if waiting is None or waiting.joined is None or not _is_same(one.input_, waiting.joined):
            self._before.append(one)
            return
        parts = [part for pair in (*waiting.pairs, _pair(one, slice(None))) for part in pair]
        self.found[waiting.site] = SiteWeights(waiting.n_heads, *(part.float().cpu() for part in parts))
        self._open = None

    def on_call(self, site: Site, call: AttentionCall) -> AttentionCall:
        """Find the maps that give query, key and value."""
        before, self._before, self._open = self._before, [], None
        if site not in self.sites:
            return call
        if isinstance(found := _inputs(call, before), NotPlain):
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


def _inputs(call: AttentionCall, maps: list[_LinearMap]) -> list[tuple[Tensor, Tensor]] | NotPlain:
    """Weight and bias of query, key and value, a head's rows after another's; or why there are none."""
    if call.bias is not None:
        return NotPlain("a bias of the model's own is added to its scores")
    if abs(call.scale * call.query.shape[3] ** 0.5 - 1) > 1e-4:
        return NotPlain(f"its scores are query · key × {call.scale:.4g}, and not / √d_k")
    if call.mask is not None and call.mask.shape[1] > 1:
        return NotPlain("its heads do not share a mask")
    if call.input_ is None or call.memory is None:
        return NotPlain("nothing tells what its attention projects")
    found = []
    for name, source in (("query", call.input_), ("key", call.memory), ("value", call.memory)):
        heads, near = getattr(call, name), [one for one in maps if _is_same(one.input_, source)]
        pair = next((pair for one in near if (pair := _rows(one, heads)) is not None), None)
        if pair is None:
            return NotPlain(_why(_ROLES[name], near, heads))
        found.append(pair)
    return found


def _rows(one: _LinearMap, heads: Tensor) -> tuple[Tensor, Tensor] | None:
    """The rows of a map that give each head's part, `heads` `(batch, heads, length, size)`; None where any has none.

    Heads that share keys have the same rows, once for each.
    """
    blocks = _blocks(one, heads)
    if blocks is None:
        return None
    size, places = heads.shape[3], []
    for head in heads.unbind(dim=1):
        off = (_apart(blocks, head.unsqueeze(2)) > _allowed(heads)).flatten(0, 1).any(dim=2).any(dim=0)
        if bool(off.all()):
            return None
        places.append(int((~off).nonzero()[0]))
    return _pair(one, torch.cat([torch.arange(place * size, (place + 1) * size) for place in places]))


def _why(role: str, maps: list[_LinearMap], heads: Tensor) -> str:
    """What is known of queries, keys or values that no map gives as they are."""
    for blocks in (blocks for one in maps if (blocks := _blocks(one, heads)) is not None):
        lengths, own = blocks.norm(dim=-1), heads.norm(dim=-1).transpose(1, 2)
        near = (_apart(lengths.unsqueeze(2), own.unsqueeze(3)) <= 1e-4 * own.max()).flatten(0, 1).all(dim=0)
        if bool(near.any(dim=1).all()):
            return f"its {role} are turned by their positions after they are projected (rotary positions)"
    return f"its {role} are no linear map of what goes in: something is done to them after W_q, W_k and W_v"


def _blocks(one: _LinearMap, heads: Tensor) -> Tensor | None:
    """What a map made, cut into parts of a head's size: `(batch, length, parts, size)`."""
    batch, _, length, size = heads.shape
    if one.made.shape[-1] % size or one.made.numel() != batch * length * one.made.shape[-1]:
        return None
    return one.made.reshape(batch, length, -1, size)


def _pair(one: _LinearMap, rows: Tensor | slice) -> tuple[Tensor, Tensor]:
    bias = one.weight.new_zeros(len(one.weight)) if one.bias is None else one.bias
    return one.weight[rows], bias[rows]


def _is_same(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors hold the same numbers, whatever axes a map was called with."""
    return (
        one.numel() == other.numel()
        and one.shape[-1] == other.shape[-1]
        and torch.equal(one.reshape(other.shape), other)
    )


def _apart(one: Tensor, other: Tensor) -> Tensor:
    return (one.float() - other.float()).abs()


def _allowed(ran: Tensor) -> float:
    return ROUNDING * torch.finfo(ran.dtype).eps * max(1.0, float(ran.abs().max()))
