"""The lower half of the page Decoding: the largest difference, the first place over its tolerance, and the map
of all differences.
"""

import html
from collections.abc import Sequence

import streamlit as st

from attnviz.app import charts
from attnviz.decoding.decoding import DecodingState
from attnviz.decoding.figures.verdict_map import verdict_map
from attnviz.decoding.numbers.comparison import Decoded
from attnviz.decoding.numbers.verdict import Place
from attnviz.decoding.page.reasons import Equality, Reason, Seen, equality_reason, reasons
from attnviz.kit.glossary import definition
from attnviz.kit.views.interventions import describe_changes
from attnviz.text.display import display_token
from attnviz.text.entries import TokenText, token_texts
from attnviz.text.tokens import Token
from attnviz.tracing.causes.intervention import Intervention

_TERMS = ("what rounding allows", "|Δ|", "breaks first at", "blank", "embedding", "out", "logits")
_WORDS = "".join(f"<dt>{term}</dt><dd>{html.escape(definition(term))}</dd>" for term in _TERMS)


def number(run: Decoded, view: DecodingState, done: Sequence[Intervention] = (), *, note: str = "") -> None:
    """Draw the largest difference between steps and pass as a share of its tolerance, with its place and the reasons.

    `done` are the interventions that were applied to both. `note` is the model's own note on its decoding steps.
    """
    verdict = run.verdict
    state = "holds" if verdict.holds else "broken"
    why = reasons(view, _run_numbers(run)) if view.broken_switches else (equality_reason(_equality(run, note), view),)
    lines = [f"<p class='verdict-line'>{line}</p>" for line in _lines(run)]
    causes = [_reason(reason, is_open=len(why) == 1) for reason in why]
    is_folded = verdict.holds and not view.broken_switches  # the expected outcome needs only one sentence
    seen, folded = ([], [*causes, *lines]) if is_folded else ([*lines, *causes], [])
    st.html(
        f"<div class='verdict {state}' role='status'>"
        f"<p class='verdict-top'><span class='verdict-number' data-verdict='{'equal' if verdict.holds else 'broken'}'>"
        f"{_share(verdict.closest_place.share)}</span> <span class='verdict-head'>{_head(run, view)}</span></p>"
        + "".join([*(f"<p class='verdict-line'>{line}</p>" for line in _changes(done)), *seen])
        + f"<details class='verdict-words'><summary>What rounding allows in {verdict.dtype}"
        f"{', where steps and pass differ most,' if folded else ''} and what the words mean</summary>{''.join(folded)}"
        f"<dl>{_WORDS}</dl></details></div>"
    )


def _head(run: Decoded, view: DecodingState) -> str:
    if not run.verdict.holds:
        return "times what rounding allows: steps and pass " + (
            "are no longer equal" if view.broken_switches else "differ"
        )
    return "of what rounding allows: steps and pass are " + ("still equal" if view.broken_switches else "equal")


def _changes(interventions: Sequence[Intervention]) -> list[str]:
    said = html.escape(describe_changes(interventions))
    return [f"these changes apply to steps and pass alike: <b>{said}</b>"] if said else []


def _lines(run: Decoded) -> list[str]:
    """Return sentences on where steps and pass differ first or most, and in how many steps the most probable token
    differs.
    """
    verdict, lines = run.verdict, []
    first, closest, largest = verdict.first_break, verdict.closest_place, verdict.largest_place
    if first is not None:
        lines.append(f"breaks first at <b>{_place(first, run)}</b>: {_share_of_allowed(first)}")
    elif _differs(run):
        lines.append(f"nearest to the limit: {_place(closest, run)}: {_share_of_allowed(closest)}")
        if closest != largest:
            lines.append(f"largest |Δ|: {_place(largest, run)}: {_share_of_allowed(largest)}")
    steps = len(run.made.chosen)
    if run.turned:
        lines.append(f"a different token is most likely in {run.turned} of {steps} steps")
    elif not verdict.holds:
        lines.append(f"the most likely token is the same in all {steps} steps")
    return lines


def _run_numbers(run: Decoded) -> Seen:
    coarse = None if run.coarse is None else run.coarse.closest_place.share
    return Seen(run.losses.mean, run.intact_loss, len(run.made.chosen), coarse)


def _equality(run: Decoded, note: str) -> Equality:
    lines = run.verdict.lines
    equal = sum(int((line.delta == 0).sum()) for line in lines)
    return Equality(equal, sum(len(line.delta) for line in lines), run.verdict.holds, run.made.recomputes, note)


def _differs(run: Decoded) -> bool:
    return run.verdict.largest_place.delta > 0


def _reason(reason: Reason, *, is_open: bool) -> str:
    """Return a reason as HTML. Its details are closed if several switches are on, so that all reasons stay visible."""
    why, more = html.escape(reason.why), html.escape(reason.more)
    if not more or is_open:
        return f"<p class='verdict-why'>{why} {more}</p>"
    return f"<details class='verdict-why'><summary>{why}</summary>{more}</details>"


def _share_of_allowed(place: Place) -> str:
    return f"<span class='formula'>|Δ| {_amount(place.delta)}, allowed {_amount(place.allowed)}</span>"


def _amount(delta: float) -> str:
    """Format a difference: small values with an exponent, others as plain numbers."""
    if delta == float("inf"):
        return "∞"
    return f"{delta:.1e}" if 0 < delta < 0.01 else f"{delta:,.0f}" if 100 <= delta < 1e6 else f"{delta:.2g}"


def _share(share: float) -> str:
    """Format a share with two significant digits."""
    if share == 0 or share == float("inf"):
        return "∞" if share else "0"
    if share < 0.01:
        return "&lt; 0.01"
    return f"{float(f'{share:.2g}'):,.0f}" if share >= 10 else f"{share:.2g}"


def picture(run: Decoded) -> None:
    """Draw the map of all differences between the decoding steps and one pass."""
    made = run.made
    labels = {
        "encoder": token_texts(made.src),
        "decoder": [_row_name(*tokens) for tokens in zip(made.fed, made.following, made.chosen, strict=True)],
    }
    table = run.verdict.table()
    is_same = run.verdict.largest_in("encoder") == 0
    note = " · encoder: equal" if is_same and made.src else ""
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="verdict-head"):
        st.html(
            "<p class='verdict-title'><b>Verdict: pass against steps</b> <span>share of what is allowed · "
            f"× over 1 · blank: equal{note}</span></p>",
        )
        charts.take_along("verdict", run.verdict.table)
    shown = table.query("stack == 'decoder'") if is_same else table
    charts.chart(verdict_map(shown, labels, theme=charts.theme()), key="verdict")


def _row_name(given: Token, following: Token, chosen: Token) -> TokenText:
    """Name a step by its input token and the text's next token, as on the page Heads, and the chosen token if
    it differs.
    """
    other = "" if following.id == chosen.id else f" (chose {display_token(chosen)})"
    return TokenText(f"{display_token(given)} → {display_token(following)}{other}", given, following)


def _place(place: Place, run: Decoded) -> str:
    tokens = run.made.src if place.line.stack == "encoder" else run.made.fed
    token = html.escape(display_token(tokens[place.position]))
    return f"{place.line.stack} {place.line.name}, position {place.position} ({token})"
