"""Watch the attention of a model that does not use transformers' attention interface while the model computes it.

Such a model multiplies queries and keys, masks the scores, applies a softmax and multiplies the weights by the values,
in code of its own. A `TorchFunctionMode` sees each of these operations, in this thread only and without changing the
model. The watch makes an `AttentionCall` from them, and replaces the model's own product by the context that the
observer of the pass computes. A direct call of PyTorch's fused kernel is watched in the same way.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from attnviz.models.huggingface.errors import ModelError
from attnviz.models.huggingface.network.attention_interface import call_from_tensors
from attnviz.models.huggingface.network.forward_pass import Watcher
from attnviz.transformer.probe import AttentionCall

# A cell whose score is at or below this is hidden. GPT-1 adds -10,000 to hide a cell, other models the lowest number
# of the dtype; learned scores stay far above.
_HIDDEN = -5_000.0
_PRODUCTS = frozenset({"matmul", "__matmul__", "bmm", "einsum", "baddbmm"})
_MASKING = frozenset({"masked_fill", "where", "add", "__add__", "__radd__", "sub", "__sub__"})
_MASKING_IN_PLACE = frozenset({"masked_fill_", "add_", "__iadd__", "sub_", "__isub__"})
# Operations that do not change a tensor's values. Dropout does not in evaluation mode.
_PASSING = frozenset({"dropout", "view", "reshape", "to", "type_as", "float", "half", "bfloat16", "contiguous"})
_ROUNDING = 32  # allowed difference, in units in the last place of the largest score
_OTHER_ORDER = (
    "The model computed its attention layers in a different order than when it was loaded, so attnviz "
    "cannot tell which map belongs to which layer."
)

Running = tuple[nn.Module, Tensor | None]


@dataclass(frozen=True)
class WatchedSite:
    """One attention call of a watched pass: the module that computes it, and the scale of query · key.

    The scale is None if the scores are not a multiple of query · key. `is_length_first` marks XLNet and FSMT, whose
    tensors have the length as their first axis.
    """

    module: nn.Module
    scale: float | None
    is_length_first: bool = False


@dataclass(frozen=True, eq=False)
class _Softmax:
    """A softmax whose weights no product has used yet.

    `unmasked` are the scores before the mask, if a mask was seen; `products` are the factors of each earlier product
    with the scores' shape; `running` are the modules that ran at that time.
    """

    scores: Tensor
    unmasked: Tensor | None
    products: tuple[tuple[Tensor, Tensor], ...]
    running: tuple[Running, ...]


@dataclass
class _Tracked:
    """Tensors of a pass that the watch tracks by id; they are kept alive so that no other tensor gets the same id."""

    softmaxes: dict[int, tuple[Tensor, _Softmax]] = field(default_factory=dict)
    unmasked: dict[int, tuple[Tensor, Tensor]] = field(default_factory=dict)
    products: list[tuple[Tensor, Tensor]] = field(default_factory=list)


class SoftmaxWatch(TorchFunctionMode):
    """Watch one pass over `batch` texts whose attention the observer `run` computes.

    `sites` are the calls of the pass in order, as recorded on loading. Without `sites`, the watch finds them itself;
    `running` then holds the modules that are currently running, with their first inputs, the innermost last.
    """

    def __init__(
        self, run: Watcher, batch: int, sites: tuple[WatchedSite, ...] | None = None,
        running: list[Running] | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.run, self.batch, self.sites, self.running = run, batch, sites, running
        self.found: list[WatchedSite] = []
        self._tracked = _Tracked()

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Compute one operation of the model; if it is attention, let the observer compute it."""
        kwargs, name = kwargs or {}, getattr(func, "__name__", "")
        if name == "scaled_dot_product_attention":
            return self._attend_fused(*args, **kwargs)
        if name in _PRODUCTS and (context := self._take_product(name, args, kwargs)) is not None:
            return context
        base = _scores_among(args) if name in _MASKING or name in _MASKING_IN_PLACE else None
        before = base.clone() if base is not None and name in _MASKING_IN_PLACE else base
        out = func(*args, **kwargs)
        if name == "softmax":
            self._note_softmax(args, kwargs, out)
        elif name in _PASSING:
            self._pass_on(func, args, kwargs, out)
        elif base is not None and before is not None:
            self._note_mask(base, before, out)
        return out

    def require_all(self) -> None:
        """Raise ModelError unless the pass computed the same number of calls as on loading."""
        if self.sites is not None and len(self.found) != len(self.sites):
            raise ModelError(_OTHER_ORDER)

    def _note_softmax(self, args: tuple, kwargs: dict[str, Any], out: Tensor) -> None:
        """Track the result of a softmax over the last of three or more axes."""
        scores = args[0] if args else kwargs["input"]
        dim = args[1] if len(args) > 1 else kwargs.get("dim")
        if scores.dim() >= 3 and dim in (-1, scores.dim() - 1):
            shape = scores.shape[-2:]
            products = tuple(
                (left, right) for left, right in self._tracked.products
                if (left.shape[-2], right.shape[-1]) == shape and left.shape[:-2].numel() == scores.shape[:-2].numel()
            )  # fmt: skip
            unmasked = self._tracked.unmasked.get(id(scores))
            before = None if unmasked is None else unmasked[1]
            made = _Softmax(scores, before, products, tuple(self.running or ()))
            self._tracked.softmaxes[id(out)] = out, made

    def _pass_on(self, func: Callable[..., Any], args: tuple, kwargs: dict[str, Any], out: Any) -> None:
        """Track a tensor that has the values of a tracked one in another shape or dtype."""
        if not args:
            return
        if (found := self._tracked.softmaxes.get(id(args[0]))) is not None:
            self._tracked.softmaxes[id(out)] = out, found[1]
        if (masked := self._tracked.unmasked.get(id(args[0]))) is not None and out is not args[0]:
            self._tracked.unmasked[id(out)] = out, func(masked[1], *args[1:], **kwargs)

    def _note_mask(self, base: Tensor, before: Tensor, out: Tensor) -> None:
        """If an operation has masked scores, track its result together with the scores before the mask."""
        known = self._tracked.unmasked.get(id(base))
        if out.shape == before.shape and (known is not None or _hides(out)):
            self._tracked.unmasked[id(out)] = out, before if known is None else known[1]

    def _take_product(self, name: str, args: tuple, kwargs: dict[str, Any]) -> Tensor | None:
        """Compute the product of tracked weights with values; for any other product, track it and return None."""
        equation, left, right = _factors(name, args, kwargs)
        if left is None or right is None:
            return None
        found = self._tracked.softmaxes.get(id(left))
        if found is None:
            if not equation and left.dim() in (3, 4) and right.dim() == left.dim():
                self._tracked.products.append((left, right))
            return None
        if left.dim() > 4:
            raise ModelError(f"it also attends with weights of {left.dim()} axes, which no map can show")
        value, finish = _values(equation, left, right)
        if value is None or not self._is_of_batch(found[1].scores):
            return None
        made = self._attend_scores(found[1], value)
        self._tracked = _Tracked()
        return finish(made).to(right.dtype)

    def _is_of_batch(self, scores: Tensor) -> bool:
        """Check whether the first axis is the batch, alone or combined with the heads."""
        return scores.shape[0] == self.batch if scores.dim() == 4 else scores.shape[0] % self.batch == 0

    def _attend_scores(self, softmax: _Softmax, value: Tensor) -> Tensor:
        """Compute the context `(batch, heads, q_len, d_v)` for the weights of a softmax."""
        scores = self._unfold(softmax.scores)
        visible, heads = scores > _HIDDEN, scores.shape[1]
        value = self._unfold(value).expand(-1, heads, -1, -1)
        site = self._next_site()
        scale = None if site is not None and site.scale is None else _fit_scale(self._pair(softmax), scores, visible)
        if site is None:
            site = self._running_site(scale, softmax.running)
        self.found.append(site)
        mask = _shared_by_heads(visible)
        if scale is not None:
            query, key = (part.to(value.dtype).expand(-1, heads, -1, -1) for part in self._pair(softmax))
            call = AttentionCall(query, key, value, scale if site.scale is None else site.scale, mask)
        else:
            call = _call_by_scores(scores, softmax.unmasked, value, mask, self._unfold)
        return self.run.attend(site.module, call)

    def _pair(self, softmax: _Softmax) -> tuple[Tensor, ...]:
        """Return query and key of a softmax that follows exactly one product, otherwise an empty tuple."""
        if len(softmax.products) != 1:
            return ()
        query, key = map(self._unfold, softmax.products[0])
        return query, key.transpose(-2, -1)

    def _attend_fused(
        self, query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0,
        is_causal: bool = False, scale: float | None = None, **rest: Any,
    ) -> Tensor:  # fmt: skip
        """Compute a call of PyTorch's fused kernel."""
        if is_causal:
            shape = query.shape[-2], key.shape[-2]
            attn_mask = torch.ones(shape, dtype=torch.bool, device=query.device).tril()[None, None]
        call = call_from_tensors((query, key, value), attn_mask, {"scaling": scale, "dropout": dropout_p})
        site = self._next_site() or self._running_site(call.scale, tuple(self.running or ()))
        self.found.append(site)
        self._tracked = _Tracked()
        return self.run.attend(site.module, call)

    def _next_site(self) -> WatchedSite | None:
        """Return the site of the next attention call, as recorded on loading; None while the model is being loaded."""
        if self.sites is None:
            return None
        if len(self.found) >= len(self.sites):
            raise ModelError(_OTHER_ORDER)
        return self.sites[len(self.found)]

    def _running_site(self, scale: float | None, since: tuple[Running, ...]) -> WatchedSite:
        """Return a site for the innermost module that is running now and was already running at the softmax."""
        module, input_ = [now for now, then in zip(self.running or (), since, strict=False) if now is then][-1]
        is_turned = input_ is not None and input_.dim() == 3 and input_.shape[0] != self.batch == input_.shape[1]
        return WatchedSite(module, scale, is_turned)

    def _unfold(self, tensor: Tensor) -> Tensor:
        """Return a tensor with a separate axis for the heads."""
        return tensor if tensor.dim() == 4 else tensor.unflatten(0, (self.batch, -1))


@contextmanager
def modules_running(model: nn.Module) -> Iterator[list[Running]]:
    """Yield a list that always holds the modules of `model` that are running, with their first inputs, the innermost
    last.
    """
    running: list[Running] = []

    def enter(module: nn.Module, args: tuple, kwargs: dict[str, Any]) -> None:
        given = [part for part in (*args, *kwargs.values()) if isinstance(part, Tensor)]
        running.append((module, given[0] if given else None))

    def leave(module: nn.Module, args: tuple, output: Any) -> None:
        running.pop()

    hooks = [module.register_forward_pre_hook(enter, with_kwargs=True) for module in model.modules()]
    hooks += [module.register_forward_hook(leave) for module in model.modules()]
    try:
        yield running
    finally:
        for hook in hooks:
            hook.remove()


def _factors(name: str, args: tuple, kwargs: dict[str, Any]) -> tuple[str, Tensor | None, Tensor | None]:
    """Return an einsum's equation ("" for another product) and both factors."""
    if name == "einsum":
        equation, *parts = args
        parts = parts[0] if len(parts) == 1 and isinstance(parts[0], list | tuple) else parts
        return (equation, *parts) if len(parts) == 2 else (equation, None, None)
    if name == "baddbmm":
        args, kwargs = args[1:], {key: kwargs[key] for key in ("batch1", "batch2") if key in kwargs}
    parts = [part for part in (*args, *kwargs.values()) if isinstance(part, Tensor)]
    return ("", parts[0], parts[1]) if len(parts) >= 2 else ("", None, None)


def _values(equation: str, left: Tensor, right: Tensor) -> tuple[Tensor | None, Callable[[Tensor], Tensor]]:
    """Return the values of a product as `([batch,] heads, k_len, d_v)`, and a function that reshapes the context.

    The function turns the context `(batch, heads, q_len, d_v)` into the product's own shape. The values are None for a
    product that is not a weighted mean over keys.
    """
    if not equation:
        fits = right.dim() == left.dim() and left.shape[-1] == right.shape[-2]
        return (right if fits else None), (lambda made: made) if left.dim() == 4 else (lambda made: made.flatten(0, 1))
    factors, _, result = equation.replace(" ", "").partition("->")
    weights, _, values = factors.partition(",")
    width = [letter for letter in values if letter not in weights]
    if len(weights) != 4 or len(width) != 1 or weights[3] not in values or weights[3] in result:
        return None, lambda made: made
    order = f"{weights[:2]}{weights[3]}{width[0]}"
    return torch.einsum(f"{values}->{order}", right), lambda made: torch.einsum(
        f"{weights[:3]}{width[0]}->{result}", made
    )


def _fit_scale(pair: tuple[Tensor, ...], scores: Tensor, visible: Tensor) -> float | None:
    """Return the factor between query · key and the visible scores, or None if the scores are not a multiple."""
    if not pair:
        return None
    query, key = pair
    seen = scores.detach().double()[visible]
    product = (query.detach().double() @ key.detach().double().transpose(-2, -1)).expand_as(scores)[visible]
    unit = max(torch.finfo(part.dtype).eps for part in (scores, query, key))
    found = float((product * seen).sum() / (product * product).sum().clamp(min=torch.finfo(torch.double).tiny))
    plain = 1 / math.sqrt(query.shape[-1])
    scale = next((exact for exact in (plain, 1.0) if abs(found / exact - 1) <= max(1e-5, 8 * unit)), found)
    is_multiple = bool((seen - scale * product).abs().max() <= _ROUNDING * unit * seen.abs().max())
    return scale if is_multiple and scale > 0 else None


def _call_by_scores(
    scores: Tensor, unmasked: Tensor | None, value: Tensor, mask: Tensor | None, unfold: Callable[[Tensor], Tensor]
) -> AttentionCall:
    """Return a call of which only the scores are known. Raises ModelError if scores of hidden cells are unknown."""
    if mask is not None:
        before = None if unmasked is None else unfold(unmasked)
        if before is None or not bool(((before == scores) | ~mask).all()):
            raise ModelError("The scores that the model's mask hides cannot be read.")
        scores = before
    query = value.new_zeros((*scores.shape[:3], 0))
    key = value.new_zeros((*value.shape[:3], 0))
    return AttentionCall(query, key, value, 1.0, mask, bias=scores)


def _scores_among(args: tuple) -> Tensor | None:
    """Return the first argument that can be attention scores."""
    return next(
        (part for part in args if isinstance(part, Tensor) and part.is_floating_point() and part.dim() >= 3), None
    )


def _hides(scores: Tensor) -> bool:
    return scores.is_floating_point() and scores.numel() > 0 and bool(scores.amin() <= _HIDDEN)


def _shared_by_heads(visible: Tensor) -> Tensor | None:
    """Return the mask with one axis for all heads if they share it; None if the mask hides nothing."""
    if bool(visible.all()):
        return None
    first = visible[:, :1]
    return first if bool((visible == first).all()) else visible
