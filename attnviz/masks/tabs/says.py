"""The tab "What it would say" of Masks: the text that the model writes with a mask, and its next tokens in two ways.

The text is written step by step, whereas the next tokens come from one pass over the whole target. Each says so,
because a mask between target positions means something different in each.
"""

import html
from dataclasses import dataclass

from attnviz.analysis.rerun import Writing
from attnviz.kit.fields import PageState, whole_number
from attnviz.kit.views.terms import term
from attnviz.masks.figures.tables import RunColumn
from attnviz.masks.masks import MaskBench
from attnviz.masks.numbers.both_ways import BothWays
from attnviz.masks.numbers.effect import Effect, step_that_changed_most
from attnviz.text.display import display, display_token

LABEL = "Next tokens after"
NO_FUTURE = "no future tokens exist yet"
AHEAD = "as in training: position {step} can read what comes after it"
NOT_AHEAD = "as in training: {named}, position {step} reads nothing that comes after it"
NAN_SPREADS = (
    "NaN spreads. A NaN row in one layer becomes a NaN key and a NaN value in the next layer. Even a "
    "mask does not stop this, because 0 × NaN is NaN."
)
NO_WRITER = "This model writes no text. Look at its maps to see what the mask changes."


@dataclass(frozen=True)
class SaysState(PageState):
    """The decoder step whose next tokens are listed; None means the step that changed most."""

    step: int | None = whole_number()


def title(bench: MaskBench) -> str:
    """Return the heading above the results as HTML: "The model, run again with this mask in …"."""
    return f"<h4 class='room'>The model, run again {bench.mask_name} in {html.escape(bench.scope_text)}</h4>"


def refusal(error: str) -> str:
    """Return HTML that says that torch refuses to run the model with the mask."""
    return f"<div class='verdict'>torch refuses: “{html.escape(error)}”. Nothing ran.</div>"


def maps_caption(bench: MaskBench) -> str:
    """Say how the change of the maps was measured."""
    return f"Two passes over the same tokens are compared: one with the unchanged model, and one {bench.mask_name}."


def words_table(bench: MaskBench, before: Writing, after: Writing) -> str:
    """Return HTML with the complete texts that the model writes without and with the mask."""
    what = "translation" if bench.model.languages else "what it writes"
    rows = _row("before", before, bench.view.item) + _row("after", after, bench.view.item)
    head = f"<tr><th></th><th>{what}, <b>{term('written step by step')}</b>: {NO_FUTURE}</th></tr>"
    return f"<table class='words'>{head}{rows}</table>"


def _row(name: str, writing: Writing, item: int) -> str:
    one = writing.so_far(item)
    so_far = "" if writing.done else f"tokens so far: {writing.count}"
    note = writing.error or one.note or so_far
    said = html.escape(display(one.text)) + (f" <small>({html.escape(note)})</small>" if note else "")
    return f"<tr><th>{name}</th><td>{said}</td></tr>"


def shown_step(bench: MaskBench, effect: Effect, chosen: int | None) -> int:
    """Return the decoder step whose next tokens are listed: the chosen one, the pinned row, or the one that
    changed most.
    """
    count = len(bench.trace.query_tokens("decoder_self", bench.view.item))
    # A pinned row is a decoder step, except in the encoder.
    pinned = bench.view.row if bench.view.kind != "encoder_self" else None
    step = pinned if chosen is None else chosen
    return step_that_changed_most(effect, bench.view.item) if step is None or step >= count else step


def run_columns(bench: MaskBench, found: BothWays, step: int) -> list[RunColumn]:
    """Return the columns of the three runs, each with its most probable next tokens."""
    shown = [
        [(display_token(token), chance) for token, chance in candidates]
        for candidates in (found.before, found.step_by_step, found.one_pass)
    ]
    ahead = AHEAD if found.reads_ahead else NOT_AHEAD if found.one_pass else "as in training"
    return [
        RunColumn("unchanged", "with the model's own mask", shown[0]),
        RunColumn("written step by step", NO_FUTURE, shown[1]),
        RunColumn("one pass over the whole target", ahead.format(step=step, named=bench.mask_name), shown[2]),
    ]


def explain_columns(bench: MaskBench, found: BothWays, step: int) -> str:
    """Return HTML that explains in which of the three runs a position sees later tokens, and what that means for
    training.
    """
    if not found.step_by_step or not found.one_pass:
        way = "In one pass" if found.step_by_step else "Step by step" if found.one_pass else "Both ways"
        return (
            f"{way} NaN has reached this position: there is no next token. In one pass a NaN row also reaches "
            "earlier positions, even through the causal mask: its weight there is 0, and 0 × NaN is NaN. Step by step, "
            "only earlier tokens count."
        )
    if not found.reads_ahead:
        near = f"to {found.apart:.1e} of a probability" if found.apart else "to the last bit"
        return (
            f"<b>Both ways agree</b>, {near}: {bench.mask_name} no later token reaches a "
            "position. That is why training can process the whole target in one pass."
        )
    own = (
        "This model has no causal mask and reads ahead without this one too."
        if found.read_before
        else "This model was trained with the mask, so it never learned to use later tokens."
    )
    return (
        "<b>The mask and all tokens up to this position are the same. Only the later tokens "
        f"differ.</b> Step by step, position {step} is the last one, so it has no later tokens to see, "
        "masked or not. In one pass the rest of the target is there, and this position can read it. "
        "Training is such a pass: without the causal mask a model would learn to copy its answers "
        f"from the later tokens, and could not write on its own. {own}"
    )
