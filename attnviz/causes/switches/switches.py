"""Picture of all heads as switches: the effect of each single head, and of all heads that are off."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.analysis.means import reference_means
from attnviz.causes.numbers import findings
from attnviz.causes.numbers.chances import Chances
from attnviz.causes.numbers.effects import HeadEffects, ReferenceEffects, head_effects, usual_effects
from attnviz.causes.numbers.pair import written_under
from attnviz.causes.numbers.switched_off import SwitchedOff, rerun_under
from attnviz.guards.arguments import reads_arguments
from attnviz.kit.browser_view import add_view
from attnviz.kit.fields import PageState, choice, declare_unlinked, flag
from attnviz.kit.payload import common_header, payload_of
from attnviz.kit.subject import Subject, constant_caption
from attnviz.kit.views.interventions import describe_change
from attnviz.kit.views.labels import KINDS
from attnviz.kit.wire import Blobs, Payload
from attnviz.models.protocol import Model
from attnviz.text.difference import Run, display_runs, word_differences
from attnviz.text.display import display_token
from attnviz.text.entries import entry
from attnviz.tracing.causes.making import Put
from attnviz.tracing.causes.switches import Head, every_head, replace_heads, replacements, without_replacements
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Kind

PUTS: dict[Put, str] = {"zero": "Zero", "mean": "Mean", "uniform": "Even", "diagonal": "Diagonal"}
FIXED = (
    "Above the line, the model writes its text again, token by token, with the heads off at every "
    "step. After the first word that differs, the model reads a different text, so later words may "
    "differ for this reason, too.",
    "All probabilities belong to one target: the text of the unchanged model, or the target that you "
    "typed. Both runs read the same tokens, so their steps can be compared.",
    "Parameters, tokens, positions and masks stay the same. Later layers read the changed numbers and "
    "may compensate for them.",
    "Only the outputs of these heads are replaced, before W_o joins the heads. The bias of W_o, the "
    "residual connections and the feed-forward layers stay active.",
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
_NO_ANSWER = (
    "This model has no output over a vocabulary, so there are no probabilities. Look at its maps to see what changes."
)
SIDE, SMALL_SIDE, MANY = 32, 16, 300  # side of a map in cells; smaller if there are more than `MANY` heads
MOST_TEXT = 4_000  # maximum characters of a text


@dataclass(frozen=True, eq=False)
class ShownSwitches:
    """Everything that the Switch off tab draws besides the two runs.

    `worth` is the effect of each single head, `usual` its effect over many sentences. `texts` are the model's texts
    without and with the interventions. `asks` says which tokens the probabilities belong to; `said` and `fixed` are
    remarks; `more` describes the other interventions. `put` replaces the context of a head that is off. `waits` says
    why `worth` is missing, and `measurable` whether the visitor can ask to measure it. `countable` is the number of
    sentences over which the effect can be counted, and `many` the result of that count in sentences.
    """

    worth: HeadEffects | None = None
    usual: ReferenceEffects | None = None
    texts: tuple[str, str] | None = None
    asks: str = ""
    said: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    put: str = "zero"
    waits: str = ""
    measurable: bool = False
    countable: int = 0
    many: tuple[str, ...] = ()
    numbers: Mapping[Kind, tuple[int, ...]] = field(default_factory=dict)


def switches_payload(
    model: Model, runs: SwitchedOff, shown: ShownSwitches, *, done: Sequence[str], view: dict[str, Any]
) -> Payload:
    """Pack the data that the Switch off widget draws. `done` are the heads that are off in `runs.after`."""
    blobs = Blobs()
    kinds = runs.before.kinds
    header = common_header(kinds[0], kinds, blobs) | {
        "groups": [_group(model, runs, shown, kind, blobs) for kind in kinds],
        "done": list(done),
        "texts": _texts(shown.texts),
        "asks": shown.asks,
        "strip": _strip(model, runs.chances),
        "said": list(shown.said),
        "fixed": list(shown.fixed),
        "more": list(shown.more),
        "put": shown.put,
        "waits": shown.waits,
        "measurable": shown.measurable,
        "countable": shown.countable,
        "many": list(shown.many),
        "usual": shown.usual.sentences if shown.usual else 0,
    }
    return payload_of(header, view, blobs)


def _group(model: Model, runs: SwitchedOff, shown: ShownSwitches, kind: Kind, blobs: Blobs) -> dict[str, Any]:
    """Pack one attention kind: each head's single effect, the divergence of its map, and its map."""
    layers, heads = model.shapes[kind]
    many = sum(each * count for each, count in model.shapes.values()) > MANY
    maps = runs.after.thumbnails(kind, side=SMALL_SIDE if many else SIDE).numpy()
    nats, spreads = _worth(shown, kind)
    return {
        "kind": kind,
        "title": KINDS[kind].name.removesuffix("-attention"),
        "tab": KINDS[kind].tab,
        "layers": layers,
        "heads": heads,
        "numbers": list(shown.numbers.get(kind, ())),
        "nats": nats,
        "spreads": spreads,
        "moved": _numbers(runs.moved[kind]),
        "maps": {"offset": blobs.add(np.ascontiguousarray(maps)), "height": maps.shape[2], "width": maps.shape[3]},
    }


def _worth(shown: ShownSwitches, kind: Kind) -> tuple[list[float | None] | None, list[float | None] | None]:
    """Return each head's effect in nats per token, and in units of its usual spread; None if not measured."""
    if shown.worth is None:
        return None, None
    mine = torch.tensor([place[0] == kind for place in shown.worth.places])
    spreads = None if shown.usual is None else _numbers(shown.usual.in_spreads(shown.worth)[mine])
    return _numbers(shown.worth.mean[mine]), spreads


def _numbers(values: Tensor) -> list[float | None]:
    """Return the values as a list for JSON, with None for NaN and infinity."""
    return [float(f"{value:.6g}") if math.isfinite(value) else None for value in values.flatten().tolist()]


def _texts(texts: tuple[str, str] | None) -> list[list[Run]] | None:
    """Split both texts into runs of words, each marked if it differs from the other text."""
    if texts is None:
        return None
    return list(map(display_runs, word_differences(*map(_cut, texts))))


def _cut(text: str) -> str:
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT].rstrip()} …"


def _strip(model: Model, both: tuple[Chances, Chances] | None) -> list[dict[str, Any]]:
    """Pack each token with its probability, its rival and its margin, without and with the interventions."""
    if both is None:
        return []
    tokens = both[0].asked.tokens
    return [
        {
            "text": display_token(token),
            "entry": entry(token),
            "special": token.is_special,
            "chance": [_number(math.exp(float(one.log_probabilities[at]))) for one in both],
            "log": [_number(float(one.log_probabilities[at])) for one in both],
            "margin": [_number(float(one.margins[at])) for one in both],
            "rival": [display_token(model.decode_ids([int(one.rivals[at])])[1][0]) for one in both],
        }
        for at, token in enumerate(tokens)
    ]


def _number(value: float) -> float | None:
    return float(f"{value:.6g}") if math.isfinite(value) else None


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
    plain, texts = runs.before, _written_texts(model, runs, written)
    if plain.logits is None:
        return ShownSwitches(texts=texts)
    try:
        worth = head_effects(model, plain, to=reference_means(model, plain.to) if state.put == "mean" else state.put)
    except ValueError as why:  # no token to compare, or no mean
        return ShownSwitches(texts=texts, waits=str(why))
    usual = usual_effects(model, plain.to) if state.put == "zero" else None
    return ShownSwitches(worth, usual, texts)


def _written_texts(model: Model, runs: SwitchedOff, written: Trace | None) -> tuple[str, str] | None:
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


@reads_arguments
def switches_of(model: Model, trace: Trace) -> Subject:
    """Show every head as a switch, and what the model does without the heads that are off."""
    plain = trace if not trace.interventions else model.rerun(replace(trace, interventions=()))
    shapes = model.shapes
    start = SwitchOffState(off=tuple(map(head_name, replacements(trace.interventions, shapes))))

    def draw(state: SwitchOffState) -> Payload:
        wanted: dict[Head, Put] = {head: state.put for head in every_head(shapes) if head_name(head) in state.off}
        done = trace.interventions if state.off == start.off else replace_heads(trace.interventions, shapes, wanted)
        return switches(model, rerun_under(model, plain, done), state)

    silent = ("measure", "count")
    return Subject(start, draw, constant_caption(trace, model), silent=silent, unanswered=silent, trace=trace)
