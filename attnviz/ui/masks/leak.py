"""The rooms that show why a decoder is masked: the leak test, and its derivation row by row."""

import html
from dataclasses import dataclass

import streamlit as st

from attnviz.analysis.masks.fills import one_head
from attnviz.analysis.masks.leakage import Leak, first_item, leak_test
from attnviz.analysis.masks.row_by_row import Stage, first_row_moved, stage
from attnviz.pictures.fields import PageState, text, whole
from attnviz.pictures.masks import MAX_SECOND
from attnviz.text.display import display_token
from attnviz.text.entries import token_texts
from attnviz.text.glossary import definitions
from attnviz.text.tokens import Token
from attnviz.transformer.probe import AttentionCall
from attnviz.ui import charts, layout
from attnviz.ui.address.widgets import select, text_field
from attnviz.ui.masks.experiment import MaskExperiment
from attnviz.views.masks.figures import leak_figure, leak_table
from attnviz.views.masks.matrices import equation, matrix, vector

SHOWN_DIMENSIONS = 3
MOST_ROWS = 6


@dataclass(frozen=True)
class LeakState(PageState):
    """The target token that is replaced, and the text whose first token replaces it."""

    at: int | None = whole()
    instead: str = text(limit=MAX_SECOND)


@dataclass(frozen=True)
class RowsState(PageState):
    """The number of target tokens that have arrived."""

    arrived: int = whole(2, 100)


def leak(bench: MaskExperiment) -> LeakState:
    """Replace one target token and draw which positions change, with the causal mask and without."""
    view = layout.state_in_address(LeakState)
    _leak(bench, view)
    return view


def _leak(bench: MaskExperiment, view: LeakState) -> None:
    trace = first_item(bench.trace)
    if "decoder_self" not in trace.kinds:
        st.html("<div class='verdict'>This model has no decoder, so it does not write from left to right.</div>")
        return
    ins = trace.query_tokens("decoder_self")
    names = token_texts(ins)
    asked = view.at
    at = asked if asked is not None and asked < len(ins) else max(1, len(ins) // 2) if len(ins) > 1 else 0
    left, right = st.columns(2, gap="small")
    with left:
        label = "Replace target token"
        select(
            "at",
            label,
            range(len(ins)),
            at,
            lambda index: f"{index}: {names[index]}",
            means=definitions("Masks")[label],
        )
    with right:
        replacement = _replacement(bench, view.instead, at)
    masked, unmasked = layout.run_or_refuse(lambda: leak_test(bench.model, trace, at, replacement))
    cases = [("with the model's own mask", masked), ("without any mask", unmasked)]
    changes = [(name, one.change.numpy()) for name, one in cases]
    said = _leak_sentence(masked, unmasked, is_same=replacement.id == ins[at].id)
    st.html(f"<div class='verdict' role='status'>{said}</div>")
    made = leak_figure(changes, names, at, theme=charts.theme())
    charts.show(made, key="leak", table=lambda: leak_table(changes, names))
    st.html(f"<div class='vectors'>{_encodings(cases, ins, replacement)}</div>")


def _replacement(bench: MaskExperiment, other: str, at: int) -> Token:
    empty = "empty: another token of the target"
    label = "by the first token of"
    text_field("instead", label, other, limit=MAX_SECOND, empty=empty, help_text=definitions("Masks")[label])
    trace = bench.trace
    pieces = bench.model.encode_target(other, to=trace.to) if other.strip() else ()
    ins = [token for token in trace.query_tokens("decoder_self") if not token.is_special]
    others = [token for token in reversed(ins) if token.id != trace.query_tokens("decoder_self")[at].id]
    return next(iter([*pieces, *others, trace.tokens("tgt")[-1]]))


def _leak_sentence(masked: Leak, unmasked: Leak, *, is_same: bool) -> str:
    at = masked.position
    if is_same:
        return "It is replaced by itself: nothing can move. Type another token."
    if at == 0 and masked.original.shape[1] == 1:
        return "This target has one token only: nothing stands before it."
    if at == 0:
        return "There is nothing before the first token. Replace a later one to see whether earlier positions change."
    before, it, notices = ("the position before it", "it", "moves") if at == 1 else (
        f"the {at} positions before it", "they", "move"
    )  # fmt: skip
    own, most = (float(one.change[-1, :at].max()) for one in (masked, unmasked))
    if not masked.earlier_unchanged:
        return (
            f"<b>As this model is</b>, {before} {notices} by up to {own:.3g} in the last layer: it has no causal mask "
            "of its own, and a token's encoding depends on what is written after it. "
            f"<b>Without any mask</b> {it} {notices} by up to {most:.3g}."
        )
    kept = (
        f"<b>With the causal mask</b> {before} {'is' if at == 1 else 'are'} the same to the last bit, in every layer."
    )
    if most == 0:
        return (
            f"{kept} <b>Without it</b> {it} {'stays' if at == 1 else 'stay'}, too: in this run no token reads another."
        )
    return (
        f"{kept} <b>Without it</b> {it} {notices} by up to {most:.3g} in the last layer: a token's encoding would "
        "depend on later tokens."
    )


def _encodings(cases: list[tuple[str, Leak]], ins, replacement) -> str:
    """Draw the last layer's vector of the first real token, before and after the replacement, both ways."""
    first = next((index for index, token in enumerate(ins) if not token.is_special), 0)
    name, new = display_token(ins[first]), display_token(replacement)
    lines = []
    for title, one in cases:
        old, then = one.original[-1, first], one.replaced[-1, first]
        rest = len(old) - 6
        lines.append(f"<h5>Encoding of {html.escape(name)} (position {first}), last layer, {title}</h5>")
        lines.append(vector("before", old[:6].tolist(), rest=rest))
        lines.append(vector(f"after “{new}” came in", then[:6].tolist(), rest=rest, changed=bool((old != then).any())))
    return "".join(lines)


def rows(bench: MaskExperiment) -> RowsState:
    """Derive the causal mask: the target grows, and the earlier rows of the context stay, or do not."""
    view = layout.state_in_address(RowsState)
    kind = bench.view.kind
    if kind == "cross":
        st.html(
            "<div class='verdict'>This does not apply to cross-attention, where all values come from the source from "
            "the start. Decoder self-attention is shown instead, same layer and head.</div>"
        )
        kind = "decoder_self"
    call = one_head(bench.trace.call(kind, bench.view.layer), bench.view.head, bench.view.item)
    names = token_texts(bench.trace.query_tokens(kind, bench.view.item))
    most = min(MOST_ROWS, len(names))
    count = min(max(view.arrived, 1), most)
    label, arrived = "Tokens that have arrived", [f"{n}: {' '.join(names[:n])}" for n in range(most + 1)]
    select("arrived", label, range(1, most + 1), count, arrived.__getitem__, means=definitions("Masks")[label])
    for title, causal in (("With the causal mask", True), ("Without a mask", False)):
        now = stage(call, count, causal=causal)
        moved = _earlier_rows_moved(call, now, causal=causal)
        st.html(f"<h4 class='room'>{title}</h4>" + _equation(now, names, causal=causal) + moved)
    st.caption(
        f"A′ holds the weights of L{bench.view.layer} H{bench.view.head}, V and O the first {SHOWN_DIMENSIONS} of "
        f"{call.value.shape[-1]} dimensions; a row of O is that row of A′ times V. Masked cells are 0."
    )
    return view


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
    kept = "stays" if moved < 1e-6 else "changes"
    told = f"When v{count} arrives, the earlier rows of O <b>{kept}</b>: max |Δ| = {moved:.3g}."
    return f"<div class='verdict'>{told}</div>"
