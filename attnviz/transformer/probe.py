"""Probes: objects that observe or change a forward pass, passed as an argument of the call.

The model itself holds no hooks and no state of a run, so that one loaded model serves many visitors at once.
"""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, Literal, TypeVar

import torch
from jaxtyping import Bool
from torch import Tensor

SCORES_ONLY = "this model's scores are not simply a multiple of query · key, so only the scores are known"
Kind = Literal["encoder_self", "decoder_self", "cross"]
Stack = Literal["encoder", "decoder"]
Result = TypeVar("Result")


@dataclass(frozen=True, order=True)
class Site:
    """One place where attention is computed: its kind, and its layer counted from 0."""

    kind: Kind
    layer: int


@dataclass(frozen=True, eq=False)
class EditedWeights:
    """Weights that replace a call's own weights in some rows of some heads.

    `attn` is `(batch, heads, q_len, k_len)`; `rows` is bool `(batch, heads, q_len)`, True for rows that are replaced.
    """

    attn: Tensor
    rows: Tensor

    def merge_with(self, before: "EditedWeights | None") -> "EditedWeights":
        """Merge with earlier edits of other rows; rows edited in both keep the newer weights."""
        return self if before is None else EditedWeights(self.apply_to(before.attn), self.rows | before.rows)

    @classmethod
    def everywhere(cls, attn: Tensor) -> "EditedWeights":
        """Return an `EditedWeights` that replaces every row of every head."""
        return cls(attn, torch.ones(attn.shape[:3], dtype=torch.bool, device=attn.device))

    def apply_to(self, attn: Tensor) -> Tensor:
        """Return a call's own weights with the edited rows replaced."""
        return torch.where(self.rows.unsqueeze(-1), self.attn.to(attn.dtype), attn)

    def cut(self, item: slice, heads: slice) -> "EditedWeights":
        """Select the edits of some batch items and heads."""
        return EditedWeights(self.attn[item, heads], self.rows[item, heads])


@dataclass(frozen=True, eq=False)
class AttentionCall:
    """Everything that one attention computation depends on.

    query `(batch, heads, q_len, d_k)`; key and value `(batch, heads, k_len, d_k)`; mask bool, True = may attend, and
    bias float, both broadcastable to `(batch, heads, q_len, k_len)`; scores are `scale * query @ key^T + bias`. With
    `softcap` c, the product s becomes c * tanh(s / c) before the bias (Gemma 2). `sinks` `(1, heads, 1, 1)` are the
    scores of an attention sink, an extra column without a token and without a value; the weight on it is missing from
    the row's sum (gpt-oss). In models with an indexer that chooses the keys of each row (DeepSeek-V3.2), `chosen` is
    True for the chosen keys; `mask` already hides the others. `edited` are weights with which an intervention replaces
    the call's own.

    `input_` `(batch, q_len, d_model)` and `memory` `(batch, k_len, d_model)` are the hidden states from which query and
    key were projected (with a cache: only the part projected in this call).

    Some models compute scores that are not a multiple of query · key, so that only the scores are known. Then `d_k` is
    0, query and key are empty, and `bias` holds the scores (`has_queries` is False).
    """

    query: Tensor
    key: Tensor
    value: Tensor
    scale: float
    mask: Tensor | None = None
    bias: Tensor | None = None
    input_: Tensor | None = None
    memory: Tensor | None = None
    softcap: float | None = None
    sinks: Tensor | None = None
    chosen: Tensor | None = None
    edited: EditedWeights | None = None

    @property
    def has_queries(self) -> bool:
        """Whether query and key are known, and not only the scores."""
        return self.query.shape[-1] > 0

    def map_tensors(self, change: Callable[[Tensor], Tensor]) -> "AttentionCall":
        """Return the same call with `change` applied to every tensor."""
        changed = {name: change(part) for name, part in vars(self).items() if isinstance(part, Tensor)}
        edited = self.edited and EditedWeights(change(self.edited.attn), change(self.edited.rows))
        return replace(self, **changed, edited=edited)


class Probe:
    """Callbacks of a forward pass. This class changes nothing; subclasses override the methods that they need.

    A subclass sets `needs_gradients` if the pass must be differentiable.
    """

    needs_gradients = False

    def on_call(self, site: Site, call: AttentionCall) -> AttentionCall:
        """Return the call, or a changed copy, before attention is computed; set `edited` to change the weights."""
        return call

    def on_context(self, site: Site, context: Tensor) -> Tensor:
        """Return the context `(batch, heads, q_len, d_k)`, or a changed one, after attention and before heads are
        merged.
        """
        return context

    def on_layer(self, stack: Stack, layer: int, output: Tensor) -> Tensor:
        """Return a layer's output `(batch, length, d_model)`, or a changed one. Layer -1 is the embedding."""
        return output

    def start_at(self, start: int) -> "Probe":
        """Return the probe for a pass whose first query is at position `start`, such as a decoding step."""
        return self


_LISTENER: ContextVar[Callable[[Site], None] | None] = ContextVar("attnviz_site_listener", default=None)


@contextmanager
def listen_to_sites(listener: Callable[[Site], None]) -> Iterator[None]:
    """Call `listener` with the site of each attention call in this thread, to show the progress of a long pass.

    An exception that the listener raises ends the pass.
    """
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def tell_listener(site: Site) -> None:
    """Call this thread's listener, if any, with the site where attention is computed."""
    if (listener := _LISTENER.get()) is not None:
        listener(site)


_PATIENCE = 2.0  # seconds of work before anything is said of it


def time_left(seconds: float, done: float, total: float) -> str:
    """Return the estimated time left, such as ", about 40 s left"; "" during the first two seconds.

    `seconds` is the time that the first `done` of `total` steps took.
    """
    if seconds < _PATIENCE or not 0 < done < total:
        return ""
    left = seconds / done * (total - done)
    return f", about {left / 60:.0f} min left" if left >= 90 else f", about {max(1, round(left))} s left"


@contextmanager
def report_layers(doing: str, total: int) -> Iterator[None]:
    """Print, in a terminal or a notebook, how many of `total` layers are done and the time left.

    Nothing is printed during the first two seconds, in a script, or if a listener is set, as on a page.
    """
    if _LISTENER.get() is not None or not (sys.stderr.isatty() or "ipykernel" in sys.modules):
        yield
        return
    began, written = time.monotonic(), [0.0, 0]  # when the line was written last, and its length
    sites: dict[Site, None] = {}

    def tell(site: Site) -> None:
        sites[site] = None
        now, done = time.monotonic(), len(sites) - 1
        if now - began >= _PATIENCE and now - written[0] >= 0.5:
            line = f"{doing}: {done} of {max(total, done)} layers{time_left(now - began, done, total)}"
            sys.stderr.write(f"\r{line.ljust(int(written[1]))}")
            sys.stderr.flush()
            written[:] = now, len(line)

    try:
        with listen_to_sites(tell):
            yield
    finally:
        if written[1]:
            sys.stderr.write("\r" + " " * int(written[1]) + "\r")
            sys.stderr.flush()


def gradients_if_needed(run: Callable[..., Result]) -> Callable[..., Result]:
    """Decorate a method `run(self, of, probe=None, …)` to run without gradients, unless its probe needs them."""

    @wraps(run)
    def run_without_gradients(*given: Any, **named: Any) -> Result:
        probe: Probe | None = named["probe"] if "probe" in named else given[2] if len(given) > 2 else None
        with torch.inference_mode(probe is None or not probe.needs_gradients):
            return run(*given, **named)

    return run_without_gradients


def select_item(call: AttentionCall, item: int | None, head: int | None) -> AttentionCall:
    """Select one batch item and one head of a call; None selects all. Both axes stay, with size 1.

    If groups of heads share keys and values, those of the head's group are selected.
    """
    if head is None and (item is None or (item == 0 and len(call.query) == 1)):
        return call
    items = slice(None) if item is None else slice(item, item + 1)
    heads, groups = slice(None), slice(None)
    if head is not None:
        group = head * call.key.shape[1] // call.query.shape[1]
        heads, groups = slice(head, head + 1), slice(group, group + 1)

    def cut(tensor: Tensor | None) -> Tensor | None:
        if tensor is None:
            return None
        tensor = tensor[items] if tensor.shape[0] > 1 else tensor
        return tensor[:, heads] if tensor.shape[1] > 1 else tensor

    return replace(
        call,
        query=call.query[items, heads],
        key=call.key[items, groups],
        value=call.value[items, groups],
        mask=cut(call.mask),
        bias=cut(call.bias),
        sinks=cut(call.sinks),
        chosen=cut(call.chosen),
        edited=None if call.edited is None else call.edited.cut(items, heads),
    )


def cut_to_lengths(call: AttentionCall, q_len: int, k_len: int) -> AttentionCall:
    """Remove the padding at the end of a call: keep the first `q_len` queries and `k_len` keys."""
    if (q_len, k_len) == (call.query.shape[2], call.key.shape[2]):
        return call

    def cut(tensor: Tensor | None) -> Tensor | None:
        """Truncate the last two axes of a tensor that broadcasts to `(batch, heads, q_len, k_len)`."""
        return None if tensor is None else tensor[..., :q_len, :k_len]

    edited = call.edited
    return replace(
        call,
        query=call.query[:, :, :q_len],
        key=call.key[:, :, :k_len],
        value=call.value[:, :, :k_len],
        mask=cut(call.mask),
        bias=cut(call.bias),
        chosen=cut(call.chosen),
        input_=None if call.input_ is None else call.input_[:, :q_len],
        memory=None if call.memory is None else call.memory[:, :k_len],
        edited=None if edited is None else EditedWeights(edited.attn[..., :q_len, :k_len], edited.rows[..., :q_len]),
    )


def visible_cells(call: AttentionCall) -> Bool[Tensor, "batch heads q_len k_len"]:
    """Return True where a query may attend to a key, for every batch item and head, as a view of the stored mask."""
    shape = (*call.query.shape[:3], call.key.shape[2])
    mask = torch.ones((), dtype=torch.bool, device=call.query.device) if call.mask is None else call.mask
    return mask.expand(shape)


def bytes_kept(calls: Iterable[AttentionCall], others: Iterable[Tensor | None] = ()) -> int:
    """Return the bytes of memory that calls and other tensors use, with shared storage counted once."""
    calls = tuple(calls)
    edited = [part for call in calls if call.edited is not None for part in (call.edited.attn, call.edited.rows)]
    parts = [part for call in calls for part in vars(call).values() if part is None or isinstance(part, Tensor)]
    storages = [part.untyped_storage() for part in (*parts, *edited, *others) if part is not None]
    return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())
