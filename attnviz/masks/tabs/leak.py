"""The tab "Leak test" of Masks: one target token is replaced, and the outputs at earlier positions change or do not."""

import html
from collections.abc import Sequence
from dataclasses import dataclass

from attnviz.kit.fields import PageState, text, whole_number
from attnviz.masks.figures.tables import vector
from attnviz.masks.masks import MAX_SECOND, MaskBench
from attnviz.masks.numbers.leakage import Leak
from attnviz.text.display import display_token
from attnviz.text.tokens import Token

LABEL = "Replace target token"
NO_DECODER = "This model has no decoder, so it does not write from left to right, and this test does not apply."


@dataclass(frozen=True)
class LeakState(PageState):
    """The position of the target token that is replaced, and the text whose first token replaces it."""

    at: int | None = whole_number()
    instead: str = text(limit=MAX_SECOND)


def replaced_position(ins: Sequence[Token], asked: int | None) -> int:
    """Return the position to replace: the requested one, or the middle one."""
    return asked if asked is not None and asked < len(ins) else max(1, len(ins) // 2) if len(ins) > 1 else 0


def replacement(bench: MaskBench, instead: str, at: int) -> Token:
    """Return the first token of the text; for an empty text, another token of the target."""
    trace = bench.trace
    pieces = bench.model.encode_target(instead, to=trace.to) if instead.strip() else ()
    ins = [token for token in trace.query_tokens("decoder_self") if not token.is_special]
    others = [token for token in reversed(ins) if token.id != trace.query_tokens("decoder_self")[at].id]
    return next(iter([*pieces, *others, trace.tokens("tgt")[-1]]))


def named_cases(masked: Leak, unmasked: Leak) -> list[tuple[str, Leak]]:
    """Return the results of the leak test with the model's own mask and without any mask, each with a title."""
    return [("with the model's own mask", masked), ("without any mask", unmasked)]


def leak_sentence(masked: Leak, unmasked: Leak, *, is_same: bool) -> str:
    """Return HTML that says at which earlier positions the output changes, with the causal mask and without it."""
    at = masked.position
    if is_same:
        return "The token is replaced by itself, so nothing can change. Type another token."
    if at == 0 and masked.original.shape[1] == 1:
        return "This target has only one token, so there is no earlier position."
    if at == 0:
        return (
            "There is no position before the first token. Please replace a later token to see whether "
            "earlier positions change."
        )
    before, it, notices = ("the position before it", "it", "moves") if at == 1 else (
        f"the {at} positions before it", "they", "move"
    )  # fmt: skip
    own, most = (float(one.change[-1, :at].max()) for one in (masked, unmasked))
    if not masked.earlier_unchanged:
        return (
            f"<b>As this model is</b>, {before} {notices} by up to {own:.3g} in the last layer: it has no causal mask "
            "of its own, and a token's encoding depends on what is written after it. "
            f"<b>With no mask</b> {it} {notices} by up to {most:.3g}."
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


def encodings(cases: Sequence[tuple[str, Leak]], ins: Sequence[Token], replacement: Token) -> str:
    """Return HTML with the last layer's vector of the first real token before and after the replacement, for
    each case.
    """
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
