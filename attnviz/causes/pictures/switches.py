"""Picture of all heads as switches: the effect of each single head, and of all heads that are off."""

from dataclasses import dataclass, replace

from attnviz.analysis.means import reference_means
from attnviz.causes.numbers import findings
from attnviz.causes.numbers.effects import head_effects
from attnviz.causes.numbers.pair import written_under
from attnviz.causes.numbers.spreads import usual_effects
from attnviz.causes.numbers.switched_off import SwitchedOff
from attnviz.causes.switches.switches import ShownSwitches, switches_payload
from attnviz.kit.browser_view import add_view
from attnviz.kit.fields import PageState, choice, declare_unlinked, flag
from attnviz.kit.views.interventions import describe_change
from attnviz.kit.wire import Payload
from attnviz.models.protocol import Model
from attnviz.tracing.causes.making import Put
from attnviz.tracing.causes.switches import Head, replacements, without_replacements
from attnviz.tracing.trace import Trace

PUTS: dict[Put, str] = {"zero": "Zero", "mean": "Mean", "uniform": "Even", "diagonal": "Diagonal"}
FIXED = (
    "Above the line the model writes anew, token by token, with the heads off at every step. After the first word that "
    "differs it reads a different text, so later words may differ for that reason too.",
    "The probabilities are for one target: the unchanged model's text (or yours). Both runs read the same tokens, so "
    "steps can be compared.",
    "Weights, tokens, positions and masks stay the same. Later layers read the changed numbers and may compensate.",
    "Only the heads are off, before W_o joins them. The bias of W_o, residuals and feed-forward layers stay.",
    "A head may be necessary without being sufficient, and one sentence proves little: if a word becomes less likely "
    "without a head, other parts may still have made the word. Count on many sentences, or measure each head on the "
    "tab Many sentences.",
)
ASKS = {
    "target": "of the target",
    "text": "of the text, each given those before it",
    "masked": "of the best answer at each masked place",
    "own": "of each token at its own place, which the encoder sees. Put [MASK] into the sentence for a real guess",
}
_NO_ANSWER = "This model has no output over a vocabulary, so there are no probabilities. See its maps for what changes."


@dataclass(frozen=True)
class SwitchOffState(PageState):
    """State of the tab Switch off.

    `put` is what replaces a head's context, and `shade` the unit of the shading. `measure` and `count` are True once
    the visitor asked to measure each head, and to count over many sentences. `off` are the heads that are off, as
    reported by the browser; links store them as the run's interventions.
    """

    put: Put = choice("zero", PUTS)
    shade: str = choice("usual", {"usual": "spreads", "nats": "nats"})
    measure: bool = flag()
    count: bool = flag()
    off: tuple[str, ...] = declare_unlinked((), [str])


_START = SwitchOffState()


def switches(
    model: Model,
    runs: SwitchedOff,
    state: SwitchOffState = _START,
    *,
    written: Trace | None = None,
    known: ShownSwitches | None = None,
) -> Payload:
    """Return the picture of all heads as switches, and the effects in `runs.after` of those that are off.

    `written` is a run under the same interventions that wrote its own target; None if the target was given. `known`
    holds what was measured and counted before; without it, the effect of each head is measured here.
    """
    known = known or _measure(model, runs, state, written)
    done = runs.after.interventions
    off = tuple(head_name(head) for head in replacements(done, model.shapes))
    shown = replace(
        known,
        asks=_NO_ANSWER if runs.chances is None else ASKS[runs.chances[0].asked.what],
        said=(*_findings(runs, known), *_parting_finding(runs, written)),
        fixed=FIXED,
        more=tuple(map(describe_change, without_replacements(done, model.shapes))),
        put=state.put,
        numbers=runs.before.numbers,
    )
    return add_view(switches_payload(model, runs, shown, done=off, view={}), replace(state, off=off))


def head_name(head: Head) -> str:
    """Return a head's name as used in the browser, such as `cross.1.3`."""
    return ".".join(map(str, head))


def _measure(model: Model, runs: SwitchedOff, state: SwitchOffState, written: Trace | None) -> ShownSwitches:
    """Measure the effect of each head on the sentence, or say why that is impossible."""
    plain, texts = runs.before, _texts(model, runs, written)
    if plain.logits is None:
        return ShownSwitches(texts=texts)
    try:
        worth = head_effects(model, plain, to=reference_means(model, plain.to) if state.put == "mean" else state.put)
    except ValueError as why:  # no token to compare, or no mean
        return ShownSwitches(texts=texts, waits=str(why))
    usual = usual_effects(model, plain.to) if state.put == "zero" else None
    return ShownSwitches(worth, usual, texts)


def _texts(model: Model, runs: SwitchedOff, written: Trace | None) -> tuple[str, str] | None:
    """Return the texts that the model writes without and with the interventions; None if it writes no text."""
    if not model.writes:
        return None
    if written is not None:
        return runs.before.tgt_text, written.tgt_text
    unchanged = written_under(model, runs.before)
    return unchanged, written_under(model, runs.after) if runs.after.interventions else unchanged


def _findings(runs: SwitchedOff, known: ShownSwitches) -> tuple[str, ...]:
    if runs.after is not runs.before and runs.chances is not None:
        return findings.run_findings(*runs.chances)
    return findings.effect_findings(known.worth, known.usual) if known.worth is not None else ()


def _parting_finding(runs: SwitchedOff, written: Trace | None) -> tuple[str, ...]:
    """Name the first token at which the two written texts differ."""
    if runs.chances is None or runs.after is runs.before or written is None:
        return ()
    return findings.text_findings(*runs.chances, (runs.before.sentences[0].tgt, written.sentences[0].tgt))
