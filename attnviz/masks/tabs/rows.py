"""The tab "Row by row" of Masks: the target grows, and the earlier rows of the context stay or change."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from jaxtyping import Float
from torch import Tensor

from attnviz.analysis.fills import one_head
from attnviz.kit.fields import PageState, whole_number
from attnviz.masks.figures.tables import equation, matrix
from attnviz.masks.masks import MaskBench
from attnviz.text.entries import token_texts
from attnviz.transformer import masks
from attnviz.transformer.attention import call_attn, context
from attnviz.transformer.probe import AttentionCall, Kind

LABEL = "Tokens that have arrived"
SHOWN_DIMENSIONS = 3
MOST_ROWS = 6
NOT_IN_CROSS = (
    "This tab does not apply to cross-attention, because there all values come from the source and "
    "exist from the start. It shows the same layer and head of decoder self-attention instead."
)


@dataclass(frozen=True, eq=False)
class Stage:
    """Attention over the first n positions only: `attn` `(n, n)`, `value` and `context` `(n, d_k)`; context =
    attn · value.
    """

    attn: Float[Tensor, "n n"]
    value: Float[Tensor, "n d_k"]
    context: Float[Tensor, "n d_k"]


def stage(call: AttentionCall, n: int, *, causal: bool) -> Stage:
    """Compute one head's attention over its first `n` positions, with a causal mask or without a mask."""
    cut = replace(
        call,
        query=call.query[:, :, :n].float(),
        key=call.key[:, :, :n].float(),
        value=call.value[:, :, :n].float(),
        mask=masks.causal(n, device=call.query.device).unsqueeze(1) if causal else None,
        bias=None if call.bias is None else call.bias[..., :n, :n],
    )
    attn = call_attn(cut)
    return Stage(attn[0, 0].cpu(), cut.value[0, 0].cpu(), context(attn, cut.value)[0, 0].cpu())


def first_row_moved(earlier: Stage, later: Stage) -> float:
    """Return the maximum |Δ| of the earlier stage's context rows when more positions arrive."""
    return float((later.context[: len(earlier.context)] - earlier.context).abs().amax())


@dataclass(frozen=True)
class RowsState(PageState):
    """The number of target tokens that have arrived."""

    arrived: int = whole_number(2, 100)


@dataclass(frozen=True, eq=False)
class GrowingTarget:
    """One head's attention call and its tokens, of which the first `count` have arrived."""

    call: AttentionCall
    names: list[str]
    count: int
    caption: str

    @property
    def most(self) -> int:
        """The largest number of target tokens that can have arrived."""
        return min(MOST_ROWS, len(self.names))

    @property
    def arrivals(self) -> list[str]:
        """A label for each possible number of arrived tokens, from 1, with the tokens."""
        return [f"{count}: {' '.join(self.names[:count])}" for count in range(1, self.most + 1)]

    def drawn(self) -> Iterator[str]:
        """Yield the equation as HTML with and without the causal mask, each with what happens to earlier rows."""
        for title, causal in (("With the causal mask", True), ("Without a mask", False)):
            now = stage(self.call, self.count, causal=causal)
            moved = _earlier_rows_moved(self.call, now, causal=causal)
            yield f"<h4 class='room'>{title}</h4>" + _equation(now, self.names, causal=causal) + moved


def growing_target(bench: MaskBench, arrived: int) -> GrowingTarget:
    """Return the chosen head's attention as a target whose tokens arrive one by one.

    For cross-attention, it is the same head of decoder self-attention.
    """
    view = bench.view
    kind: Kind = "decoder_self" if view.kind == "cross" else view.kind
    call = one_head(bench.trace.call(kind, view.layer), view.head, view.item)
    names = token_texts(bench.trace.query_tokens(kind, view.item))
    caption = (
        f"A′ contains the attention weights of L{view.layer} H{view.head}. V contains the values and O "
        f"the outputs of this head, each with the first {SHOWN_DIMENSIONS} of {call.value.shape[-1]} "
        "dimensions. Each row of O is the same row of A′ multiplied by V. Masked cells are 0."
    )
    return GrowingTarget(call, names, min(max(arrived, 1), MOST_ROWS, len(names)), caption)


def _equation(now: Stage, names: list[str], *, causal: bool) -> str:
    n = len(now.attn)
    hidden = [(row, col) for row in range(n) for col in range(row + 1, n)] if causal else []
    part = slice(0, SHOWN_DIMENSIONS)
    return equation(
        matrix("O", now.context[:, part].tolist(), rows=[f"o{i + 1}  {names[i]}" for i in range(n)]),
        "=",
        matrix("A′", now.attn.tolist(), quiet=hidden),
        "·",
        matrix("V", now.value[:, part].tolist(), rows=[f"v{i + 1}  {names[i]}" for i in range(n)]),
    )


def _earlier_rows_moved(call: AttentionCall, now: Stage, *, causal: bool) -> str:
    count = len(now.attn)
    if count == 1:
        weight = f"{float(now.attn[0, 0]):.4g}"
        return f"<div class='verdict'>One value only: o₁ = {weight} · v₁. Add the next token.</div>"
    moved = first_row_moved(stage(call, count - 1, causal=causal), now)
    kept = "stay" if moved < 1e-6 else "change"
    told = f"When v{count} arrives, the earlier rows of O <b>{kept}</b>: max |Δ| = {moved:.3g}."
    return f"<div class='verdict'>{told}</div>"
